import AnnalsFormat
import AnnalsModel

// Scans all objects, a block of 256 rows at a time. Each test receives rows as bits, and divides
// them into those that go on if it is true and if it is false. Every test goes on to one with a
// smaller index, so one pass from the last to the first is enough.

extension BoundCondition {
  /// Calls `body` with the rows that meet the condition, rising, while it returns true. O(rows).
  package func forEachRow(_ body: (Int64) -> Bool) throws(StateFault) {
    if constant == false { return }
    var scan = BlockScan(self)
    var next = table.groups.nextIndex(from: 0)
    while let index = next {
      next = table.groups.nextIndex(from: index + 1)
      guard let group = table.groups.group(index) else { continue }
      let live = try group.liveWords()
      guard !live.isEmpty else { continue }
      for leaf in 0..<RowPosition.leafCount {
        var rows = RowBits(live, leaf: leaf)
        if rows.isEmpty { continue }
        let first = RowPosition.firstRow(ofGroup: index) + Int64(leaf * Leaf.rowCount)
        if entry >= 0 { rows = try scan.accepted(rows, leaf, of: group, firstRow: first) }
        guard rows.forEach({ body(first + Int64($0)) }) else { return }
      }
    }
  }
}

/// Evaluates a condition on one block of rows after the other.
private struct BlockScan {
  private let condition: BoundCondition
  /// For each test the column range that can be tested quickly; nil for none.
  private let ranges: ContiguousArray<WordRange?>
  /// The rows waiting for each test.
  private var waiting: ContiguousArray<RowBits>
  private var scratch: ContiguousArray<UInt8> = []

  init(_ condition: BoundCondition) {
    self.condition = condition
    ranges = ContiguousArray(condition.steps.map { WordRange($0) })
    waiting = ContiguousArray(repeating: RowBits(), count: condition.steps.count)
  }

  /// The rows among these that meet the condition.
  mutating func accepted(
    _ rows: RowBits, _ leaf: Int, of group: RowGroup, firstRow: Int64
  ) throws(StateFault) -> RowBits {
    var accepted = RowBits()
    waiting[condition.entry] = rows
    try group.withBlock(leaf) { (leaves, stored) throws(StateFault) in
      let block = RowView(leaves: leaves, stored: stored, leaf: leaf, slot: 0)
      for place in stride(from: condition.entry, through: 0, by: -1) {
        let rows = waiting[place]
        if rows.isEmpty { continue }
        waiting[place] = RowBits()
        let held = try held(place, rows, block, firstRow)
        let next = condition.steps[place].next
        pass(held, to: next.ifTrue, &accepted)
        pass(rows.subtracting(held), to: next.ifFalse, &accepted)
      }
    }
    return accepted
  }

  private mutating func pass(_ rows: RowBits, to place: Int, _ accepted: inout RowBits) {
    if place >= 0 {
      waiting[place].formUnion(rows)
    } else if place == BoundCondition.accepted {
      accepted.formUnion(rows)
    }
  }

  /// The rows among these for which a test is true.
  private mutating func held(
    _ place: Int, _ rows: RowBits, _ block: RowView, _ firstRow: Int64
  ) throws(StateFault) -> RowBits {
    if let range = ranges[place] {
      let leaf = try block.unretainedLeaf(range.column)
      guard let leaf else { return range.holdsOfNull ? rows : RowBits() }
      let quick = leaf._withUnsafeGuaranteedRef { range.held(of: $0, rows) }
      if let quick { return quick }
    }
    var held = RowBits()
    var failure: StateFault?
    let step = condition.steps[place]
    _ = rows.forEach { slot in
      do throws(StateFault) {
        let view = RowView(
          leaves: block.leaves, stored: block.stored, leaf: block.leaf, slot: slot)
        let isHeld = try step.path.withCell(of: firstRow + Int64(slot), view) {
          (cell, arena) throws(StateFault) in
          try condition.holds(step.test, cell, arena, &scratch)
        }
        if isHeld { held.insert(slot) }
        return true
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
    return held
  }
}
