import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

@testable import Annals

/// Copies of a store, made while it is used.
@Suite(.deadline) struct BackupTests {
  /// Every state of a store, from its base on, that has notes.
  private func states(_ store: Store) throws -> [[[String: Value]]] {
    try (max(store.base.number, 1)...store.token.number).map { number in
      try store.snapshot(at: number).objects(of: "Note").map(\.dictionary)
    }
  }

  private func requireSame(_ path: String, as store: Store) throws {
    let copy = try Store(path: path, options: .readOnly)
    #expect(copy.id == store.id && copy.token == store.token && copy.base == store.base)
    #expect(try states(copy) == states(store))
    #expect(copy.findings.isEmpty)
    #expect(try PosixFileSystem().findings(about: path).isEmpty)
    try copy.close()
  }

  /// What a file may hold, from the beginning on.
  enum Past: String, CaseIterable {
    case empty, commits, checkpointed, compacted, pruned, largeValues
  }

  @Test(arguments: Past.allCases, [StoreOptions.Durability.full, .deferred])
  func theCopyIsTheWholeStore(past: Past, durability: StoreOptions.Durability) throws {
    let folder = try TemporaryFolder()
    var options = StoreOptions()
    options.durability = durability
    let store =
      past == .empty
      ? try Store(path: folder.path("a.annals"), schema: Schema())
      : try noteStore(.file(folder.path("a.annals")), options: options)
    if past != .empty { for id in 1...40 { try store.note("\(id)", text: "text", author: "ann") } }
    switch past {
    case .empty, .commits: break
    case .checkpointed: try store.checkpoint()
    case .compacted: try store.compact()
    case .pruned: try store.prune(store.prunePlan(before: 9))
    case .largeValues:
      try store.note("large", text: String(repeating: "a long text ", count: 9_999))
    }
    if past != .empty { try store.note("last") }
    let token = try store.backup(to: folder.path("b.annals"))
    #expect(token == store.token)
    if past == .empty {
      #expect(try Store(path: folder.path("b.annals"), options: .readOnly).id == store.id)
    } else {
      try requireSame(folder.path("b.annals"), as: store)
    }
    // The store goes on, and so does its copy.
    let copy = try Store(path: folder.path("b.annals"))
    try copy.write { try $0.require(noteSchema) }
    try copy.note("in the copy")
    try copy.close()
    #expect(try copy.verify().isEmpty)
    try store.close()
  }

  /// Others commit, compact and prune while the copies are made.
  @Test func othersGoOnMeanwhile() async throws {
    let folder = try TemporaryFolder()
    let store = try noteStore(.file(folder.path("a.annals")), options: .deferred)
    for id in 1...200 { try store.note("\(id)", text: "text") }
    let other = try Store(path: folder.path("a.annals"), options: .deferred)
    let writer = Task.detached {
      for id in 0..<300 {
        try other.note("other \(id)", text: "text")
        if id % 100 == 50 { try other.compact() }
        if id == 220 { try other.prune(other.prunePlan(before: 100)) }
      }
    }
    for number in 0..<12 {
      let path = folder.path("copy \(number).annals")
      let token = try store.backup(to: path)
      let copy = try Store(path: path)
      #expect(copy.token == token)
      #expect(try copy.verify().isEmpty)
      try copy.close()
      try store.refresh()
    }
    try await writer.value
  }

  @Test func aFileThatIsThereIsLeftAlone() throws {
    let folder = try TemporaryFolder()
    let store = try noteStore(.file(folder.path("a.annals")))
    let path = folder.path("b.annals")
    try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
    for target in [path, folder.path("a.annals")] {
      let error = #expect(throws: AnnalsError.self) { try store.backup(to: target) }
      #expect(error?.code == .alreadyExists, "\(error as Any)")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("mine".utf8))
    let missing = #expect(throws: AnnalsError.self) {
      try store.backup(to: folder.path("no folder/b.annals"))
    }
    #expect(missing?.code == .io || missing?.code == .notFound, "\(missing as Any)")
  }

  @Test func aStoreWhoseFileWasDeletedIsSaved() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    let store = try noteStore(.file(path))
    try store.note("a")
    try FileManager.default.removeItem(atPath: path)
    try store.backup(to: folder.path("b.annals"))
    let copy = try Store(path: folder.path("b.annals"))
    #expect(try copy.ids() == ["a"])
    // Also to its own place, where the store can be opened again.
    try store.backup(to: path)
    try? store.close()
    #expect(try Store(path: path).ids() == ["a"])
  }

  /// A copy of a damaged file, or of what is left before the damage, is no backup.
  @Test(arguments: [false, true]) func aDamagedStoreIsNotCopied(isCutShort: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    let store = try noteStore(.file(path))
    for id in 1...9 { try store.note("\(id)", text: "a text to be found") }
    try store.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let place = try #require(bytes.firstRange(of: Data("a text to be found".utf8)))
    if isCutShort {
      bytes[place.lowerBound - 40] ^= 1
      bytes = bytes.prefix(place.upperBound + 2_000)
    } else {
      bytes[place.lowerBound] ^= 1
    }
    try bytes.write(to: URL(fileURLWithPath: path))
    var options = StoreOptions.readOnly
    options.readsUpToDamage = true
    let damaged = try Store(path: path, options: options)
    let error = #expect(throws: AnnalsError.self) {
      try damaged.backup(to: folder.path("b.annals"))
    }
    #expect(error?.code == .damaged, "\(error as Any)")
    #expect(error?.offset != nil)
    #expect(!FileManager.default.fileExists(atPath: folder.path("b.annals")))
    #expect(!FileManager.default.fileExists(atPath: folder.path("b.annals.new")))
  }

  @Test func aStoreInMemoryIsCopiedIntoAFile() throws {
    let folder = try TemporaryFolder()
    let store = try noteStore(.memory)
    try store.note("a", text: "from memory")
    try store.backup(to: folder.path("b.annals"))
    try requireSame(folder.path("b.annals"), as: store)
  }

  /// Tokens of the copy's own way are not those of the store's.
  @Test func twoWaysAreToldApart() throws {
    let folder = try TemporaryFolder()
    let store = try noteStore(.file(folder.path("a.annals")))
    let shared = try store.backup(to: folder.path("b.annals"))
    let copy = try noteStore(.file(folder.path("b.annals")), seed: 2)
    try store.note("here")
    try copy.note("there")
    #expect(try copy.snapshot(at: shared).token == shared)
    let error = #expect(throws: AnnalsError.self) { try store.snapshot(at: copy.token) }
    #expect(error?.code == .lostBranch, "\(error as Any)")
  }
}
