import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import SystemPackage
import Testing

@testable import AnnalsExchange

/// Import and export, as programs call them.
@Suite struct ExchangeTests {
  /// Folders, notes in them, a large value, a delete, a new attribute and a change of schema.
  private func filled(_ location: StoreLocation = memoryFile()) throws -> Store {
    let store = try noteStore(location)
    var random = SeededRandom(seed: 3)
    let letters = (0..<9_000).map { _ in UInt8.random(in: 65...90, using: &random) }
    let long = String(decoding: letters, as: UTF8.self)
    try store.write(author: "ann", context: "first") { tx in
      let folder = try tx.insert("Folder", ["name": "Täglich \"x\"\n"])
      let note = try tx.insert(
        "Note",
        ["id": "a", "text": .string(long), "folder": .object(ObjectReference(folder))])
      try tx.update(folder, ["notes": .objects([ObjectReference(note)])])
    }
    for number in 0..<30 { try store.note("n\(number)", text: "text \(number)", author: "bob") }
    try store.write(author: "ann") { tx in
      guard let note = try tx.object(of: "Note", where: "id", is: "n7") else { return }
      try tx.delete(note.id)
    }
    try store.write(metadata: ["why": "colours"]) { tx in
      try tx.require(Schema { Entity("Note") { Attribute("colour", .string) } })
      try tx.insert("Note", ["id": "late", "colour": "red"])
    }
    return store
  }

  /// What is told of a store: each state in the canonical form, and each transaction's author.
  private func account(_ store: Store) throws -> [String] {
    try (store.base.number...store.token.number).map { number in
      var text = ""
      try store.snapshot(at: number).export { text += String(decoding: $0, as: UTF8.self) }
      guard number > store.base.number else { return text }
      let transaction = try store.transaction(number)
      return "\(transaction.author ?? "-") \(transaction.context ?? "-") "
        + "\(transaction.timestamp) \(transaction.metadata)\n\(text)"
    }
  }

  @Test(arguments: ["notes.jsonl", "notes.jsonl.gz"])
  func whatIsExportedIsImportedAsItWas(name: String) throws {
    let folder = try TemporaryFolder()
    let store = try filled(.file(folder.path("a.annals")))
    var steps: [ExchangeProgress] = []
    let written = try store.export(to: folder.path(name)) { steps.append($0) }
    #expect(written == ExportSummary(count: 34, token: store.token))
    #expect(steps.map(\.count) == Array(1...34))
    #expect(steps.last?.fraction == 1)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path(name)))
    #expect(Array(bytes.prefix(2)) == (name.hasSuffix(".gz") ? [0x1F, 0x8B] : Array("{\"".utf8)))

    steps = []
    let read = try Store.import(from: folder.path(name), to: folder.path("b.annals")) {
      steps.append($0)
    }
    #expect(read.count == 34 && steps.last == ExchangeProgress(count: 34, fraction: 1))
    let copy = try Store(path: folder.path("b.annals"))
    #expect(copy.token == read.token)
    #expect(try account(copy) == account(store))
    #expect(try copy.verify().isEmpty)
    #expect(try folder.names() == ["a.annals", "b.annals", name].sorted())
  }

  @Test func aPrunedStoreBringsItsBase() throws {
    let folder = try TemporaryFolder()
    let store = try filled(.file(folder.path("a.annals")))
    try store.prune(store.prunePlan(before: 20))
    try store.export(to: folder.path("a.jsonl"))
    try Store.import(from: folder.path("a.jsonl"), to: folder.path("b.annals"))
    let copy = try Store(path: folder.path("b.annals"))
    #expect(copy.base.number == 19)
    #expect(try account(copy) == account(store))
    #expect(try folder.names() == ["a.annals", "a.jsonl", "b.annals"])
    // A base goes into a new file only.
    let error = #expect(throws: AnnalsError.self) {
      try noteStore().import(from: folder.path("a.jsonl"))
    }
    #expect(error?.code == .invalidInput && error?.inputPlace?.line == 1)
  }

  @Test func anExportGoesOnWhereTheLastEnded() throws {
    let store = try filled()
    let copy = try Store(.memory, schema: Schema())
    var token: Token?
    for through in [1, 2, 17, 33, 34] {
      var lines = Data()
      let part = try store.export(after: token, through: through) { lines += $0 }
      token = part.token
      var pieces = [lines.prefix(7), Data(), lines.dropFirst(7)].makeIterator()
      try copy.import { pieces.next() }
      #expect(copy.token.number == through)
    }
    #expect(try account(copy) == account(store))
    let error = #expect(throws: AnnalsError.self) {
      try store.export(after: 9, through: 4) { _ in }
    }
    #expect(error?.code == .invalidArgument)
  }

  @Test func aSnapshotsObjectsAreLinesInOrder() throws {
    let folder = try TemporaryFolder()
    let snapshot = try filled().snapshot()
    var last: ExchangeProgress?
    let all = try snapshot.export(to: folder.path("all.jsonl")) { last = $0 }
    #expect(all == ExportSummary(count: 32, token: snapshot.token))
    #expect(last == ExchangeProgress(count: 32, fraction: 1))
    let lines = try String(contentsOfFile: folder.path("all.jsonl"), encoding: .utf8)
      .split(separator: "\n").map(String.init)
    let first =
      #"{"entity":"Folder","id":"Täglich \"x\"\n","name":"Täglich \"x\"\n","notes":["a"]}"#
    #expect(lines[0] == first)
    let keys = try lines.dropFirst().map { line in
      try #require(line.firstMatch(of: /"id":"(\w+)"/)).output.1
    }
    #expect(keys.count == 31 && keys == keys.sorted())
    let folders = try snapshot.export(to: folder.path("f.jsonl"), entity: "Folder")
    #expect(folders.count == 1)
    #expect(throws: AnnalsError.self) { try snapshot.export(entity: "Fold") { _ in } }
    #expect(try folder.names() == ["all.jsonl", "f.jsonl"])
  }

  /// Lines that cannot be read in, each behind a good one: the place, and the code.
  static let wrongLines: [(String, InputPlace, AnnalsError.Code)] = [
    ("[]", InputPlace(line: 3, column: 2), .invalidInput),
    (#"{"changes":[}"#, InputPlace(line: 3, column: 13), .invalidInput),
    (#"{"changes":[{"op":"upsert"}]}"#, InputPlace(line: 3, column: 27), .invalidInput),
    (#"{"changes":[]"#, InputPlace(line: 3, column: 14), .invalidInput),
    (
      #"{"changes":[{"op":"update","entity":"Note","id":"b","set":{"text":"x"}}]}"#,
      InputPlace(line: 3, column: 60), .invalidInput
    ),
    (
      #"{"changes":[{"op":"insert","entity":"Note","id":"a","set":{}}]}"#,
      InputPlace(line: 3, column: nil), .invalidChange
    ),
    (
      #"{"changes":[{"op":"insert","entity":"Other","id":"a","set":{}}]}"#,
      InputPlace(line: 3, column: 61), .invalidInput
    ),
    (
      #"{"changes":[{"op":"update","entity":"Note","id":"a","set":{"count":"x"}}]}"#,
      InputPlace(line: 3, column: 71), .invalidInput
    ),
  ]

  @Test(arguments: wrongLines)
  func anErrorSaysWhere(line: String, place: InputPlace, code: AnnalsError.Code) throws {
    let folder = try TemporaryFolder()
    let good = #"{"changes":[{"op":"insert","entity":"Note","id":"a","set":{"count":1}}]}"#
    try Data("\(good)\n\n\(line)\n\(good)\n".utf8).write(
      to: URL(fileURLWithPath: folder.path("in.jsonl")))
    let store = try noteStore()
    let kept = #expect(throws: AnnalsError.self) {
      try store.import(from: folder.path("in.jsonl"))
    }
    #expect(kept?.code == code && kept?.inputPlace == place, "\(String(describing: kept))")
    #expect(kept?.message.hasPrefix("\(folder.path("in.jsonl")):\(place): ") == true)
    #expect(kept?.message.hasSuffix(". 1 transaction, of line 1, stays") == true)
    #expect((kept?.violations.isEmpty == false) == (code == .invalidChange))
    #expect(try store.ids() == ["a"] && store.token.number == 2)

    let none = #expect(throws: AnnalsError.self) {
      try Store.import(
        from: folder.path("in.jsonl"), to: folder.path("b.annals"), schema: noteSchema)
    }
    #expect(none?.code == code && none?.inputPlace == place, "\(String(describing: none))")
    #expect(none?.message.hasSuffix(". Nothing was kept") == true)
    #expect(try folder.names() == ["in.jsonl"])
  }

  @Test func whatIsMissingInTheSchemaIsAddedOnRequest() throws {
    let store = try noteStore()
    let line = #"{"changes":[{"op":"insert","entity":"Other","id":"a","set":{"n":1}}]}"#
    var pieces = [Data(line.utf8)].makeIterator()
    try store.import(infersSchema: true) { pieces.next() }
    #expect(try store.snapshot().objects(of: "Other").map { $0["n"] } == [1])
  }

  @Test func whatWouldAddANameIsSaid() throws {
    let store = try noteStore()
    for (change, reason) in [
      (
        #"{"op":"insert","entity":"Note","id":"a","set":{"wavelength":1}}"#,
        "Note has no property `wavelength` in the store's schema; infersSchema: true adds it"
      ),
      (
        #"{"op":"insert","entity":"Nota","id":"a","set":{}}"#,
        "there is no entity Nota; did you mean Note? infersSchema: true adds it"
      ),
    ] {
      var pieces = [Data(#"{"changes":[\#(change)]}"#.utf8)].makeIterator()
      let error = #expect(throws: AnnalsError.self) { try store.import { pieces.next() } }
      let message = error?.message ?? ""
      #expect(message.hasSuffix("\(reason). Nothing was imported"), "\(message)")
    }
  }

  private struct Stop: Error {}

  @Test func whoThrowsStopsItAndNothingIsLeft() throws {
    let folder = try TemporaryFolder()
    let store = try filled(.file(folder.path("a.annals")))
    try store.export(to: folder.path("a.jsonl"))
    let names = ["a.annals", "a.jsonl"]
    for name in ["x.jsonl", "x.jsonl.gz"] {
      #expect(throws: Stop.self) {
        try store.export(to: folder.path(name)) { if $0.count == 20 { throw Stop() } }
      }
      #expect(throws: Stop.self) {
        try store.snapshot().export(to: folder.path(name)) { _ in throw Stop() }
      }
      #expect(try folder.names() == names)
    }
    #expect(throws: Stop.self) {
      try Store.import(from: folder.path("a.jsonl"), to: folder.path("b.annals")) {
        if $0.count == 20 { throw Stop() }
      }
    }
    #expect(try folder.names() == names)
    #expect(throws: Stop.self) { try store.export { _ in throw Stop() } }
    let other = try Store(.memory, schema: Schema())
    #expect(throws: Stop.self) { try other.import { throw Stop() } }
    #expect(other.token.number == 0)
    #expect(throws: Stop.self) {
      try other.import(from: folder.path("a.jsonl")) { if $0.count == 5 { throw Stop() } }
    }
    // A store that is open stays so, with what it has.
    #expect(other.token.number == 5)
    #expect(try other.snapshot().count(of: "Note") == 4)
  }

  @Test func whatIsThereIsLeftAlone() throws {
    let folder = try TemporaryFolder()
    let store = try filled()
    let path = folder.path("x.jsonl")
    try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
    for call in [
      { try store.export(to: path) }, { try store.snapshot().export(to: path) },
      { try Store.import(from: path, to: path) },
    ] as [() throws -> Void] {
      #expect(#expect(throws: AnnalsError.self, performing: call)?.code == .alreadyExists)
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    #expect(try folder.names() == ["x.jsonl"])
    let missing = #expect(throws: AnnalsError.self) {
      try store.import(from: folder.path("none.jsonl"))
    }
    #expect(missing?.code == .notFound)
  }

  /// An export and an import at whose every point the power fails: the whole file, or none.
  @Test func powerMayFailAtAnyPoint() throws {
    func work(_ disk: FaultyFileSystem, crashingAt point: Int?) throws -> Int {
      let location = StoreLocation(fileSystem: disk, path: "/a.annals")
      let store = try noteStore(location)
      for number in 0..<5 { try store.note("n\(number)", text: "text") }
      let first = disk.pointCount
      if let point { disk.crash(at: first + point) }
      do {
        try store.export(to: "/a.jsonl.gz")
        try Store.import(from: "/a.jsonl.gz", to: "/b.annals", in: disk)
      } catch {
        try #require(point != nil)
      }
      return disk.pointCount - first
    }
    let count = try work(FaultyFileSystem(), crashingAt: nil)
    #expect(count > 10)
    var whole: Set<String> = []
    for point in 0..<count {
      let disk = FaultyFileSystem(seed: UInt64(point))
      _ = try work(disk, crashingAt: point)
      disk.forEachSurvivor(limit: 4) { survivor in
        for path in survivor.files.paths where !path.contains(".part-") && path != "/a.annals" {
          whole.insert(path)
          do {
            if path == "/a.jsonl.gz" {
              try Store.import(from: path, to: "/c.annals", in: survivor.files)
            }
            let made = StoreLocation(
              fileSystem: survivor.files, path: path == "/b.annals" ? path : "/c.annals")
            let store = try Store(made, creates: false, options: .readOnly)
            #expect(store.token.number == 6 && store.findings.isEmpty, "point \(point): \(path)")
          } catch {
            Issue.record("point \(point), \(survivor): \(path): \(error)")
          }
        }
      }
    }
    #expect(whole == ["/a.jsonl.gz", "/b.annals"])
  }

  /// Each call of the file system that an export makes fails once.
  @Test(arguments: [StorageError.Operation.create, .write, .sync, .place, .syncDirectory])
  func aFailingCallLeavesNothing(operation: StorageError.Operation) throws {
    for effect in [FaultInjection.Effect.none, .complete] {
      let disk = FaultyFileSystem()
      let store = try filled(StoreLocation(fileSystem: disk, path: "/a.annals"))
      disk.inject(FaultInjection(operation, .ioError, effect: effect))
      let error = #expect(throws: AnnalsError.self) { try store.export(to: "/x.jsonl") }
      #expect(error?.code == .io && error?.underlying == .ioError)
      #expect(disk.paths.filter { !$0.contains(".part-") } == ["/a.annals"])
      if operation != .create || effect == .none { #expect(disk.paths == ["/a.annals"]) }
    }
  }
}
