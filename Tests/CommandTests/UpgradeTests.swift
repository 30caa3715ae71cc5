import Annals
import AnnalsFormat
import Foundation
import Testing

@testable import AnnalsCommand
@testable import AnnalsUpgrade

/// Files of drafts 2 and 3 (Fixtures/drafts) become files of version 1, with the same states.
@Suite struct UpgradeTests {
  private static let folder = FixtureRecipe.folder.deletingLastPathComponent()
    .appending(path: "drafts")
  /// The names of the files; more where ANNALS_DRAFTS names a folder of others.
  private static let names = files(in: folder)
  private static let others = ProcessInfo.processInfo.environment["ANNALS_DRAFTS"].map {
    files(in: URL(fileURLWithPath: $0))
  }

  private static func files(in folder: URL) -> [URL] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix(".annals") }.sorted().map { folder.appending(path: $0) }
  }

  @Test func thereAreSome() { #expect(UpgradeTests.names.count >= 12) }

  @Test(arguments: names + (others ?? [])) func aDraftHasTheSameStates(file: URL) throws {
    let folder = try CommandFolder()
    let path = folder.file("f.annals")
    try FileManager.default.copyItem(atPath: file.path, toPath: path)
    let refused = folder.run("state", "@f.annals")
    #expect(refused.status == .couldNotRun && refused.errors.contains("annals upgrade"))
    let report = try Store.upgrade(path)
    #expect(report.draft == Int(try Data(contentsOf: file)[12]))
    let store = try Store(path: path, options: .readOnly)
    let book = file.deletingPathExtension().appendingPathExtension("state.jsonl")
    #expect(try StateBook.of(store) == String(contentsOf: book, encoding: .utf8))
    #expect(try store.verify().allSatisfy { $0.severity == .note })
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["f.annals"])
    #expect(folder.run("put", "@f.annals", "Note/new", "text=new", "--new").status == .done)
  }

  @Test func whatStandsBesideTheHistoryStays() throws {
    let folder = try CommandFolder()
    func upgraded(_ name: String) throws -> String {
      let from = UpgradeTests.folder.appending(path: name).path
      try FileManager.default.copyItem(atPath: from, toPath: folder.file(name))
      _ = try Store.upgrade(folder.file(name))
      return "@\(name)"
    }
    for draft in [2, 3] {
      let consumers = folder.run("consumers", try upgraded("draft-\(draft)-consumers.annals"))
      #expect(consumers.output.contains("Suche für Ä"), "\(consumers)")
      let retention = folder.run("retain", try upgraded("draft-\(draft)-retention.annals"))
      #expect(!retention.output.contains("all history"), "\(retention)")
      let pruned = folder.run("dump", try upgraded("draft-\(draft)-tombstones.annals"))
      #expect(pruned.output.contains("tombstones          5, all after 2"), "\(pruned)")
    }
  }

  /// Of a base in draft 2: the count of clock jumps and the migrations had other tags, and the
  /// saved projections of the generation before are left out. Other items stay.
  @Test func theItemsOfADirectoryHaveOtherTags() throws {
    var directory = CheckpointDirectory(number: 9)
    directory.isBase = true
    let fill: ContiguousArray<UInt8> = [4, 4, 0x66, 0x69, 0x6C, 0x6C]
    let items: [(UInt64, ContiguousArray<UInt8>)] = [(1, [5]), (3, [0xFF]), (7, fill), (31, [8])]
    for (tag, bytes) in items { ExtensionArea.append(tag, bytes, to: &directory.extensions) }
    let stored = directory.encode()
    let draft2 = try stored.withUnsafeBytes { try DraftPayloads.directory($0, draft: 2) }
    #expect(draft2.clockJumps == 5)
    #expect(draft2.migrations.map(\.name) == ["fill"] && draft2.migrations.map(\.number) == [4])
    #expect(ExtensionArea.items(of: draft2.extensions).map(\.tag) == [31])
    let draft3 = try stored.withUnsafeBytes { try DraftPayloads.directory($0, draft: 3) }
    #expect(draft3.clockJumps == 0 && draft3.extensions == directory.extensions)
  }

  /// What is not damaged is not salvaged into a file without identity.
  @Test func aDraftIsNotSalvaged() throws {
    let folder = try CommandFolder()
    let from = UpgradeTests.folder.appending(path: "draft-3-pruned.annals").path
    try FileManager.default.copyItem(atPath: from, toPath: folder.file("f"))
    let run = folder.run("salvage", "@f", "@new")
    #expect(run.status == .couldNotRun && run.errors.contains("annals upgrade"), "\(run)")
  }

  /// A draft is another version, not a damaged file: verifying one says so and nothing else.
  @Test func verifyingADraftFindsNoDamage() throws {
    let folder = try CommandFolder()
    let from = UpgradeTests.folder.appending(path: "draft-2-undo.annals").path
    let run = folder.run("verify", from)
    #expect(run.output.contains("written in draft 2") && run.output.contains("annals upgrade"))
    #expect(run.output.contains("1 error, 0 warnings"), "\(run)")
  }

  @Test func aFileOfVersion1Stays() throws {
    let folder = try CommandFolder()
    let bytes = try Data(contentsOf: FixtureRecipe.named("pruned").file(".annals"))
    try bytes.write(to: URL(fileURLWithPath: folder.file("f")))
    let run = folder.run("upgrade", "@f")
    #expect(run.status == .done && run.output.contains("nothing to upgrade"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("f"))) == bytes)
  }

  /// Whatever bit is flipped, the result has the right states, or nothing is changed.
  @Test func aDamagedDraftStays() throws {
    let file = UpgradeTests.folder.appending(path: "draft-2-large-values.annals")
    let book = try String(
      contentsOf: file.deletingPathExtension().appendingPathExtension("state.jsonl"),
      encoding: .utf8)
    let whole = try Data(contentsOf: file)
    let folder = try CommandFolder()
    let path = folder.file("f.annals")
    var refused = 0
    for place in stride(from: 0, to: whole.count, by: 211) {
      var bytes = whole
      bytes[place] ^= 1 << UInt8(place % 8)
      try bytes.write(to: URL(fileURLWithPath: path))
      do {
        _ = try Store.upgrade(path)
        let store = try Store(path: path, options: .readOnly)
        #expect(try StateBook.of(store) == book, "byte \(place)")
      } catch let error as AnnalsError {
        refused += 1
        #expect(
          try Data(contentsOf: URL(fileURLWithPath: path)) == bytes, "byte \(place): \(error)")
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["f.annals"])
    }
    #expect(refused > 20)
    try tryEveryPlace(in: "draft-2-undo", every: 5, from: Int(FormatLimits.logStart))
    for length in stride(from: 0, to: whole.count - 1, by: 997) {
      try whole.prefix(length).write(to: URL(fileURLWithPath: path))
      #expect(throws: AnnalsError.self) { try Store.upgrade(path) }
    }
  }

  /// Flips bits of a file's log: what is upgraded says the same of all of its history, which no
  /// verification could tell without the checksums.
  private func tryEveryPlace(in name: String, every step: Int, from start: Int) throws {
    let whole = try Data(contentsOf: UpgradeTests.folder.appending(path: "\(name).annals"))
    let folder = try CommandFolder()
    func history(_ bytes: Data) throws -> String? {
      try bytes.write(to: URL(fileURLWithPath: folder.file("f")))
      guard folder.run("upgrade", "@f").status == .done else { return nil }
      return folder.run("log", "@f", "--format", "jsonl").output
    }
    let right = try #require(try history(whole))
    for place in stride(from: start, to: whole.count, by: step) {
      var bytes = whole
      bytes[place] ^= 1 << UInt8(place % 8)
      let found = try history(bytes)
      #expect(found == nil || found == right, "byte \(place)")
    }
  }

  @Test func theCommandSaysWhatItDid() throws {
    let folder = try CommandFolder()
    let from = UpgradeTests.folder.appending(path: "draft-2-pruned.annals").path
    try FileManager.default.copyItem(atPath: from, toPath: folder.file("f"))
    let run = folder.run("upgrade", "@f")
    #expect(run.output.hasPrefix("@f: draft 2 became version 1, "), "\(run)")
    #expect(folder.run("upgrade", "@missing").status == .couldNotRun)
    try Data("SQLite format 3".utf8).write(to: URL(fileURLWithPath: folder.file("g")))
    #expect(folder.run("upgrade", "@g").errors.contains("is not an Annals store"))
  }
}
