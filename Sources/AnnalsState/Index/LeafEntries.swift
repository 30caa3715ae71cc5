import AnnalsFormat
import AnnalsModel

/// The entries of a leaf: as `IndexEntries`, but where all keys are equally long, as those of
/// numbers and dates are, nothing says where each ends. So an entry of a date takes 22 bytes.
struct LeafEntries: Sendable {
  /// The bytes of the keys, joined.
  private(set) var bytes: ContiguousArray<UInt8>
  private(set) var rows: ContiguousArray<Int64>
  /// Where each key ends in `bytes`; empty where all are equally long.
  private var ends: ContiguousArray<UInt32>
  /// How long each key is, where all are equally long; otherwise 0.
  private(set) var length: Int

  /// How many entries there are.
  var count: Int { rows.count }

  init(_ entries: IndexEntries) {
    bytes = entries.bytes
    rows = entries.rows
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
    result.rows = rows
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
    bytes.close(range, spare: LeafEntries.spareCount * range.count)
    rows.close(at: index, spare: LeafEntries.spareCount)
    if length > 0 { return }
    ends.close(at: index, spare: LeafEntries.spareCount)
    for other in index..<ends.count { ends[other] -= UInt32(range.count) }
  }

  /// Inserts another entry before the one at this index.
  mutating func insert(_ key: UnsafeRawBufferPointer, row: Int64, at index: Int) {
    if length > 0, key.count != length {
      ends = evenEnds
      length = 0
    }
    let start = index == 0 ? 0 : range(index - 1).upperBound
    key.withMemoryRebound(to: UInt8.self) {
      bytes.insert($0, at: start, spare: LeafEntries.spareCount * key.count)
    }
    rows.insert(row, at: index, spare: LeafEntries.spareCount)
    if length > 0 { return }
    ends.insert(UInt32(start), at: index, spare: LeafEntries.spareCount)
    for other in index..<ends.count { ends[other] += UInt32(key.count) }
  }

  /// For how many more entries a leaf that grows gets memory.
  private static let spareCount = 16
}

extension ContiguousArray where Element: BitwiseCopyable {
  /// Takes some elements out. Keeps no more memory than for twice the others and `spare`.
  fileprivate mutating func close(_ range: Range<Int>, spare: Int) {
    let rest = count - range.upperBound
    withUnsafeMutableBufferPointer { all in
      guard let start = all.baseAddress else { return }
      (start + range.lowerBound).update(from: start + range.upperBound, count: rest)
    }
    removeLast(range.count)
    trim(spare)
  }

  /// As the other form, of one element.
  fileprivate mutating func close(at place: Int, spare: Int) {
    let rest = count - place - 1
    withUnsafeMutableBufferPointer { all in
      guard let start = all.baseAddress else { return }
      (start + place).update(from: start + place + 1, count: rest)
    }
    removeLast()
    trim(spare)
  }

  /// Keeps no more memory than for twice the elements and `spare`.
  private mutating func trim(_ spare: Int) {
    guard capacity > 2 * (count + spare) else { return }
    let all = self
    self = []
    reserveCapacity(all.count)
    append(contentsOf: all)
  }

  /// Puts elements before the one at a place. An array that must grow gets memory for `spare` more,
  /// and not for twice as many.
  fileprivate mutating func insert(
    _ others: UnsafeBufferPointer<Element>, at place: Int, spare: Int
  ) {
    let rest = count - place
    if capacity < count + others.count { reserveCapacity(count + others.count + spare) }
    // They are behind the others until those are moved.
    append(contentsOf: others)
    if rest == 0 { return }
    withUnsafeMutableBufferPointer { all in
      guard let start = all.baseAddress, let new = others.baseAddress else { return }
      (start + place + others.count).update(from: start + place, count: rest)
      (start + place).update(from: new, count: others.count)
    }
  }

  /// Puts an element before the one at a place.
  fileprivate mutating func insert(_ other: Element, at place: Int, spare: Int) {
    let rest = count - place
    if capacity == count { reserveCapacity(count + 1 + spare) }
    append(other)
    if rest == 0 { return }
    withUnsafeMutableBufferPointer { all in
      guard let start = all.baseAddress else { return }
      (start + place + 1).update(from: start + place, count: rest)
      start[place] = other
    }
  }
}
