import Annals
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// What every verb makes of a file from the future: what it cannot read it calls newer, never
/// damaged, and what it would lose it does not write.
@Suite struct LaterFormTests {
  private static let good = Result {
    ContiguousArray(try Data(contentsOf: FixtureRecipe.named(LaterForm.source).file(".annals")))
  }

  /// A folder with the file `f.annals`.
  private func folder(_ form: LaterForm) throws -> (CommandFolder, Data) {
    let folder = try CommandFolder()
    let bytes = Data(try form.bytes(of: LaterFormTests.good.get()))
    try bytes.write(to: URL(fileURLWithPath: folder.file("f.annals")))
    return (folder, bytes)
  }

  /// Verbs that read the newest state.
  private static let readingState = [["state", "@f.annals"], ["query", "@f.annals", "Book"]]
  /// Verbs that need the file to be readable.
  private static let opening = [["get", "@f.annals", "Note/a"], ["schema", "@f.annals"]]
  /// Verbs that write, without writing the file anew.
  private static let writing = [
    ["put", "@f.annals", "Note/a", "text=New"], ["delete", "@f.annals", "Note/d"],
    ["put", "@f.annals", "Note/new", "text=Newer", "count=1"],
  ]
  /// Verbs that write the file anew with all its history.
  private static let rewriting = [
    ["compact", "@f.annals"], ["compact", "@f.annals", "--smallest"],
    ["erase", "@f.annals", "Note/d", "--reason", "asked", "--yes"],
  ]
  private static let pruning = [["prune", "@f.annals", "--before", "10", "--yes"]]
  private static let salvaging = [["salvage", "@f.annals", "@copy.annals"]]
  /// Verbs that read all history.
  private static let readingHistory = [
    ["log", "@f.annals"], ["export", "@f.annals"],
    ["replay", "@f.annals", "@old.annals", "--to", "10"],
  ]

  /// A quarter of the verbs, another one for each form; all of them in the long form.
  private func chosen(_ verbs: [[String]], _ form: LaterForm) -> [[String]] {
    if isLong { return verbs }
    let turn = form.name.utf8.reduce(0) { $0 &+ Int($1) } % 4
    return verbs.indices.filter { $0 % 4 == turn }.map { verbs[$0] }
  }

  /// Runs verbs each of which says that the file is newer, and changes nothing.
  private func expectNewer(_ verbs: [[String]], _ form: LaterForm) throws {
    for verb in chosen(verbs, form) {
      let (folder, bytes) = try folder(form)
      let run = folder.run(verb)
      let text = run.errors + run.output
      #expect(run.status == .couldNotRun, "\(verb): \(run)")
      #expect(text.contains("newer"), "\(verb): \(run)")
      #expect(!text.contains("damaged at") && !text.contains("salvage what"), "\(verb): \(run)")
      #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("f.annals"))) == bytes)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(names == ["f.annals"], "\(verb)")
    }
  }

  /// Runs verbs that do what they do without what is newer.
  private func expectDone(_ verbs: [[String]], _ form: LaterForm) throws {
    for verb in chosen(verbs, form) {
      let (folder, _) = try folder(form)
      let run = folder.run(verb)
      #expect(run.status == .done, "\(verb): \(run)")
    }
  }

  @Test(arguments: LaterForm.all) func everyVerb(form: LaterForm) throws {
    typealias Verbs = LaterFormTests
    let reading = Verbs.readingState + Verbs.opening
    let anew = Verbs.rewriting + Verbs.pruning
    let all = reading + Verbs.readingHistory + Verbs.writing + anew + Verbs.salvaging
    switch form.reach {
    case .ignored: try expectDone(all, form)
    case .writing:
      // A salvage says what it leaves out.
      try expectDone(reading + Verbs.salvaging, form)
      try expectNewer(Verbs.writing + anew, form)
    case .file: try expectNewer(all, form)
    case .past:
      try expectDone(reading + Verbs.writing, form)
      // An erasure is recorded before the history is written anew, and can be called again.
      try expectNewer(Verbs.readingHistory + Verbs.rewriting.prefix(2) + Verbs.salvaging, form)
    case .rewriting:
      try expectDone(reading + Verbs.readingHistory.prefix(2), form)
      try expectNewer(Array(Verbs.rewriting.prefix(2)), form)
    case .state:
      // What writes the state anew from the log does without the chunk.
      try expectDone(Array(Verbs.readingHistory.prefix(2)) + Verbs.salvaging, form)
      try expectNewer(Verbs.readingState + Verbs.rewriting.prefix(1), form)
    }
  }

  /// `verify` names what is newer, and calls nothing damaged; what only describes bytes does not
  /// fail.
  @Test(arguments: LaterForm.all) func verifyAndDump(form: LaterForm) throws {
    let (folder, bytes) = try folder(form)
    let verify = folder.run("verify", "@f.annals")
    #expect(folder.run("dump", "@f.annals").status != .couldNotRun)
    switch form.reach {
    case .ignored: #expect(verify.status == .done, "\(verify)")
    case .writing, .rewriting: #expect(!verify.output.contains("damage"), "\(verify)")
    case .file, .past, .state:
      #expect(verify.status == .foundProblems, "\(verify)")
      #expect(verify.output.contains("newer version"), "\(verify)")
      #expect(!verify.output.contains("damage"), "\(verify)")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("f.annals"))) == bytes)
  }

  /// The table is as long as it says, and each form differs from the good file.
  @Test func everyFormIsAnother() throws {
    let good = try LaterFormTests.good.get()
    let files = try LaterForm.all.map { try $0.bytes(of: good) }
    #expect(!files.contains(good))
    #expect(Set(files).count == files.count && files.count > 130)
    #expect(Set(LaterForm.all.map(\.name)).count == files.count)
  }
}
