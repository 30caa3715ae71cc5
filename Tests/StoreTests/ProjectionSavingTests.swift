import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// The states of projections that checkpoints save: gone on from after reopening, kept by rewrites,
/// and never the truth.
@Suite(.serialized) struct ProjectionSavingTests {
  /// Opens the store, looks at the projection, closes the store; returns its value and how many
  /// transactions were taken in for it.
  private func reading<P: Projection>(
    _ type: P.Type, _ location: StoreLocation
  ) throws -> (value: P, applied: Int) {
    let store = try noteStore(location, seed: 9)
    defer { try? store.close() }
    let before = AppliedCount.total.withLock { $0 }
    let value = try store.projection(type)
    return (value, AppliedCount.total.withLock { $0 } - before)
  }

  /// A closed store with so many notes, whose projections were saved by a checkpoint.
  private func saved(_ count: Int = 5, _ location: StoreLocation = memoryFile()) throws
    -> StoreLocation
  {
    let store = try noteStore(location)
    store.register(AppliedCount.self)
    store.register(CommitsPerAuthor.self)
    store.register(FaultyCount.self)
    for index in 0..<count { try store.note("\(index)", author: "ann") }
    try store.checkpoint()
    try store.close()
    return location
  }

  @Test func anotherOpeningGoesOnFromTheCheckpoint() throws {
    let location = try saved()
    #expect(try reading(AppliedCount.self, location) == (AppliedCount(count: 6), 0))
    let store = try noteStore(location)
    try store.note("more")
    try store.close()
    #expect(try reading(AppliedCount.self, location) == (AppliedCount(count: 7), 1))
    #expect(try reading(CommitsPerAuthor.self, location).value.counts == ["": 2, "ann": 5])
  }

  /// The past begins at the last state saved before it.
  @Test func thePastGoesOnFromEarlierCheckpoints() throws {
    let store = try noteStore()
    for index in 0..<20 {
      try store.note("\(index)")
      if index % 5 == 4 {
        store.register(AppliedCount.self)
        try store.checkpoint()
      }
    }
    let before = AppliedCount.total.withLock { $0 }
    for number in store.base.number...store.token.number {
      #expect(try store.projection(AppliedCount.self, at: number).count == Int(number))
    }
    // Checkpoints are at 6, 11, 16 and 21.
    let expected = (0...5).reduce(0, +) + 3 * (0...4).reduce(0, +)
    #expect(AppliedCount.total.withLock { $0 } - before == expected)
  }

  @Test func closingSavesWhatTookLong() throws {
    let location = memoryFile()
    var store = try noteStore(location)
    try store.write { tx in
      for index in 0..<5_100 { try tx.insert("Note", ["id": .string("\(index)")]) }
    }
    try store.checkpoint()
    try store.close()
    // The log is short behind the checkpoint; the projection has taken in much all the same.
    #expect(try reading(AppliedCount.self, location).applied == 2)
    #expect(try reading(AppliedCount.self, location).applied == 0)
    store = try noteStore(location)
    #expect(try store.verify() == [])
  }

  @Test func aGrownLogSavesWhatWasRead() throws {
    let location = memoryFile()
    let store = try noteStore(location)
    _ = try store.projection(AppliedCount.self)
    var random = SeededRandom(seed: 1)
    let note = try store.note("a")
    for _ in 0..<400 {
      let text = (0..<240).map { _ in String(random.next(), radix: 36) }.joined()
      try store.write { tx in try tx.update(note, ["text": .string(text)]) }
    }
    #expect(store.version.view.savedProjections.map(\.name) == [AppliedCount.name])
    let again = try noteStore(location, seed: 2)
    let number = try #require(again.version.view.savedProjections.first).number
    #expect(number > 100 && number <= again.token.number)
    #expect(try again.projection(AppliedCount.self).count == 402)
  }

  @Test func anotherVersionIsMadeAnew() throws {
    let location = try saved()
    #expect(try reading(LaterCount.self, location).applied == 6)
    // Saved in its turn, it takes the place of the other.
    let store = try noteStore(location)
    store.register(LaterCount.self)
    try store.checkpoint()
    try store.close()
    #expect(try reading(LaterCount.self, location).applied == 0)
    #expect(try reading(AppliedCount.self, location).applied == 6)
  }

  @Test func whatCannotBeDecodedIsMadeAnew() throws {
    let store = try noteStore(saved())
    try FaultyCount.with(.throwsInDecoding) {
      #expect(try store.projection(FaultyCount.self).count == 5)
      let findings = try store.verify()
      #expect(findings.map(\.severity) == [.warning, .error])
      #expect(
        findings[0].message.hasPrefix(
          "the projection \"faulty count\" cannot be decoded as it is saved, as of transaction 6"))
    }
    #expect(try store.verify() == [])
  }

  @Test func aWrongStateIsFoundByVerify() throws {
    let location = memoryFile()
    var store = try noteStore(location)
    try store.note("a")
    store.register(FaultyCount.self)
    try FaultyCount.with(.countsTwice) { try store.checkpoint() }
    try store.close()
    store = try noteStore(location, seed: 2)
    #expect(try store.projection(FaultyCount.self).count == 2)
    let findings = try store.verify()
    #expect(findings.map(\.severity) == [.error, .error])
    #expect(findings.contains { $0.message.contains("differs, as it is saved as of") })
    #expect(findings.contains { $0.message.contains("differs, as it is kept as of") })
  }

  @Test func whatCannotBeEncodedIsNotSaved() throws {
    let location = memoryFile()
    let store = try noteStore(location)
    try store.note("a")
    store.register(FaultyCount.self)
    store.register(AppliedCount.self)
    try FaultyCount.with(.throwsInEncoding) { try store.checkpoint() }
    #expect(store.version.view.savedProjections.map(\.name) == [AppliedCount.name])
    // A prune would lose what it is made of.
    let error = #expect(throws: AnnalsError.self) {
      try FaultyCount.with(.throwsInEncoding) { try store.prune(store.prunePlan(before: 2)) }
    }
    #expect(error?.code == .projectionFailed && store.base.number == 0)
    try store.prune(store.prunePlan(before: 2))
    #expect(store.base.number == 1)
    #expect(try store.verify().allSatisfy { $0.severity == .note })
  }

  @Test(arguments: [0, -1]) func aStateHasALimit(beyond: Int) throws {
    let location = memoryFile()
    let store = try noteStore(location)
    store.register(LongState.self)
    LongState.length.withLock { $0 = SavedProjection.maximumState - beyond }
    try store.checkpoint()
    try store.close()
    let again = try noteStore(location, seed: 2)
    #expect(again.version.view.savedProjections.count == (beyond == 0 ? 1 : 0))
    _ = try again.projection(LongState.self)
    let findings = try again.verify()
    #expect(findings.map(\.severity) == (beyond == 0 ? [] : [.note]))
    #expect(findings.allSatisfy { $0.message.contains("is not saved: it has 16000001 bytes") })
  }

  /// Rewrites by a program that has registered it, or not.
  @Test(arguments: [true, false]) func aCompactionKeepsIt(isRegistered: Bool) throws {
    let location = try saved(8)
    let store = try noteStore(location)
    if isRegistered { store.register(AppliedCount.self) }
    try store.note("more")
    #expect(try store.compact().isRewritten)
    try store.checkpoint()
    try store.close()
    let (value, applied) = try reading(AppliedCount.self, location)
    #expect(value.count == 10 && applied == (isRegistered ? 0 : 1))
    #expect(try noteStore(location).problems() == [])
  }

  @Test func theSmallestFileIsWithoutIt() throws {
    let location = try saved(8)
    let store = try noteStore(location)
    #expect(try store.compact(smallest: true).isRewritten)
    try store.close()
    #expect(try reading(AppliedCount.self, location) == (AppliedCount(count: 9), 9))
  }

  /// What cannot be rebuilt is not thrown away by whoever knows it.
  @Test func theSmallestFileIsRefusedForWhatItWouldLose() throws {
    let location = try saved(8)
    let store = try noteStore(location)
    store.register(CommitsPerAuthor.self)
    try store.prune(store.prunePlan(before: 4))
    let error = #expect(throws: AnnalsError.self) { try store.compact(smallest: true) }
    #expect(error?.code == .unsupported && error?.message.contains("commits per author") == true)
    try store.compact()
    try store.close()
    #expect(try reading(CommitsPerAuthor.self, location).value.counts == ["": 1, "ann": 8])
  }

  @Test(arguments: [3, 6, 10]) func aPruneKeepsWhatNeedsTheWholeHistory(floor: Int) throws {
    let location = try saved(8)
    let store = try noteStore(location)
    store.register(CommitsPerAuthor.self)
    try store.note("more", author: "ben")
    try store.prune(store.prunePlan(before: floor))
    try store.close()
    #expect(
      try reading(CommitsPerAuthor.self, location).value.counts == ["": 1, "ann": 8, "ben": 1])
    let again = try noteStore(location, seed: 4)
    try again.note("last", author: "cy")
    #expect(
      try again.projection(CommitsPerAuthor.self).counts == ["": 1, "ann": 8, "ben": 1, "cy": 1])
    #expect(try again.projection(FaultyCount.self).count == 10)
    #expect(try again.verify().allSatisfy { $0.severity == .note })
  }

  /// One transaction is left; another rewrite of it keeps the state, too.
  @Test func aPruneOfNearlyAllKeepsIt() throws {
    let location = try saved(4)
    let store = try noteStore(location)
    store.register(CommitsPerAuthor.self)
    try store.prune(store.prunePlan(before: store.token.number))
    #expect(store.base.number == 4)
    try store.compact()
    try store.close()
    #expect(try reading(CommitsPerAuthor.self, location).value.counts == ["": 1, "ann": 4])
  }

  /// A program that does not know the projection prunes: what was saved before the new base goes.
  @Test func aPruneByOthersLosesTheSavedStateAndNoTruth() throws {
    let location = try saved(5)
    let store = try noteStore(location)
    for index in 0..<5 { try store.note("more \(index)") }
    try store.prune(store.prunePlan(before: 9))
    try store.close()
    // What the state tells is made anew.
    #expect(try reading(FaultyCount.self, location).value.count == 10)
    let error = #expect(throws: AnnalsError.self) { try reading(CommitsPerAuthor.self, location) }
    #expect(error?.code == .pruned)
  }

  @Test func otherStoresAreWithoutIt() throws {
    let location = try saved(6)
    let store = try noteStore(location)
    for (path, flatten) in [("/whole.annals", false), ("/flat.annals", true)] {
      try store.replay(to: path, at: 7, flatten: flatten)
      let copy = try Store(
        StoreLocation(fileSystem: location.fileSystem, path: path), creates: false)
      #expect(copy.version.view.savedProjections.isEmpty)
      #expect(try copy.projection(FaultyCount.self).count == 6)
      try copy.close()
    }
    _ = try Store.salvage(location, to: "/saved.annals", environment: .fixed(seed: 8))
    let saved = try Store(
      StoreLocation(fileSystem: location.fileSystem, path: "/saved.annals"), creates: false)
    #expect(saved.version.view.savedProjections.isEmpty)
    #expect(try saved.projection(CommitsPerAuthor.self).counts == ["": 1, "ann": 6])
  }

  /// A damaged state is as none; the store opens, and verify says where it is.
  @Test func aDamagedStateIsMadeAnew() throws {
    let location = try saved()
    let reader = try noteStore(location)
    let list = reader.version.view.savedProjections
    #expect(list.count == 3)
    try reader.close()
    for saved in list {
      try location.fileSystem.flip(4, at: saved.chunk.offset + 24 + 5, of: location.path)
    }
    #expect(try reading(AppliedCount.self, location) == (AppliedCount(count: 6), 6))
    let store = try noteStore(location, seed: 5)
    #expect(try store.projection(CommitsPerAuthor.self).counts == ["": 1, "ann": 5])
    let findings = try store.verify()
    #expect(findings.filter { $0.severity == .warning }.count >= 3 && findings.count < 9)
    #expect(!findings.contains { $0.severity == .error })
    #expect(findings.contains { $0.message.contains("Compact") })
    // A rewrite is without what cannot be read.
    try store.compact()
    try store.checkpoint()
    #expect(try store.verify() == [])
  }

  /// Another process's checkpoints keep what this one saved, and the other way round.
  @Test func twoProcessesSaveBesideEachOther() throws {
    let location = memoryFile()
    let (first, second) = (try noteStore(location), try noteStore(location, seed: 2))
    first.register(AppliedCount.self)
    second.register(FaultyCount.self)
    try first.note("a")
    try first.checkpoint()
    try second.note("b")
    try second.checkpoint()
    try first.note("c")
    try first.checkpoint()
    #expect(
      first.version.view.savedProjections.map { "\($0.name) \($0.number)" } == [
        "applied count 4", "faulty count 3",
      ])
    #expect(try second.verify() == [])
  }
}

/// How many transactions there were, and how many were taken in by this process.
private struct AppliedCount: Projection, Codable {
  static let name = "applied count"
  static let version = 1
  static let total = Locked(0)
  var count = 0

  mutating func apply(_ transaction: Transaction) throws {
    count += 1
    AppliedCount.total.withLock { $0 += 1 }
  }
}

extension AppliedCount {
  init(base: Snapshot) throws { count = Int(base.number) }
}

/// The same after the program was changed.
private struct LaterCount: Projection, Codable {
  static let name = AppliedCount.name
  static let version = 2
  var count = 0

  mutating func apply(_ transaction: Transaction) throws {
    count += 2
    AppliedCount.total.withLock { $0 += 1 }
  }
}

/// A state of as many bytes as a test says.
private struct LongState: Projection {
  static let name = "long state"
  static let version = 1
  static let length = Locked(0)
  var length = 0

  mutating func apply(_ transaction: Transaction) throws {
    length = LongState.length.withLock { $0 }
  }

  func encoded() throws -> Data { Data(count: length) }
}

extension LongState {
  init(encoded: Data) throws { length = encoded.count }
}
