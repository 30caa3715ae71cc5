import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsShipping

/// What was shipped restores to each of its moments.
@Suite(.deadline) struct RoundTripTests {
  /// Requires that every moment of the store is restored as it is.
  private func requireAll(
    _ lab: ShippingLab, as store: Store, from first: Int64? = nil, through last: Int64? = nil
  ) throws {
    for number in (first ?? store.base.number)...(last ?? store.token.number) {
      #expect(try lab.restored(at: number) == canonical(store, at: number), "as of \(number)")
    }
    if last == nil {
      #expect(try lab.restored() == canonical(store, at: store.token.number))
    }
  }

  @Test func everyMoment() throws {
    let lab = ShippingLab()
    let store = try lab.store()
    let shipper = try lab.shipper()
    #expect(try shipper.pass().newBase == .first)
    for id in 1...9 {
      try store.note("\(id)", text: "text \(id)")
      if id % 3 == 0 {
        let report = try shipper.pass()
        #expect(report.newBase == nil && report.segments == 1 && report.head == Int64(id) + 1)
        #expect(!report.hasUnsynced)
        #expect(try !shipper.pass().isChanged)
      }
    }
    #expect(lab.names.count == 4)
    try requireAll(lab, as: store)
    // A shipper of another process goes on where this one ended.
    shipper.close()
    try store.note("later")
    #expect(try lab.ship().segments == 1)
    // Closing writes nothing that is new to readers, or a checkpoint.
    try store.close()
    _ = try lab.ship()
    try requireAll(lab, as: try lab.store())
  }

  /// All sound files of version 1: whole, and as of each of their moments.
  @Test(
    arguments: try FileManager.default.contentsOfDirectory(
      atPath: fixture("x").deletingLastPathComponent().path
    ).filter { $0.hasSuffix(".state.jsonl") }.map { String($0.dropLast(12)) }.sorted())
  func fixtures(name: String) throws {
    let lab = ShippingLab()
    try lab.disk.put(
      ContiguousArray(try Data(contentsOf: fixture(name))), at: ShippingLab.storePath)
    try lab.ship()
    let store = try Store(
      lab.location, creates: false, options: .readOnly, environment: .fixed(seed: 3))
    let numbers = store.base.number...store.token.number
    let stride = max(1, (numbers.upperBound - numbers.lowerBound) / 7)
    for number in Swift.stride(
      from: numbers.lowerBound, through: numbers.upperBound, by: .init(stride))
    {
      let expected = Result { try canonical(store, at: number) }
      let found = Result {
        try lab.restoring(at: number) { restored, _ in try canonical(restored, at: number) }
      }
      switch (expected, found) {
      case (.success(let expected), .success(let found)): #expect(expected == found, "\(number)")
      case (.failure(let expected), .failure(let found)):
        #expect((expected as? AnnalsError)?.code == (found as? AnnalsError)?.code, "\(number)")
      default: Issue.record("\(number): \(found) instead of \(expected)")
      }
    }
    #expect(
      try lab.restoring { restored, _ in try canonical(restored, at: restored.token.number) }
        == canonical(store, at: store.token.number))
  }

  /// What a file may go through between two passes.
  enum Rewrite: CaseIterable { case compact, smallest, prune, checkpoint, erase }

  @Test(arguments: Rewrite.allCases) func rewritten(_ rewrite: Rewrite) throws {
    let lab = ShippingLab()
    let store = try lab.store()
    try store.note("secret", text: "to be erased")
    for id in 1...6 { try store.note("\(id)", text: "text") }
    try lab.ship()
    try store.note("in a segment")
    try lab.ship()
    let before = try (0...store.token.number).map { try canonical(store, at: $0) }
    switch rewrite {
    case .compact: try store.compact()
    case .smallest: try store.compact(smallest: true)
    case .prune: try store.prune(store.prunePlan(before: 5))
    case .checkpoint: try store.checkpoint()
    case .erase:
      let secret = try #require(
        try store.snapshot().object(of: "Note", where: "id", is: .string("secret")))
      try store.erase(secret.objectID, reason: "asked for")
    }
    try store.note("after")
    let report = try lab.ship()
    #expect(report.newBase == (rewrite == .checkpoint ? nil : .rewritten))
    #expect(report.holdErased == (rewrite == .erase ? [1] : []))
    try store.note("and a segment")
    #expect(try lab.ship().segments == 1)
    // What the file still has comes from the new base; what was pruned from the old one.
    try requireAll(lab, as: store)
    for number in 0..<store.base.number {
      #expect(try lab.restored(at: number) == before[Int(number)], "as of \(number)")
    }
  }

  @Test func largeValuesAndSegmentsOfThem() throws {
    let lab = ShippingLab()
    let store = try lab.store()
    let shipper = try lab.shipper()
    for id in 1...4 {
      try store.note("\(id)", text: String(repeating: "a long text \(id) ", count: 99_999 * id))
      _ = try shipper.pass()
    }
    try requireAll(lab, as: store)
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func twoWriters(seed: UInt64) throws {
    let lab = ShippingLab()
    var random = SeededRandom(seed: seed)
    let stores = [try lab.store(seed: 1), try lab.store(durability: .deferred, seed: 2)]
    let shipper = try lab.shipper()
    for step in 0..<40 {
      let store = stores[random.below(2)]
      try store.note("\(seed) \(step)", text: String(repeating: "x", count: random.below(400)))
      if random.below(4) == 0 { _ = try shipper.pass() }
      if random.below(15) == 0 { try store.compact() }
    }
    _ = try shipper.pass()
    try stores[0].refresh()
    try requireAll(lab, as: stores[0])
  }

  /// Moments by date and token; and the newest of all that is not there.
  @Test func datesAndTokens() throws {
    let lab = ShippingLab()
    let store = try lab.store()
    for id in 1...5 { try store.note("\(id)") }
    try lab.ship()
    let path = "/restored.annals"
    func restore(_ position: any HistoryPosition) throws -> Int64 {
      defer { try? lab.disk.remove(path) }
      return try Store.restore(
        from: lab.folder, to: path, in: lab.disk, at: { try RestoredPoint(position, in: $0) }
      ).number
    }
    let third = try store.transaction(3)
    #expect(try restore(third.timestamp) == 3)
    #expect(try restore(third.timestamp.addingTimeInterval(-0.000_01)) == 2)
    #expect(try restore(third.token) == 3)
    #expect(try restore(Date.now.addingTimeInterval(1e9)) == 6)
    let beyond = #expect(throws: AnnalsError.self) { try restore(7) }
    #expect(beyond?.code == .beyondHead, "\(beyond as Any)")
    #expect(lab.disk.paths.allSatisfy { !$0.hasPrefix(path) })
  }

  /// A restored store is put in the place of the file, and shipped on.
  @Test(arguments: [nil, 4] as [Int64?]) func shippedOnAfterARestore(at number: Int64?) throws {
    let lab = ShippingLab()
    let store = try lab.store()
    for id in 1...5 { try store.note("\(id)") }
    try lab.ship()
    try store.note("6")
    try lab.ship()
    let lost = try (0...store.token.number).map { try canonical(store, at: $0) }
    try store.close()
    try lab.disk.remove(ShippingLab.storePath)
    _ = try Store.restore(
      from: lab.folder, to: ShippingLab.storePath, in: lab.disk,
      at: number.map { number in { store in try RestoredPoint(number, in: store) } })
    let again = try lab.store(seed: 2)
    try again.note("after the restore")
    let report = try lab.ship()
    #expect(report.newBase == (number == nil ? nil : .branched))
    try requireAll(lab, as: again)
    // What the store does not have any more is in the base before.
    if number != nil {
      for number in again.token.number + 1...7 {
        #expect(try lab.restored(at: number) == lost[Int(number)])
      }
    }
  }

  /// A branch whose frames lie where those that were shipped do is not taken for them.
  @Test func aBranchOfTheSameLength() throws {
    let lab = ShippingLab()
    try lab.store().close()
    let copy = try lab.disk.contents(of: ShippingLab.storePath)
    func branch(_ seed: UInt64, _ ids: String...) throws -> Store {
      try lab.disk.put(copy, at: ShippingLab.storePath)
      let store = try lab.store(seed: seed)
      for id in ids { try store.note(id) }
      return store
    }
    let first = try branch(2, "1", "2")
    let lost = try canonical(first, at: 3)
    try lab.ship()
    try first.note("3")
    try lab.ship()
    let ends = try lab.disk.contents(of: ShippingLab.storePath).frames().map(\.end)
    try first.close()
    let second = try branch(3, "4", "5", "6", "7")
    let others = try lab.disk.contents(of: ShippingLab.storePath).frames().map(\.end)
    #expect(others.starts(with: ends), "the frames lie elsewhere")
    #expect(try lab.ship().newBase == .branched)
    try requireAll(lab, as: second)
    // A token tells which of the two is meant.
    let token = try #require(Token(String(lost.prefix { $0 != "\n" })))
    defer { try? lab.disk.remove("/restored.annals") }
    _ = try Store.restore(
      from: lab.folder, to: "/restored.annals", in: lab.disk,
      at: { try RestoredPoint(token, in: $0) })
    let restored = try Store(
      StoreLocation(fileSystem: lab.disk, path: "/restored.annals"), creates: false,
      options: .readOnly)
    #expect(try canonical(restored, at: 3) == lost)
  }
}
