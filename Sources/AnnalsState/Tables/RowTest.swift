import AnnalsFormat
import AnnalsModel

/// A comparison that a row must pass to be in a partial index, bound to a column.
///
/// Reads no large values: what they are compared with is shorter, or of another kind.
struct RowTest: Sendable {
  /// The position of the column in the table.
  let place: Int
  private let outcomes: Outcome
  /// Nil compares with nil.
  private let operand: Operand?
  /// Whether a row without a value passes.
  private let passesNull: Bool

  init(_ test: IndexShape.Test, place: Int) {
    self.place = place
    outcomes = Outcome(test.comparison)
    operand = Operand(test.value)
    var bytes: ContiguousArray<UInt8> = []
    let cell = ValueCell(test.valueForNull ?? .null, appendingTo: &bytes)
    let (outcomes, operand) = (outcomes, operand)
    passesNull = bytes.withUnsafeBytes { RowTest.passes(cell, in: $0, outcomes, operand) }
  }

  /// Whether the row in a slot of the column's leaf passes; without a leaf it has no value.
  @inline(__always)
  func passes(_ leaf: Leaf?, _ slot: Int) -> Bool {
    guard let leaf else { return passesNull }
    let cell = leaf.cell(slot)
    if cell.isNull { return passesNull }
    return RowTest.passes(cell, in: leaf.arenaBytes, outcomes, operand)
  }

  fileprivate static func passes(
    _ cell: ValueCell, in arena: UnsafeRawBufferPointer, _ outcomes: Outcome, _ operand: Operand?
  ) -> Bool {
    guard let operand else {
      // `!=` is true of a value and nil; `==` of nil and nil.
      return outcomes.contains(cell.isNull ? .equal : .unordered)
    }
    // Nothing is less than nil, or greater, and no short value equals a large one.
    if cell.isNull || cell.isLarge { return outcomes.contains(.unordered) }
    return !operand.outcome(of: cell, in: arena).isDisjoint(with: outcomes)
  }
}

extension IndexShape.Test {
  /// Whether it is true of a value; nil stands for none.
  package func passes(_ value: Value) -> Bool {
    var bytes: ContiguousArray<UInt8> = []
    let cell = ValueCell(value, appendingTo: &bytes)
    return bytes.withUnsafeBytes {
      RowTest.passes(cell, in: $0, Outcome(comparison), Operand(self.value))
    }
  }
}

extension Value {
  /// How this compares with another value in a condition.
  package func compared(with other: Value) -> Outcome {
    guard let operand = Operand(other) else { return .unordered }
    var bytes: ContiguousArray<UInt8> = []
    let cell = ValueCell(self, appendingTo: &bytes)
    return bytes.withUnsafeBytes { operand.outcome(of: cell, in: $0) }
  }
}

extension IndexKeys {
  /// The columns that the tests are of, in a leaf of a group.
  func testLeaves(
    _ leaf: Int, of group: RowGroup
  ) throws(StateFault) -> ContiguousArray<Leaf?> {
    var leaves: ContiguousArray<Leaf?> = []
    for test in tests { leaves.append(try group.leaf(leaf, column: test.place)) }
    return leaves
  }

  /// Whether the index is of a row that lives, whose tested values are in a slot of these leaves.
  @inline(__always)
  func isOfRow(_ leaves: ContiguousArray<Leaf?>, _ slot: Int) -> Bool {
    for index in tests.indices where !tests[index].passes(leaves[index], slot) { return false }
    return true
  }

  /// Whether the index is of a row that lives.
  @inline(__always)
  func isOfRow(at place: RowPosition, in group: RowGroup) throws(StateFault) -> Bool {
    for test in tests where !test.passes(try group.leaf(place.leaf, column: test.place), place.slot)
    {
      return false
    }
    return true
  }
}
