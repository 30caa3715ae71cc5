import AnnalsModel
import AnnalsState

/// Reads the bytes of a large value; nil if they are lost.
package typealias LargeBytes = @Sendable (LargeValue) throws -> ContiguousArray<UInt8>?

/// The order of an entity's rows by sort keys, in one state.
///
/// Each row has a word: eight bytes that give its order by the first key. More of a row is read
/// only if words are equal. A value like the state: it reads the objects as they were when it was
/// made.
package struct RowOrder: Sendable {
  let keys: ContiguousArray<OrderKey>
  /// Whether equal rows come in falling order.
  package let areTiesDescending: Bool
  private(set) var table: TableView?
  /// The order of records, which counts behind the first keys; nil for none.
  let records: RecordOrder?
  /// Reads large values.
  private(set) var bytes: LargeBytes
  /// Of the first key, the word of no value, and what is flipped in words.
  private let wordOfNil: UInt64
  private let flipped: UInt64
  /// Whether there is but one key, or none.
  private let isSingle: Bool

  /// Creates the order. Throws if the entity has no such path.
  package init(
    _ keys: [SortKey], areTiesDescending: Bool, of entity: EntityNumber, in state: State,
    records: RecordWork? = nil, behind place: Int = 0, _ bytes: @escaping LargeBytes
  ) throws(StateFault) {
    var bound: ContiguousArray<OrderKey> = []
    for key in keys { bound.append(try OrderKey(key, of: entity, in: state)) }
    self.keys = bound
    self.bytes = bytes
    wordOfNil = bound.first?.wordOfNil ?? 0
    flipped = bound.first?.key.isDescending == true ? .max : 0
    self.records = records?.order.map {
      RecordOrder($0, in: state, behind: min(place, bound.count))
    }
    isSingle = bound.count < 2 && self.records == nil
    self.areTiesDescending = areTiesDescending
    table = state.table(entity)
  }

  /// The order in another state of the same schema, without records; nil if it must be bound anew.
  /// O(keys).
  func rebound(to state: State, _ bytes: @escaping LargeBytes) -> RowOrder? {
    guard let table, let newer = state.table(table.entity),
      keys.allSatisfy({ $0.path.isBound(to: newer) })
    else { return nil }
    var copy = self
    copy.table = newer
    copy.bytes = bytes
    return copy
  }

  /// Calls `body` with the values of a row.
  @inline(__always)
  func withValues<T>(
    of row: Int64, _ body: (RowView) throws(StateFault) -> T
  ) throws(StateFault) -> T {
    let block = table?.block(of: row) ?? .none
    defer { withExtendedLifetime(block) {} }
    return try body(block.view(of: row) ?? .empty)
  }

  /// The word of a row by the first key; 0 where there is none, or where records count more.
  package func word(of row: Int64) throws(StateFault) -> UInt64 {
    try word(of: row, in: table?.block(of: row) ?? .none)
  }

  /// As `word(of:)`, of a row in a block.
  @inline(__always)
  func word(of row: Int64, in block: RowBlock) throws(StateFault) -> UInt64 {
    guard let key = keys.first, records?.place != 0 else { return 0 }
    defer { withExtendedLifetime(block) {} }
    return try key.word(row, block.view(of: row) ?? .empty, bytes)
  }

  /// Whether rows with this word have equal values of the first key.
  @inline(__always)
  package func isExact(_ word: UInt64) -> Bool {
    word == wordOfNil || ListedValues.isPlace(word) || KeyWord.isExact(word ^ flipped)
  }

  /// Whether rows with these words have equal values of all keys; nil if the words do not say.
  @inline(__always)
  func haveEqualKeys(_ a: UInt64, _ b: UInt64) -> Bool? {
    if a != b { return false }
    return isSingle && isExact(a) ? true : nil
  }

  /// Compares two rows by the keys from `first` on, and then by number.
  package func outcome(
    _ a: Int64, _ b: Int64, from first: Int = 0
  ) throws(StateFault) -> Outcome {
    let outcome = try outcome(a, b, in: self, from: first)
    return outcome == .equal ? ties(a, b) : outcome
  }

  /// Compares a row here with a row in the same order of another state by the keys from `first` on.
  func outcome(
    _ a: Int64, _ b: Int64, in other: RowOrder, from first: Int
  ) throws(StateFault) -> Outcome {
    let place = records?.place ?? keys.count
    if first < place {
      let outcome = try keyOutcome(a, b, in: other, first..<place)
      guard outcome == .equal else { return outcome }
    }
    guard let records else { return .equal }
    let outcome = try records.outcome(a, b, in: other.records ?? records)
    guard outcome == .equal else { return outcome }
    return try keyOutcome(a, b, in: other, place..<keys.count)
  }

  /// Compares rows that are equal in all keys.
  @inline(__always)
  package func ties(_ a: Int64, _ b: Int64) -> Outcome {
    areTiesDescending ? .of(b, a) : .of(a, b)
  }

  /// Compares a row here with a row in the same order of another state by some of the keys.
  func keyOutcome(
    _ a: Int64, _ b: Int64, in other: RowOrder, _ range: Range<Int>
  ) throws(StateFault) -> Outcome {
    try withValues(of: a) { (viewA) throws(StateFault) in
      try other.withValues(of: b) { (viewB) throws(StateFault) in
        for index in range {
          let key = keys[index]
          var outcome = Outcome.equal
          try key.path.read(a, viewA) { (cellA, arenaA) throws(StateFault) in
            try other.keys[index].path.read(b, viewB) { (cellB, arenaB) throws(StateFault) in
              outcome = try key.outcome(cellA, arenaA, cellB, arenaB, bytes, other.bytes)
            }
          }
          guard outcome == .equal else { return outcome }
        }
        return .equal
      }
    }
  }
}
