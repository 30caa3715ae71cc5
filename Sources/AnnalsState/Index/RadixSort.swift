/// Sorts by the words; entries with equal words keep their order.
///
/// For many entries ten times faster than comparing them. Cost: O(n), and as much memory again.
@usableFromInline
package func radixSort(_ entries: inout ContiguousArray<(word: UInt64, index: Int)>) {
  guard entries.count > 1 else { return }
  var spare = entries
  entries.withUnsafeMutableBufferPointer { entries in
    spare.withUnsafeMutableBufferPointer { RadixSort.sort(entries, spare: $0) }
  }
}

/// Sorts by the two highest digits in which words differ, least significant first; then what these
/// leave undecided, which mostly are pairs.
private enum RadixSort {
  typealias Entries = UnsafeMutableBufferPointer<(word: UInt64, index: Int)>

  /// Up to this many entries are sorted by insertion.
  private static let fewest = 32
  /// From this many entries on a digit has eleven bits, below it eight.
  private static let many = 4096

  /// Sorts entries; `spare` has room for as many.
  static func sort(_ entries: Entries, spare: Entries) {
    if entries.count <= fewest { return insertionSort(entries) }
    let first = entries[0].word
    var previous = first
    var differing: UInt64 = 0
    var isRising = true
    for entry in entries {
      differing |= entry.word ^ first
      isRising = isRising && previous <= entry.word
      previous = entry.word
    }
    if isRising { return }
    let digit = entries.count < many ? 8 : 11
    let shift = UInt64(max(0, 64 - differing.leadingZeroBitCount - 2 * digit))
    move(entries, to: spare, by: shift, bits: digit)
    move(spare, to: entries, by: shift + UInt64(digit), bits: digit)
    if shift == 0 { return }
    var start = 0
    for end in 1...entries.count
    where end == entries.count || entries[end].word &>> shift != entries[start].word &>> shift {
      if end - start > 1 {
        sort(
          Entries(rebasing: entries[start..<end]), spare: Entries(rebasing: spare[start..<end]))
      }
      start = end
    }
  }

  /// Moves entries to where one digit of their words puts them.
  private static func move(_ entries: Entries, to other: Entries, by shift: UInt64, bits: Int) {
    let mask = 1 << bits - 1
    withUnsafeTemporaryAllocation(of: Int.self, capacity: mask + 2) { starts in
      starts.initialize(repeating: 0)
      for entry in entries {
        starts[Int(truncatingIfNeeded: entry.word &>> shift) & mask + 1] += 1
      }
      for digit in 0..<mask { starts[digit + 1] += starts[digit] }
      for entry in entries {
        let digit = Int(truncatingIfNeeded: entry.word &>> shift) & mask
        other[starts[digit]] = entry
        starts[digit] += 1
      }
    }
  }

  private static func insertionSort(_ entries: Entries) {
    for end in 1..<max(1, entries.count) {
      let entry = entries[end]
      var place = end
      while place > 0, entries[place - 1].word > entry.word {
        entries[place] = entries[place - 1]
        place -= 1
      }
      entries[place] = entry
    }
  }
}

extension ContiguousArray {
  /// Sorts elements by a word of each; those with equal words keep their order. O(n) for many.
  @inlinable
  package mutating func sort(byWord word: (Element) -> UInt64) {
    guard count > 64 else { return sort { word($0) < word($1) } }
    var order: ContiguousArray<(word: UInt64, index: Int)> = []
    order.reserveCapacity(count)
    for (index, element) in enumerated() { order.append((word(element), index)) }
    radixSort(&order)
    let before = self
    self = ContiguousArray(order.lazy.map { before[$0.index] })
  }
}
