import AnnalsModel
import AnnalsTestSupport
import Testing

@testable import AnnalsFormat

/// Blocks leave out the values before that an earlier change in them tells, and give them back
/// byte for byte, also where they are not what they should be.
struct ReusedValueTests {
  @Test(arguments: UInt64(1)...40)
  func everyHistoryComesBack(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let chance = [0, 0, 1, 20][Int(seed % 4)]
    let batch = ReusedValueTests.history(&random, transactions: 60, wrongIn100: chance)
    var decoded = ChangeBatch()
    try batch.block().withUnsafeBytes { try BlockCodec.decode($0, into: &decoded) }
    #expect(decoded.description == batch.description, "seed \(seed)")
    #expect(decoded.block() == batch.block(), "seed \(seed)")
    // Beside what the batch holds already.
    try batch.block().withUnsafeBytes { try BlockCodec.decode($0, into: &decoded) }
    #expect(decoded.description == batch.description + batch.description, "seed \(seed)")
  }

  /// Rows far apart are told apart, too.
  @Test func sparseRows() throws {
    var random = SeededRandom(seed: 5)
    let batch = ReusedValueTests.history(&random, transactions: 40, stride: 1 << 30)
    var decoded = ChangeBatch()
    try batch.block().withUnsafeBytes { try BlockCodec.decode($0, into: &decoded) }
    #expect(decoded.description == batch.description)
  }

  /// A value is in a block once, however often it is replaced; unless one before is another.
  @Test func eachValueIsThereOnce() throws {
    func block(wrong: Bool) -> Int {
      var random = SeededRandom(seed: 9)
      var batch = ChangeBatch()
      var value = Value.null
      for number in 1...100 {
        let next = Value.data((0..<64).map { _ in UInt8.random(in: 0...255, using: &random) })
        let before = wrong && number == 50 ? .null : value
        batch.append(number == 1 ? .insert : .update, 1, 7, [(1, before, next)])
        batch.append(
          TransactionRecord(number: Int64(number), timestamp: Timestamp(microseconds: 0)))
        value = next
      }
      return batch.block().count
    }
    #expect((6_400..<6_800).contains(block(wrong: false)))
    #expect((12_700..<13_200).contains(block(wrong: true)))
  }

  /// After a delete that lists it, and for the first change in the block, a value is not known.
  @Test func deletedObjectsTellNothing() throws {
    var batch = ChangeBatch()
    let changes: [(ChangeKind, PropertyValues)] = [
      (.update, (1, .int(1), .int(2))), (.delete, (1, .int(2), .null)),
      (.update, (1, .int(3), .int(4))), (.update, (1, .int(4), .null)),
      (.update, (1, .null, .string("x"))),
    ]
    for (index, (kind, values)) in changes.enumerated() {
      batch.append(kind, 1, 1, [values])
      batch.append(
        TransactionRecord(number: Int64(index + 1), timestamp: Timestamp(microseconds: 0)))
    }
    var decoded = ChangeBatch()
    try batch.block().withUnsafeBytes { try BlockCodec.decode($0, into: &decoded) }
    #expect(decoded.description == batch.description)
  }

  /// What a reader takes for known, rule by rule: a writer and a reader that were wrong alike would
  /// understand each other.
  @Test func sourcesOfValues() {
    // Each is a change of an object; the slots of those that list the property count from 100.
    let changes: [(row: Int64, kind: ChangeKind, isListing: Bool, source: KnownValues.Source?)] = [
      (1, .update, true, .unknown), (2, .insert, true, nil), (1, .update, false, nil),
      (2, .update, true, .slot(101)), (1, .update, true, .slot(100)),
      (1, .delete, true, .slot(104)), (1, .update, true, .unknown), (1, .delete, false, nil),
      (1, .insert, false, nil), (1, .update, true, .null), (3, .insert, false, nil),
      (3, .delete, true, .null), (2, .delete, false, nil), (2, .insert, false, nil),
      (2, .update, true, .null),
    ]
    var rows = changes.map(\.row)
    var found: [KnownValues.Source] = []
    rows.withUnsafeMutableBufferPointer { rows in
      let objects = BlockObjects(rows, from: 1, through: 3)
      var known = KnownValues(objects, kinds: ContiguousArray(changes.map(\.kind)))
      let uses = changes.indices.filter { changes[$0].isListing }
        .map { KnownValues.Use(change: UInt32($0), slot: UInt32($0 + 100)) }
      for _ in 0..<2 {
        found = []
        known.forEach(uses) { found.append($1) }
      }
    }
    #expect(found == changes.filter(\.isListing).compactMap(\.source))
  }

  /// A random history of few objects, whose values before are those that the objects had, but for
  /// some.
  private static func history(
    _ random: inout SeededRandom, transactions: Int, wrongIn100: Int = 0, stride: Int64 = 1
  ) -> ChangeBatch {
    var batch = ChangeBatch()
    var objects: [Int64: [PropertyNumber: Value]] = [:]
    func value() -> Value {
      switch random.next() % 6 {
      case 0: .null
      case 1: .int(Int64(random.next() % 5))
      case 2: .string("text \(random.next() % 9)")
      case 3: .objects([ObjectReference(entity: 1, row: Int64(random.next() % 3 + 1))])
      case 4: .erased
      default: .data([1, UInt8(random.next() % 4)])
      }
    }
    for number in 1...transactions {
      for row in 1...Int64(6) where random.next() % 3 == 0 {
        let row = row * stride
        var values: [PropertyValues] = []
        let kind: ChangeKind
        if let object = objects[row] {
          kind = random.next() % 6 == 0 ? .delete : .update
          for property in PropertyNumber(1)...4 {
            let before = object[property] ?? .null
            let isWrong = random.next() % 100 < UInt64(wrongIn100)
            if kind == .update, random.next() % 2 == 0 {
              let after = value()
              values.append((property, isWrong ? value() : before, after))
              objects[row]?[property] = after
            } else if kind == .delete, before != .null || isWrong {
              values.append((property, isWrong ? value() : before, .null))
            }
          }
          if kind == .delete { objects[row] = nil }
        } else {
          kind = .insert
          objects[row] = [:]
          for property in PropertyNumber(1)...4 where random.next() % 2 == 0 {
            let after = value()
            values.append((property, .null, after))
            objects[row]?[property] = after
          }
        }
        batch.append(kind, 1, row, values)
      }
      batch.append(TransactionRecord(number: Int64(number), timestamp: Timestamp(microseconds: 0)))
    }
    return batch
  }
}
