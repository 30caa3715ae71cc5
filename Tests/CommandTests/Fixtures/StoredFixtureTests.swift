import Annals
import Foundation
import Testing

@testable import AnnalsCommand

/// The files in Fixtures are what their names say, and opening each gives what Fixtures/README.md
/// says.
@Suite struct StoredFixtureTests {
  /// To make the files of new recipes: set this, then run the test.
  static let isRemaking = ProcessInfo.processInfo.environment["ANNALS_REMAKE_FIXTURES"] != nil

  init() throws { if StoredFixtureTests.isRemaking { try Remaking.once.get() } }

  private enum Remaking {
    /// Makes the files that are missing, and the states beside the good ones. Those that are there
    /// stay for ever.
    static let once = Result {
      for recipe in FixtureRecipe.all {
        let file = recipe.file(".annals")
        guard !FileManager.default.fileExists(atPath: file.path) else { continue }
        let bytes = try recipe.make(CommandFolder())
        try bytes.write(to: file)
        guard recipe.source == recipe.name else { continue }
        let store = try Store(path: file.path, options: .readOnly)
        try Data(StateBook.of(store).utf8).write(to: recipe.file(".state.jsonl"))
      }
      var frozen = try FrozenFixtures()
      try frozen.add()
    }
  }

  /// The recipe still gives these states, whatever bytes it comes to: those of compressed frames
  /// depend on the version of zlib.
  @Test(arguments: FixtureRecipe.good) func theRecipeGivesTheSameStates(
    recipe: FixtureRecipe
  ) throws {
    let folder = try CommandFolder()
    let path = folder.file("again.annals")
    try recipe.make(folder).write(to: URL(fileURLWithPath: path))
    let store = try Store(path: path, options: .readOnly)
    #expect(try StateBook.of(store) == book(of: recipe))
  }

  @Test(arguments: FixtureRecipe.all) func itOpensAsItsNameSays(recipe: FixtureRecipe) throws {
    let path = recipe.file(".annals").path
    switch recipe.outcome {
    case .readOnly:
      let store = try Store(path: path, options: .readOnly)
      #expect(try StateBook.of(store) == book(of: recipe))
      let error = #expect(throws: AnnalsError.self) { try Store(path: path) }
      #expect(error?.code == .newerVersion, "\(error as Any)")
    case .clean, .finding:
      let store = try Store(path: path, options: .readOnly)
      try expectState(store.token.number, of: store, recipe)
      if recipe.outcome == .clean {
        #expect(try store.verifyHistory().allSatisfy { $0.severity == .note })
        #expect(try StateBook.of(store) == book(of: recipe))
      }
      #expect(try isWritable(recipe))
    case .torn(let head):
      let store = try Store(path: path, options: .readOnly)
      #expect(store.token.number == head)
      try expectState(head, of: store, recipe)
      #expect(try isWritable(recipe))
    case .unreadable(let code):
      let store = try Store(path: path, options: .readOnly)
      let error = #expect(throws: AnnalsError.self) {
        try StateBook.state(store.token.number, of: store)
      }
      #expect(error?.code == code && error?.offset != nil, "\(error as Any)")
    case .inside(let code, let head):
      try expectRefusal(recipe, code)
      var options = StoreOptions.readOnly
      options.readsUpToDamage = true
      let store = try Store(path: path, options: options)
      #expect(store.token.number == head)
      for number in 0...head { try expectState(number, of: store, recipe) }
    case .refused(let code):
      try expectRefusal(recipe, code)
      var options = StoreOptions.readOnly
      options.readsUpToDamage = true
      #expect(throws: AnnalsError.self) { try Store(path: path, options: options) }
    }
  }

  /// The command says the same, in its words and its exit.
  @Test(arguments: FixtureRecipe.all) func theCommandSaysSo(recipe: FixtureRecipe) throws {
    let folder = try CommandFolder()
    // The name of the fixture shall not be what the message is found by.
    try FileManager.default.copyItem(atPath: recipe.file(".annals").path, toPath: folder.file("f"))
    let verify = folder.run("verify", "@f")
    let state = folder.run("state", "@f")
    #expect(folder.run("dump", "@f").status != .couldNotRun || recipe.isNoStore)
    switch recipe.outcome {
    case .clean, .readOnly:
      #expect(verify.status == .done && verify.output.contains("no problems: "))
      #expect(state.status == .done)
    case .finding(let text):
      #expect(verify.status == .foundProblems && verify.output.contains(text), "\(verify)")
      #expect(state.status == .done)
    case .torn:
      #expect(verify.status == .foundProblems && verify.output.contains("warning at"), "\(verify)")
      #expect(state.status == .done)
    case .unreadable, .inside, .refused(.damaged):
      let text = recipe.name == "damaged-chunk" ? "warning at" : "error at"
      #expect(verify.status == .foundProblems && verify.output.contains(text), "\(verify)")
      #expect(state.status == .couldNotRun, "\(state)")
      #expect(!state.errors.contains("is not an Annals store"), "\(state)")
      #expect(state.errors.contains("annals verify") || state.errors.contains("damage"))
    case .refused(.newerVersion):
      #expect(verify.output.contains("newer version"), "\(verify)")
      #expect(!verify.output.contains("damage"), "\(verify)")
      #expect(state.status == .couldNotRun && state.errors.contains("newer"), "\(state)")
    case .refused(.unsupported):
      let advice = "`annals upgrade` rewrites it as version 1"
      #expect(verify.status == .foundProblems && verify.output.contains(advice), "\(verify)")
      #expect(state.status == .couldNotRun && state.errors.contains("draft 3"), "\(state)")
      #expect(state.errors.contains("annals upgrade"), "\(state)")
    case .refused:
      #expect(verify.status != .done && state.status == .couldNotRun, "\(verify) \(state)")
      #expect(state.errors.contains("is not an Annals store"), "\(state)")
    }
  }

  /// Nothing that only reads changes a byte, or leaves a file behind.
  @Test(arguments: FixtureRecipe.all) func readingChangesNothing(recipe: FixtureRecipe) throws {
    let folder = try CommandFolder()
    let bytes = try Data(contentsOf: recipe.file(".annals"))
    try bytes.write(to: URL(fileURLWithPath: folder.file("f.annals")))
    for command in ["verify", "state", "dump", "log", "stat", "schema"] {
      _ = folder.run(command, "@f.annals")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("f.annals"))) == bytes)
    // Neither does opening for writing what cannot be written to.
    if case .inside = recipe.outcome { try expectRefusalToWrite(folder, bytes) }
    if recipe.outcome == .readOnly { try expectRefusalToWrite(folder, bytes) }
    // An empty file is no store to read, and becomes one when something is written.
    if case .refused = recipe.outcome, !bytes.isEmpty { try expectRefusalToWrite(folder, bytes) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["f.annals"])
  }

  /// Every file in Fixtures is made by a recipe, has its dump beside it and its line in the README;
  /// all are small.
  @Test func everyFixtureIsAccountedFor() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: FixtureRecipe.folder.path)
    let stores = names.filter { $0.hasSuffix(".annals") }.map { String($0.dropLast(7)) }
    let made = FixtureRecipe.all.map(\.name) + ["worked-example"]
    #expect(Set(stores) == Set(made))
    let readme = FixtureRecipe.folder.deletingLastPathComponent().appending(path: "README.md")
    let text = try String(contentsOf: readme, encoding: .utf8)
    var size = 0
    for name in stores {
      let hasDump = names.contains("\(name).dump.txt")
      #expect(hasDump, "\(name).annals has no dump beside it")
      let isListed = text.contains("| `\(name)` |")
      #expect(isListed, "\(name).annals is not in Fixtures/README.md")
      let path = FixtureRecipe.folder.appending(path: "\(name).annals").path
      let bytes = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
      #expect(try #require(bytes) < 100 << 10)
      size += bytes ?? 0
    }
    #expect(size < 2 << 20)
  }

  private func book(of recipe: FixtureRecipe) throws -> String {
    let good = try FixtureRecipe.named(recipe.source)
    return try String(contentsOf: good.file(".state.jsonl"), encoding: .utf8)
  }

  private func expectState(_ number: Int64, of store: Store, _ recipe: FixtureRecipe) throws {
    let page = StateBook.page(number, try StateBook.state(number, of: store))
    let expected = StateBook.page(number, in: try book(of: recipe))
    #expect(page == expected && !expected.isEmpty, "\(recipe.name) at \(number)")
  }

  private func expectRefusal(_ recipe: FixtureRecipe, _ code: AnnalsError.Code) throws {
    let error = #expect(throws: AnnalsError.self) {
      try Store(path: recipe.file(".annals").path, options: .readOnly)
    }
    #expect(error?.code == code, "\(recipe.name): \(error as Any)")
  }

  /// Whether a copy takes a transaction and is sound afterwards, or has only what was damaged
  /// before.
  private func isWritable(_ recipe: FixtureRecipe) throws -> Bool {
    let folder = try CommandFolder()
    let path = folder.file("f.annals")
    try Data(contentsOf: recipe.file(".annals")).write(to: URL(fileURLWithPath: path))
    let before = try Store(path: path, options: .readOnly).token.number
    let put = folder.run("put", "@f.annals", "Note/new", "text=new", "--new")
    let verify = folder.run("verify", "@f.annals")
    let after = try Store(path: path, options: .readOnly).token.number
    let isSound = !verify.output.contains("error at") || recipe.outcome == .finding("error at")
    return put.status == .done && isSound && after > before
  }

  private func expectRefusalToWrite(_ folder: CommandFolder, _ bytes: Data) throws {
    let put = folder.run("put", "@f.annals", "Note/new", "text=new", "--new")
    #expect(put.status == .couldNotRun, "\(put)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("f.annals"))) == bytes)
  }
}

extension FixtureRecipe {
  /// Whether the file is no store at all.
  fileprivate var isNoStore: Bool { outcome == .refused(.notAnAnnalsFile) }
}
