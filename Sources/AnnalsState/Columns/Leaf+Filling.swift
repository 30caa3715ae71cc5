import AnnalsFormat
import AnnalsModel

// A new leaf is filled by runs: rows without a value are few, and between them values are copied
// together.

extension Leaf {
  /// Puts values of equal width, those from `ordinal` on, at the slots of the rows that have one.
  func place(_ values: UnsafeRawBufferPointer, from ordinal: Int, width: Int) {
    let rows = head.pointee.rows
    let target = UnsafeMutableRawBufferPointer(
      start: words + Leaf.bitWords, count: rows * width)
    if head.pointee.present == rows {
      let all = values[ordinal * width..<(ordinal + rows) * width]
      target.copyMemory(from: UnsafeRawBufferPointer(rebasing: all))
      return
    }
    var next = ordinal * width
    forEachRun { run in
      let length = run.count * width
      let place = UnsafeMutableRawBufferPointer(
        rebasing: target[run.lowerBound * width..<run.lowerBound * width + length])
      place.copyMemory(from: UnsafeRawBufferPointer(rebasing: values[next..<next + length]))
      next += length
    }
  }

  /// Notes where each value's bytes end, of values from `ordinal` on, with tags and what is large.
  func placeEnds(_ values: ColumnValues, from ordinal: Int) {
    let ends = ends
    var end: UInt64 = 0
    var next = ordinal
    var slot = 0
    let isPlain = values.kind != .any && values.large.isEmpty
    values.lengths.withUnsafeBufferPointer { lengths in
      forEachRun { run in
        // Rows without a value end where the one before does.
        while slot < run.lowerBound {
          ends[slot] = UInt32(truncatingIfNeeded: end)
          slot += 1
        }
        for place in run {
          end &+= lengths[next + place - run.lowerBound]
          ends[place] = UInt32(truncatingIfNeeded: end)
        }
        if !isPlain { placeTags(values, from: next, at: run) }
        next += run.count
        slot = run.upperBound
      }
    }
  }

  /// Notes the tags of values from `ordinal` on, and which are large.
  private func placeTags(_ values: ColumnValues, from ordinal: Int, at run: Range<Int>) {
    for (index, slot) in run.enumerated() {
      if values.kind == .any { tags[slot] = values.tags[ordinal + index] }
      if !values.large.isEmpty, values.large[ordinal + index] { setLarge(slot, true) }
    }
  }

  /// Calls `body` with each run of rows that have a value, rising.
  @inline(__always)
  private func forEachRun(_ body: (Range<Int>) -> Void) {
    let rows = head.pointee.rows
    var start = slot(from: 0, isPresent: true)
    while start < rows {
      let end = min(slot(from: start, isPresent: false), rows)
      body(start..<end)
      start = slot(from: end, isPresent: true)
    }
  }

  /// The first slot from this one on that has a value, or that has none; `rowCount` if no slot is
  /// such a one.
  private func slot(from first: Int, isPresent: Bool) -> Int {
    let flipped: UInt64 = isPresent ? 0 : ~0
    var slot = first
    while slot < Leaf.rowCount {
      let rest = (words[slot >> 6] ^ flipped) >> UInt64(slot & 63)
      if rest != 0 { return slot + rest.trailingZeroBitCount }
      slot = slot & ~63 + 64
    }
    return Leaf.rowCount
  }
}
