import AnnalsFormat
import AnnalsModel

/// The entries of a leaf: as `IndexEntries`, but where all keys are equally long, as those of
/// numbers and dates are, nothing says where each ends; and the rows of whole keys are only at
/// their ends. So an entry of a date takes 14 bytes, and one of a reference 10.
struct LeafEntries: Sendable {
  /// How many entries there are.
  private(set) var count: Int
  /// The bytes of the keys, joined.
  private(set) var bytes: ContiguousArray<UInt8>
  /// The rows; empty where the keys end with them.
  private var rows: ContiguousArray<Int64>
  /// Where each key ends in `bytes`; empty where all are equally long.
  private var ends: ContiguousArray<UInt32>
  /// How long each key is, where all are equally long; otherwise 0.
  private(set) var length: Int
  /// Whether keys are whole, and so end with the row.
  private let isWhole: Bool

  init(_ entries: IndexEntries, form: IndexForm) {
    count = entries.count
    bytes = entries.bytes
    isWhole = form == .whole
    rows = isWhole ? [] : entries.rows
    let length = Int(entries.ends.first ?? 0)
    var end: UInt32 = 0
    let isEven = entries.ends.allSatisfy {
      end &+= UInt32(length)
      return $0 == end
    }
    self.length = isEven ? length : 0
    ends = isEven && length > 0 ? [] : entries.ends
  }

  /// The same with the ends of the keys.
  var whole: IndexEntries {
    var result = IndexEntries()
    result.bytes = bytes
    result.rows.reserveCapacity(count)
    forEachRow(0..<count) { result.rows.append($0) }
    result.ends = ends
    if length > 0 { result.ends = evenEnds }
    return result
  }

  private var evenEnds: ContiguousArray<UInt32> {
    ContiguousArray(unsafeUninitializedCapacity: count) { ends, filled in
      for index in 0..<count {
        ends.initializeElement(at: index, to: UInt32(truncatingIfNeeded: (index + 1) &* length))
      }
      filled = count
    }
  }

  /// The bytes of an entry's key within `bytes`.
  @inline(__always)
  func range(_ index: Int) -> Range<Int> {
    if length > 0 { return index * length..<(index + 1) * length }
    return (index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index])
  }

  /// The row of an entry.
  @inline(__always)
  func row(_ index: Int) -> Int64 {
    isWhole ? bytes.withUnsafeBytes { $0.row(before: range(index).upperBound) } : rows[index]
  }

  /// Calls `body` with the rows of some entries, in order.
  @inline(__always)
  func forEachRow(_ some: Range<Int>, _ body: (Int64) -> Void) {
    if some.isEmpty { return }
    guard isWhole else { return rows[some].forEach(body) }
    bytes.withUnsafeBytes { bytes in
      if length == 0 { return some.forEach { body(bytes.row(before: Int(ends[$0]))) } }
      let first = (some.lowerBound + 1) * length
      for end in stride(from: first, through: some.upperBound * length, by: length) {
        body(bytes.row(before: end))
      }
    }
  }

  /// Appends the rows of some entries, in order.
  func appendRows(_ some: Range<Int>, to result: inout [Int64]) {
    guard isWhole else { return result.append(contentsOf: rows[some]) }
    result.reserveCapacity(result.count + some.count)
    forEachRow(some) { result.append($0) }
  }

  /// Whether any key has more than so many bytes. O(1) where all are equally long.
  func hasKey(longerThan limit: Int) -> Bool {
    if length > 0 { return length > limit }
    return bytes.count > limit && (0..<count).contains { range($0).count > limit }
  }

  /// The entry whose held bytes begin the key, or else the one that the key would stand before.
  func place(of key: UnsafeRawBufferPointer) -> (index: Int, isHeld: Bool) {
    bytes.withUnsafeBytes { all in
      var (low, high) = length >= 8 ? undecided(of: key, in: all) : (0, count)
      while low < high {
        let middle = (low + high) / 2
        let held = UnsafeRawBufferPointer(rebasing: all[range(middle)])
        switch compare(key, held: held) {
        case .matches: return (middle, true)
        case .before: high = middle
        case .after: low = middle + 1
        }
      }
      return (low, false)
    }
  }

  /// Before which entries a key may stand, or be one of them: by the eight bytes behind those that
  /// all have in common, which mostly decide. For keys that are equally long.
  @inline(__always)
  private func undecided(
    of key: UnsafeRawBufferPointer, in all: UnsafeRawBufferPointer
  ) -> (low: Int, high: Int) {
    guard count > 0 else { return (0, 0) }
    let first = UnsafeRawBufferPointer(rebasing: all[..<length])
    let last = UnsafeRawBufferPointer(rebasing: all[range(count - 1)])
    let shared = min(sharedLength(first, last), length - 8)
    if key.count < shared { return (0, count) }
    switch compare(
      UnsafeRawBufferPointer(rebasing: key[..<shared]),
      held: UnsafeRawBufferPointer(rebasing: first[..<shared]))
    {
    case .before: return (0, 0)
    case .after: return (count, count)
    case .matches: break
    }
    let head = UnsafeRawBufferPointer(rebasing: key[shared...]).head
    let low = firstPlace(ofHead: head, at: shared, in: all)
    var high = low
    while high < count, self.head(of: high, at: shared, in: all) == head { high += 1 }
    return (low, high)
  }

  /// The first entry whose eight bytes at an offset are not below these.
  ///
  /// Looks first where it would be if they rose evenly, since a search by halves touches memory all
  /// over the leaf, and most leaves are not in the processor's cache.
  @inline(__always)
  private func firstPlace(
    ofHead head: UInt64, at offset: Int, in all: UnsafeRawBufferPointer
  ) -> Int {
    func isBelow(_ index: Int) -> Bool { self.head(of: index, at: offset, in: all) < head }
    let first = self.head(of: 0, at: offset, in: all)
    let last = self.head(of: count - 1, at: offset, in: all)
    if head <= first { return 0 }
    if head > last { return count }
    // Those before `low` are below, and the one at `high` is not.
    var (low, high) = (1, count - 1)
    let share = Double(head - first) / Double(last - first)
    let guess = min(max(Int(share * Double(high)), low), high)
    var step = 4
    if isBelow(guess) {
      low = guess + 1
      while low + step < high, isBelow(low + step) {
        low += step + 1
        step *= 4
      }
      high = min(high, low + step)
    } else {
      high = guess
      while high - step > low, !isBelow(high - step) {
        high -= step
        step *= 4
      }
      low = max(low, high - step)
    }
    while low < high {
      let middle = (low + high) / 2
      if isBelow(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Eight bytes of an entry as a number that orders as they do.
  @inline(__always)
  private func head(of index: Int, at offset: Int, in all: UnsafeRawBufferPointer) -> UInt64 {
    all.loadUnaligned(fromByteOffset: index * length + offset, as: UInt64.self).bigEndian
  }

  /// The entry whose held bytes begin the key.
  func find(_ key: UnsafeRawBufferPointer) -> Int? {
    let place = place(of: key)
    return place.isHeld ? place.index : nil
  }

  /// Removes one entry.
  mutating func remove(_ index: Int) {
    let range = range(index)
    count -= 1
    bytes.close(range, spare: LeafEntries.spareCount * range.count)
    if !isWhole { rows.close(at: index, spare: LeafEntries.spareCount) }
    if length > 0 { return }
    ends.close(at: index, spare: LeafEntries.spareCount)
    for other in index..<ends.count { ends[other] -= UInt32(range.count) }
  }

  /// Inserts another entry before the one at this index. A whole key ends with the row.
  mutating func insert(_ key: UnsafeRawBufferPointer, row: Int64, at index: Int) {
    if length > 0, key.count != length {
      ends = evenEnds
      length = 0
    }
    let start = index == 0 ? 0 : range(index - 1).upperBound
    key.withMemoryRebound(to: UInt8.self) {
      bytes.insert($0, at: start, spare: LeafEntries.spareCount * key.count)
    }
    if !isWhole { rows.insert(row, at: index, spare: LeafEntries.spareCount) }
    count += 1
    if length > 0 { return }
    ends.insert(UInt32(start), at: index, spare: LeafEntries.spareCount)
    for other in index..<ends.count { ends[other] += UInt32(key.count) }
  }

  /// For how many more entries a leaf that grows gets memory.
  private static let spareCount = 16
}

extension UnsafeRawBufferPointer {
  /// The row that a whole key ends with, whose bytes end here.
  @inline(__always)
  fileprivate func row(before end: Int) -> Int64 {
    let head = loadUnaligned(fromByteOffset: end - IndexEntries.rowLength, as: UInt32.self)
    return (Int64(head.bigEndian) << 8 | Int64(self[end - 1])) + 1
  }
}
