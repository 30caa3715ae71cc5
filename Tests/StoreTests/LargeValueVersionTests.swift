import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// Long texts of which a rewrite keeps what has changed since the version before.
@Suite struct LargeValueVersionTests {
  private let path = "/test.annals"

  /// A store with versions of long texts.
  private struct Documents {
    let files: MemoryFileSystem
    var store: Store
    var ids: [ObjectID] = []
    /// The texts after each transaction.
    var states: [Int64: [String]] = [:]
  }

  private func line(_ random: inout SeededRandom) -> String {
    (0..<8).map { _ in String(UInt16.random(in: 0..<20_000, using: &random)) }
      .joined(separator: " ")
  }

  private func documents(_ count: Int, versions: Int, seed: UInt64) throws -> Documents {
    var random = SeededRandom(seed: seed)
    let files = MemoryFileSystem()
    var made = Documents(
      files: files, store: try noteStore(StoreLocation(fileSystem: files, path: path)))
    var texts: [[String]] = []
    func note() {
      made.states[made.store.token.number] = texts.map { $0.joined(separator: "\n") }
    }
    for number in 0..<count {
      texts.append((0..<200).map { _ in line(&random) })
      let text = texts[number].joined(separator: "\n")
      made.ids.append(try made.store.note("n\(number)", text: text))
      note()
    }
    for _ in 0..<versions {
      let number = Int.random(in: 0..<count, using: &random)
      texts[number][Int.random(in: 0..<200, using: &random)] = line(&random)
      let new = texts[number].joined(separator: "\n")
      try made.store.write { try $0.update(made.ids[number], ["text": .string(new)]) }
      note()
    }
    return made
  }

  private func text(_ value: Value, _ store: Store) throws -> String? {
    switch value {
    case .string(let text): text
    case .large(let large): String(decoding: try store.bytes(of: large), as: UTF8.self)
    default: nil
    }
  }

  private func expect(
    _ documents: Documents, after base: Int64 = 1, besides erased: ObjectID? = nil,
    _ comment: Comment? = nil
  ) throws {
    let store = documents.store
    for (number, texts) in documents.states where number >= base {
      let snapshot = try store.snapshot(at: number)
      for (id, wanted) in zip(documents.ids, texts) where id != erased {
        let found = try text(try #require(try snapshot.object(id))["text"], store)
        #expect(found == wanted, comment)
      }
    }
    #expect(try documents.files.findings(about: path) == [], comment)
    #expect(try store.verifyHistory() == [], comment)
  }

  private func size(_ documents: Documents) throws -> UInt64 {
    try documents.files.frames(of: path, .largeValue).reduce(0) { $0 + $1.length }
  }

  @Test func aVersionTakesWhatHasChanged() throws {
    let documents = try documents(3, versions: 150, seed: 21)
    let before = try size(documents)
    #expect(try documents.store.compact().isRewritten)
    let after = try size(documents)
    // 153 texts of 8 kB; six to eight of them are whole, at half their size.
    #expect(before > 1_200_000 && after < 70_000, "\(before) became \(after)")
    try expect(documents)
    // What is based stays as it is, and what comes later is based on it.
    try documents.store.prune(try documents.store.prunePlan(before: 3))
    let again = try size(documents)
    #expect(again <= after + 8)
    let (_, last) = try #require(documents.states.max { $0.key < $1.key })
    try documents.store.write {
      try $0.update(documents.ids[0], ["text": .string(last[0] + "\nmore")])
    }
    #expect(try documents.store.compact().isRewritten)
    #expect(try size(documents) < again + 9_000)
    try expect(documents, after: 3)
  }

  /// What a value is based on is needed no more: it is stored whole.
  @Test func theBaseGoes() throws {
    let documents = try documents(2, versions: 80, seed: 22)
    #expect(try documents.store.compact().isRewritten)
    for floor in [10, 11, 40, 70, 82] as [Int64] {
      try documents.store.prune(try documents.store.prunePlan(before: floor))
      try expect(documents, after: floor, "\(floor)")
    }
    #expect(try documents.files.frames(of: path, .largeValue).count < 6)
  }

  @Test func theBaseIsErased() throws {
    let documents = try documents(2, versions: 60, seed: 23)
    #expect(try documents.store.compact().isRewritten)
    _ = try documents.store.erase(documents.ids[0], reason: "asked")
    try expect(documents, besides: documents.ids[0])
    let gone = String(try #require(documents.states[2]?[0]).prefix(40))
    let source = try #require(try FrameSource(try documents.files.open(path, for: .reading)))
    for frame in try documents.files.frames(of: path, .largeValue) {
      let payload = try #require(try source.frame(at: frame.offset)).payload
      let stored = try payload.withUnsafeBytes {
        try LargeValueCodec.decode($0).withBytes { String(decoding: $0, as: UTF8.self) }
      }
      #expect(!stored.contains(gone))
    }
  }

  /// The damage of one frame makes what is based on it unreadable, and nothing else.
  @Test func theBaseIsDamaged() throws {
    let documents = try documents(2, versions: 40, seed: 24)
    #expect(try documents.store.compact().isRewritten)
    try documents.store.close()
    var bytes = try documents.files.contents(of: path)
    let frames = try documents.files.frames(of: path, .largeValue)
    bytes[Int(frames[0].offset) + 200] ^= 4
    let damaged = MemoryFileSystem()
    try damaged.put(bytes, at: path)
    let findings = try damaged.findings(about: path)
    #expect(findings.count > 10 && findings.allSatisfy { $0.severity == .error })
    let location = StoreLocation(fileSystem: damaged, path: path)
    let report = try Store.salvage(location, to: "/whole.annals", environment: .fixed(seed: 3))
    #expect(report.lostValues.count > 10)
    let whole = try Store(
      StoreLocation(fileSystem: damaged, path: "/whole.annals"), creates: false)
    #expect(try damaged.findings(about: "/whole.annals").allSatisfy { $0.severity == .note })
    for (number, texts) in documents.states where number > 2 {
      let note = try #require(try whole.snapshot(at: number).objects(of: "Note").last)
      #expect(try text(note["text"], whole) == texts[1])
    }
  }
}
