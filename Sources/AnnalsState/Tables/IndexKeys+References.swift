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
      bytes.append(referenceTo: Int64(bitPattern: cell.bits), from: row)
    case .objects:
      var last: Int64 = 0
      let targets = ObjectReference.list(in: cell.bytes(in: leaf.arenaBytes)).map(\.row)
      for target in targets.sorted() where target != last {
        bytes.append(referenceTo: target, from: row)
        last = target
      }
    default: return .none
    }
    return .key
  }
}

extension ContiguousArray<UInt8> {
  /// Appends the key of a row that refers to another one.
  @inline(__always)
  fileprivate mutating func append(referenceTo target: Int64, from row: Int64) {
    let (first, last) = (UInt64(bitPattern: target &- 1), UInt64(bitPattern: row &- 1))
    // Five bytes of each, in one piece.
    let words = ((first << 24 | (last << 24) >> 40).bigEndian, (last << 48).bigEndian)
    Swift.withUnsafeBytes(of: words) {
      append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[..<10]))
    }
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
    try index.tree.referrers(to: row)
  }

  /// How many rows refer to the object in this row. O(log n).
  package func countOfReferrers(to row: Int64) throws(StateFault) -> Int {
    try index.tree.countOfReferrers(to: row)
  }
}

extension IndexTree {
  func referrers(to row: Int64) throws(StateFault) -> [Int64] {
    try withReferenceKeys(of: row) { (lower, upper) throws(StateFault) in
      try rows(from: lower, before: upper)
    }
  }

  func countOfReferrers(to row: Int64) throws(StateFault) -> Int {
    try withReferenceKeys(of: row) { (lower, upper) throws(StateFault) in
      func count(before key: UnsafeRawBufferPointer) throws(StateFault) -> Int {
        try self.count(before: key) { _ throws(StateFault) in [] }
      }
      guard let upper else { return try self.count - count(before: lower) }
      if let count = try countWithinLeaf(from: lower, before: upper) { return count }
      return try count(before: upper) - count(before: lower)
    }
  }

  /// Calls `body` with bytes before the keys of all that refer to a row, and bytes behind them; nil
  /// behind those of the greatest row.
  private func withReferenceKeys<R>(
    of row: Int64,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer?) throws(StateFault) -> R
  ) throws(StateFault) -> R {
    // The first five of eight bytes are the row less 1.
    let shift = UInt64(64 - 8 * IndexEntries.rowLength)
    let first = UInt64(bitPattern: row &- 1) << shift
    let (behind, isGreatest) = first.addingReportingOverflow(1 << shift)
    return try withUnsafeBytes(of: (first.bigEndian, behind.bigEndian)) {
      (bytes) throws(StateFault) in
      let upper = UnsafeRawBufferPointer(rebasing: bytes[8..<8 + IndexEntries.rowLength])
      return try body(
        UnsafeRawBufferPointer(rebasing: bytes[..<IndexEntries.rowLength]),
        isGreatest ? nil : upper)
    }
  }
}
