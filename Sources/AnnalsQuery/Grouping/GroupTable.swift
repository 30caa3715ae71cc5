import AnnalsModel

/// Numbers distinct values from 0.
struct GroupTable {
  private var cells: ContiguousArray<ValueCell> = []
  private var arena: ContiguousArray<UInt8> = []
  /// A hash table of the values' numbers; -1 for a free slot.
  private var slots = ContiguousArray<Int32>(repeating: -1, count: 64)

  /// How many values there are.
  var count: Int { cells.count }

  /// The value of this number.
  func cell(_ number: Int) -> OwnedCell {
    arena.withUnsafeBufferPointer { OwnedCell(cells[number], in: UnsafeRawBufferPointer($0)) }
  }

  /// The number of a value that is not large; a new one if it is new. The two zeros of doubles are
  /// one value.
  mutating func number(of cell: ValueCell, in bytes: UnsafeRawBufferPointer) -> Int {
    var cell = cell
    if cell.tag == .double, cell.bits == (-0.0).bitPattern { cell.bits = 0 }
    return number(ofSame: cell, in: bytes)
  }

  /// The number of a value; kind and bytes alone decide.
  mutating func number(ofSame cell: ValueCell, in bytes: UnsafeRawBufferPointer) -> Int {
    var slot = place(cell, bytes)
    while slots[slot] >= 0 {
      let number = Int(slots[slot])
      let isSame = arena.withUnsafeBufferPointer {
        ValueCell.areEqual(cells[number], in: UnsafeRawBufferPointer($0), cell, in: bytes)
      }
      if isSame { return number }
      slot = (slot + 1) & (slots.count - 1)
    }
    slots[slot] = Int32(cells.count)
    cells.append(cell.copied(from: bytes, to: &arena))
    if cells.count * 2 > slots.count { grow() }
    return cells.count - 1
  }

  private func place(_ cell: ValueCell, _ bytes: UnsafeRawBufferPointer) -> Int {
    var hasher = Hasher()
    hasher.combine(cell.tag.rawValue)
    if cell.usesArena {
      hasher.combine(bytes: cell.bytes(in: bytes))
    } else {
      hasher.combine(cell.bits)
    }
    return hasher.finalize() & (slots.count - 1)
  }

  private mutating func grow() {
    slots = ContiguousArray(repeating: -1, count: slots.count * 2)
    for number in cells.indices {
      var slot = arena.withUnsafeBufferPointer {
        place(cells[number], UnsafeRawBufferPointer($0))
      }
      while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = Int32(number)
    }
  }
}
