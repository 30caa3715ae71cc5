import AnnalsFormat
import AnnalsModel

// What `verify` and tests ask of indexes: whether they hold exactly what the columns say.

extension State {
  /// What is wrong with the indexes, in words. Reads their chunks and the columns that they are of.
  ///
  /// On a state whose changes were not yet checked, it works on a copy that is.
  package func indexViolations() throws(StateFault) -> [String] {
    var result: [String] = []
    var copy = self
    _ = try copy.checkUniqueness()
    for table in copy.tables {
      for index in table.indexes { try table.check(index, &result) }
    }
    return result
  }
}

extension Table {
  /// That an index holds each object that has a key once, in order, and nothing else.
  func check(_ index: TableIndex, _ result: inout [String]) throws(StateFault) {
    let name = "entity \(number), index \(index.shape.number)"
    var slots: [IndexSlot] = []
    index.tree.forEachSlot { slot, _ in slots.append(slot) }
    var count = 0
    var previous: ContiguousArray<UInt8> = []
    var previousHeld: ArraySlice<UInt8> = []
    for slot in slots {
      let node = try slot.node()
      for leaf in node.leaves {
        for entry in 0..<leaf.entries.count {
          let row = leaf.entries.rows[entry]
          var key: ContiguousArray<UInt8> = []
          let presence = try contains(row) ? try appendKey(row, of: index.keys, to: &key) : .none
          count += 1
          let held = leaf.entries.bytes[leaf.entries.range(entry)]
          if let length = index.keys.lengthOfMany { key = key.part(held, length: length) }
          let isRight = index.shape.isUnique ? key.starts(with: held) : key.elementsEqual(held)
          if presence != .key || !isRight {
            result.append("\(name): an entry for row \(row) that does not have that key")
          } else if count > 1, !previous.lexicographicallyPrecedes(key) {
            result.append("\(name): keys out of order at row \(row)")
          }
          let shared = zip(previousHeld, held).prefix { $0 == $1 }.count
          if count > 1, shared == previousHeld.count || shared == held.count {
            result.append("\(name): row \(row) is not told from the one before it")
          }
          previousHeld = held
          let found = try key.withBytes { bytes throws(StateFault) in try index.tree.find(bytes) }
          if found?.row != row { result.append("\(name): row \(row) is not found by its key") }
          previous = key
        }
      }
    }
    if count != index.tree.count {
      result.append("\(name): \(count) entries, not \(index.tree.count)")
    }
    try checkCount(of: index, count, name, &result)
  }

  /// That as many entries are in an index as objects have a key.
  private func checkCount(
    of index: TableIndex, _ count: Int, _ name: String, _ result: inout [String]
  ) throws(StateFault) {
    var keyed = 0
    var cursor = RowCursor(self)
    var key: ContiguousArray<UInt8> = []
    while let row = try cursor.next() {
      key.removeAll(keepingCapacity: true)
      if try appendKey(row, of: index.keys, to: &key) == .key {
        keyed += index.keys.lengthOfMany.map { key.count / $0 } ?? 1
      }
    }
    let placed = keyed - index.unplaced.count { $0.holder != 0 }
    if placed != count { result.append("\(name): \(count) entries for \(placed) keys") }
  }
}

extension ContiguousArray<UInt8> {
  /// The one of the joined keys, of this length each, that is `held`; empty if none is.
  fileprivate func part(_ held: ArraySlice<UInt8>, length: Int) -> ContiguousArray<UInt8> {
    for start in stride(from: 0, to: count, by: length)
    where self[start..<start + length].elementsEqual(held) {
      return ContiguousArray(held)
    }
    return []
  }
}
