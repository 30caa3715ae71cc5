import Foundation
import Testing

@testable import AnnalsCommand

/// What an import adds to a schema: anything to a new or empty store, and to one with entities only
/// what it is told to.
@Suite struct ImportGrowthTests {
  /// A store with one book, whose `weight` is a double.
  private func books() throws -> CommandFolder {
    let folder = try CommandFolder()
    folder.run("put", "@b.annals", "Book/1", "title=Fog", "copies:=3", "weight:=1.5")
    return folder
  }

  private func imports(
    _ changes: String, into folder: CommandFolder, _ options: String...
  ) throws -> CommandRun {
    try folder.write(#"{"changes":[\#(changes)]}"# + "\n", to: "c")
    return folder.run(["import", "@b.annals", "@c"] + options)
  }

  private static let entity = #"{"op":"insert","entity":"Bok","id":"1","set":{"copies":"300"}}"#
  private static let property =
    #"{"op":"update","entity":"Book","id":"1","set":{"copies":4,"titel":"x"}}"#
  private static let type =
    #"{"op":"update","entity":"Book","id":"1","set":{"copies":"three hundred"}}"#

  @Test(arguments: [
    (entity, "there is no entity Bok; did you mean Book? To add it: --new."),
    (property, "Book has no property titel; did you mean title? To add it: --new."),
    (
      type,
      "Book.copies is of type int64, and `three hundred` is of type string. To make it an "
        + "attribute of any type, which programs that know it as int64 cannot read: --widen."
    ),
    (
      #"{"op":"update","entity":"Book","id":"1","set":{"pages":5}}"#,
      "Book has no property pages. To add it: --new."
    ),
    (
      #"{"op":"update","entity":"Book","id":"1","set":{"titel":null}}"#,
      "Book has no property titel; did you mean title? To add it: --new."
    ),
  ])
  func aStoreWithEntitiesIsNotChangedUnasked(change: String, reason: String) throws {
    let folder = try books()
    let before = folder.schema("@b.annals")
    let run = try imports(change, into: folder)
    #expect(run.status == .foundProblems)
    #expect(run.errors == "annals: @c:1: \(reason) Nothing was imported.\n")
    #expect(folder.schema("@b.annals") == before)
  }

  @Test func whatIsAskedForIsAddedAndSaid() throws {
    let folder = try books()
    let added = try imports(
      "\(ImportGrowthTests.entity),\(ImportGrowthTests.property)", into: folder, "--new")
    #expect(added.status == .done, "\(added)")
    #expect(
      added.errors == """
        annals: added the attribute Book.titel (string); there is Book.title as well
        annals: added the entity Bok

        """)
    let refused = try imports(ImportGrowthTests.type, into: folder, "--new")
    #expect(refused.status == .foundProblems)
    let widened = try imports(ImportGrowthTests.type, into: folder, "--widen")
    #expect(widened.errors == "annals: Book.copies is of type any now; it was int64\n")
  }

  @Test func aWholeNumberIsADoubleWhereDoublesAre() throws {
    let folder = try books()
    let run = try imports(
      #"{"op":"update","entity":"Book","id":"1","set":{"weight":2}}"#, into: folder)
    #expect(run.status == .done && run.errors == "")
    #expect(folder.run("state", "@b.annals").output.contains(#""weight":2.0"#))
  }

  @Test func anEmptyStoreTakesAnything() throws {
    let folder = try CommandFolder()
    try folder.write("", to: "c")
    #expect(folder.run("import", "@b.annals", "@c").status == .done)
    let run = try imports(ImportGrowthTests.entity, into: folder)
    #expect(run.status == .done && run.errors == "", "\(run)")
    #expect(try imports(ImportGrowthTests.entity, into: folder, "--git", "x").status == .usage)
  }

  @Test func aDateInTheFutureIsSaid() throws {
    let folder = try books()
    try folder.write(
      #"{"timestamp":"2200-01-01T00:00:00Z","changes":[]}"# + "\n"
        + #"{"timestamp":"2019-10-01T00:00:00Z","changes":[]}"# + "\n", to: "c")
    let past = folder.run("import", "@b.annals", "@c")
    let note =
      "annals: note: the latest line is dated 2200-01-01 01:00:00 +0100, in the future: until then "
      + "its date does not count\n"
    #expect(past.errors == note)
    try folder.write(#"{"timestamp":"2200-01-01T00:00:00Z","changes":[]}"# + "\n", to: "c")
    let future = folder.run("import", "@b.annals", "@c")
    #expect(future.errors == note)
  }
}
