import AnnalsFormat
import AnnalsModel

// The keys of reference indexes: the row that is referred to, less 1, in five bytes, and the row
// that refers to it. A row has one for each object that it refers to, rising.

extension IndexKeys {
  /// How many bytes each key has.
  static let referenceLength = 2 * IndexEntries.rowLength

  /// Appends the keys of a row that lives, whose references are in a slot of the leaf; nothing if
  /// it has none.
  func appendReferenceKeys(
    _ row: Int64, _ leaf: Leaf?, _ slot: Int, to bytes: inout ContiguousArray<UInt8>
  ) -> KeyPresence {
    guard let leaf else { return .none }
    let cell = leaf.cell(slot)
    switch cell.tag {
    case .object:
      bytes.append(row: Int64(bitPattern: cell.bits))
      bytes.append(row: row)
    case .objects:
      var last: Int64 = 0
      let targets = ObjectReference.list(in: cell.bytes(in: leaf.arenaBytes)).map(\.row)
      for target in targets.sorted() where target != last {
        bytes.append(row: target)
        bytes.append(row: row)
        last = target
      }
    default: return .none
    }
    return .key
  }
}

extension IndexEntries {
  /// Ends the entry, or the entries, of a row whose keys were appended to `bytes` from `start` on.
  @inline(__always)
  mutating func endEntries(row: Int64, from start: Int, of keys: IndexKeys) {
    guard let length = keys.lengthOfMany else { return endEntry(row: row) }
    for end in stride(from: start + length, through: bytes.count, by: length) {
      ends.append(UInt32(end))
      rows.append(row)
    }
  }

  /// Appends the keys of a row that are in `some` and not in `others`; both are joined keys of this
  /// length, rising.
  mutating func append(
    _ some: ArraySlice<UInt8>, besides others: ArraySlice<UInt8>, length: Int, row: Int64
  ) {
    some.withUnsafeBytes { some in
      others.withUnsafeBytes { others in
        var place = 0
        for start in stride(from: 0, to: some.count, by: length) {
          let key = UnsafeRawBufferPointer(rebasing: some[start..<start + length])
          var order = KeyOrder.after
          while place < others.count {
            order = compare(
              key, held: UnsafeRawBufferPointer(rebasing: others[place..<place + length]))
            guard order == .after else { break }
            place += length
          }
          if order != .matches { append(key, row: row) }
        }
      }
    }
  }
}

extension IndexView {
  /// The rows that refer to the object in this row, rising. Of the index of a relationship. O(log
  /// n) and the rows found.
  package func referrers(to row: Int64) throws(StateFault) -> [Int64] {
    try rows(in: try places(referringTo: row), isBackward: false, reversesTies: false)
  }

  /// How many rows refer to the object in this row. O(log n).
  package func countOfReferrers(to row: Int64) throws(StateFault) -> Int {
    try places(referringTo: row).count
  }

  private func places(referringTo row: Int64) throws(StateFault) -> Range<Int> {
    var key: ContiguousArray<UInt8> = []
    key.append(row: row)
    return try places(of: key)
  }
}
