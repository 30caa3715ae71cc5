import AnnalsModel

/// Gives equal values the same number, in the order first met.
package struct ValueNumbering: Sendable {
  /// The values, by number.
  package private(set) var values: [Value] = []
  private var cells: ContiguousArray<ValueCell> = []
  private var arena: ContiguousArray<UInt8> = []
  /// By hash: a value's number, or -1. Its count is a power of two.
  private var slots = ContiguousArray<Int32>(repeating: -1, count: 16)

  package init() {}

  /// The number of a value that is not null. O(length).
  package mutating func number(of cell: ValueCell, in bytes: UnsafeRawBufferPointer) -> Int32 {
    if cells.count * 2 >= slots.count { grow() }
    var slot = ValueNumbering.hash(cell, bytes) & (slots.count - 1)
    while slots[slot] >= 0 {
      let number = slots[slot]
      let isSame = arena.withUnsafeBytes {
        ValueCell.areEqual(cells[Int(number)], in: $0, cell, in: bytes)
      }
      if isSame { return number }
      slot = (slot + 1) & (slots.count - 1)
    }
    let number = Int32(values.count)
    let value = cell.value(in: bytes)
    values.append(value)
    cells.append(ValueCell(value, appendingTo: &arena))
    slots[slot] = number
    return number
  }

  private mutating func grow() {
    slots = ContiguousArray(repeating: -1, count: slots.count * 2)
    arena.withUnsafeBytes { bytes in
      for (number, cell) in cells.enumerated() {
        var slot = ValueNumbering.hash(cell, bytes) & (slots.count - 1)
        while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = Int32(number)
      }
    }
  }

  private static func hash(_ cell: ValueCell, _ bytes: UnsafeRawBufferPointer) -> Int {
    // Seeded anew in each run, so that no chosen values collide.
    var hasher = Hasher()
    hasher.combine(cell.tag)
    hasher.combine(cell.length)
    if cell.usesArena {
      hasher.combine(bytes: cell.bytes(in: bytes))
    } else {
      hasher.combine(cell.bits)
    }
    return hasher.finalize()
  }
}
