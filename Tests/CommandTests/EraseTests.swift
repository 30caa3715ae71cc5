import Annals
import AnnalsEngine
import AnnalsFormat
import AnnalsModel
import Foundation
import Testing

@testable import AnnalsCommand

/// `annals erase`, and what other commands print of what is erased.
@Suite struct EraseTests {
  @Test func itAsksErasesAndSaysSo() throws {
    let folder = try CommandTests.posts()
    let before = try Data(contentsOf: URL(fileURLWithPath: folder.file("posts.annals")))
    let refused = folder.run("erase", "@posts.annals", "Post/a", "--reason", "asked")
    #expect(refused.status == .couldNotRun && refused.errors.contains("Say --yes"))
    #expect(refused.output.hasPrefix("deletes Post#1 and erases every value that it had, in "))
    let plan = folder.run("erase", "@posts.annals", "Post/a", "--reason", "asked", "--dry-run")
    #expect(plan.status == .done && plan.output == refused.output)
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("posts.annals"))) == before)
    #expect(folder.run("erase", "@posts.annals", "Post/a").status == .usage)
    #expect(folder.run("erase", "@posts.annals", "Post/z", "--reason", "r").status == .couldNotRun)
    let done = folder.run(
      "erase", "@posts.annals", "Post/a", "--reason", "asked", "--yes", "--author", "Cy")
    #expect(done.status == .done && done.output.contains("erased in transaction 5; "), "\(done)")
    let log = folder.run("log", "@posts.annals")
    #expect(log.output.contains("    erased Post#1\n    because: asked\n"), "\(log)")
    #expect(!log.output.contains("Fog"))
    let line = folder.run("log", "@posts.annals", "--format", "jsonl").output
    #expect(
      line.contains(#""erased":{"reason":"asked","objects":[{"entity":"Post","row":1}]}"#),
      "\(line)")
    #expect(line.contains(#"{"$erased":true}"#))
    #expect(folder.run("verify", "@posts.annals").status == .done)
    #expect(folder.run("revert", "@posts.annals", "5", "--yes").status == .couldNotRun)
  }

  /// Who was killed between the two halves of an erasure is told, and what to type.
  @Test func whatWasNotCarriedOutIsTold() throws {
    let folder = try CommandTests.posts()
    let store = try Store(path: folder.file("posts.annals"))
    let found = try store.snapshot().object(of: "Post", where: "id", is: "a")
    let post = try #require(found?.objectID)
    let title = try #require(store.schema.entity(named: "Post")?.propertyNumber(named: "title"))
    let reference = ObjectReference(post)
    for properties in [[title], []] as [[PropertyNumber]] {
      var origin = TransactionOrigin(author: "ann")
      origin.isAlwaysRecorded = true
      origin.note(
        Erasure([Erasure.Target(reference, properties: properties)], reason: "it's asked"))
      _ = try store.commitTransaction(origin) { if properties.isEmpty { try $0.delete(post) } }
    }
    try store.close()
    let beginning =
      "says what is erased, and transaction 1 still has values of it; erase it again: "
    let commands = [
      "annals erase @posts.annals 'Post#1' --property title --reason 'it'\\''s asked'",
      "annals erase @posts.annals 'Post#1' --reason 'it'\\''s asked'",
    ]
    let stat = folder.run("stat", "@posts.annals")
    let told = stat.output.split(separator: "\n").filter { $0.hasPrefix("not erased") }
    #expect(told.count == 2 && stat.status == .done, "\(stat)")
    for (line, command) in zip(told, commands) {
      #expect(line.hasSuffix(beginning + command), "\(line)")
    }
    let plan = folder.run("erase", "@posts.annals", "Post/b", "--reason", "r", "--dry-run")
    #expect(plan.errors.contains(beginning + commands[1]), "\(plan)")
    let verified = folder.run("verify", "@posts.annals")
    #expect(verified.status == .foundProblems, "\(verified)")
    #expect(verified.output.contains("\n0 errors, 2 warnings; "), "\(verified)")
    for command in commands {
      let remedy = "the erasure was not carried out. Erase it again (\(command))\n"
      #expect(verified.output.contains(remedy), "\(verified)")
    }
    let done = folder.run("erase", "@posts.annals", "Post#1", "--reason", "it's asked", "--yes")
    #expect(done.status == .done && done.errors.contains(commands[0]), "\(done)")
    let after = folder.run("erase", "@posts.annals", "Post/b", "--reason", "r", "--dry-run")
    #expect(after.status == .done && after.errors == "", "\(after)")
    #expect(!folder.run("stat", "@posts.annals").output.contains("not erased"))
    #expect(folder.run("verify", "@posts.annals").status == .done)
  }

  @Test func aPropertyIsShownAsErased() throws {
    let folder = try CommandTests.posts()
    let run = folder.run(
      "erase", "@posts.annals", "Post/a", "--property", "title", "--reason", "r", "--yes")
    #expect(run.status == .done && run.output.hasPrefix("erases title of Post#1, now and in "))
    for arguments in [
      ["get", "@posts.annals", "Post/a"], ["show", "@posts.annals", "Post/a"],
      ["blame", "@posts.annals", "Post/a"], ["state", "@posts.annals", "--format", "table"],
    ] {
      let shown = folder.run(arguments)
      #expect(
        shown.status == .done && shown.output.contains("(erased)")
          || shown.output.contains("$erased"),
        "\(arguments): \(shown)")
    }
    #expect(folder.run("put", "@posts.annals", "Post/a", "title=New").status == .done)
    let state = folder.run("state", "@posts.annals").output
    #expect(state.contains("New") && !state.contains("$erased"))
  }

  /// The name of an object whose title was erased was `(erased)`.
  @Test func aLifeIsNamedByItsKeyIfItsLabelIsErased() throws {
    let folder = try CommandFolder()
    let store = try Store(
      path: folder.file("a.annals"),
      schema: Schema {
        Entity("Post", displayName: "title") {
          Attribute("slug", .string, isUnique: true)
          Attribute("title", .string)
        }
      }, environment: folder.store)
    let fog = try store.write { try $0.insert("Post", ["slug": "fog", "title": "Fog"]) }
    try store.write { try $0.update(fog, ["title": "Mist"]) }
    try store.close()
    #expect(folder.run("timeline", "@a.annals", "--lifetimes").output.contains("Mist"))
    folder.run("erase", "@a.annals", "Post/fog", "--property", "title", "--reason", "r", "--yes")
    let lives = folder.run("timeline", "@a.annals", "--lifetimes").output
    #expect(lives.contains("fog") && !lives.contains("(erased)"), "\(lives)")
  }

  /// It said FILE where the other commands name the file.
  @Test func aDamagedFileIsNamed() throws {
    let folder = try CommandTests.posts()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("posts.annals")))
    bytes[Int(FormatLimits.logStart) + 40] ^= 1
    try bytes.write(to: URL(fileURLWithPath: folder.file("posts.annals")))
    let run = folder.run("erase", "@posts.annals", "Post/a", "--reason", "r", "--yes")
    #expect(run.errors.contains("annals verify @posts.annals shows"), "\(run)")
  }
}
