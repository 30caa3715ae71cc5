import AnnalsFormat
import AnnalsModel

// The values of leaves, for a chunk.

extension Leaf {
  /// The values of leaves for a chunk, those of rows outside `offsets` left out; nil if there is
  /// none.
  static func values(
    _ leaves: ContiguousArray<Leaf?>, offsets: Range<Int>
  ) -> ColumnValues? {
    var bits = ContiguousArray<UInt64>(repeating: 0, count: RowPresence.maximumSpan / 64)
    var kind: ColumnKind?
    var target: EntityNumber = 0
    var isMixed = false
    for (index, leaf) in leaves.enumerated() {
      guard let leaf, index * rowCount < offsets.upperBound,
        (index + 1) * rowCount > offsets.lowerBound
      else { continue }
      isMixed =
        isMixed || (kind ?? leaf.head.pointee.kind) != leaf.head.pointee.kind
        || (kind == .object && target != leaf.head.pointee.entity)
      kind = leaf.head.pointee.kind
      target = leaf.head.pointee.kind == .object ? leaf.head.pointee.entity : 0
      leaf.markPresent(firstOffset: index * rowCount, within: offsets, in: &bits)
    }
    let rows = RowPresence(words: bits)
    guard let kind, rows.count > 0 else { return nil }
    var values = ColumnValues(kind: isMixed ? .any : kind, rows: rows)
    values.target = isMixed ? 0 : target
    values.reserve(rows.count)
    for (index, leaf) in leaves.enumerated() {
      guard let leaf else { continue }
      let first = max(0, offsets.lowerBound - index * rowCount)
      let end = min(leaf.head.pointee.rows, offsets.upperBound - index * rowCount)
      guard first < end else { continue }
      let converted = isMixed && leaf.head.pointee.kind != .any ? leaf.convertedToAny() : leaf
      converted.append(first..<end, to: &values)
    }
    if !values.large.contains(true) { values.large = [] }
    return values
  }

  /// Sets the bits of the rows that have a value and lie within `offsets`, from whose beginning
  /// bits are counted; `firstOffset` is the leaf's first.
  private func markPresent(
    firstOffset: Int, within offsets: Range<Int>, in bits: inout ContiguousArray<UInt64>
  ) {
    let first = firstOffset - offsets.lowerBound
    if first >= 0, first & 63 == 0, firstOffset + Leaf.rowCount <= offsets.upperBound {
      for word in 0..<Leaf.bitWords { bits[first >> 6 + word] |= words[word] }
      return
    }
    for slot in 0..<head.pointee.rows where isPresent(slot) {
      guard offsets.contains(firstOffset + slot) else { continue }
      let bit = first + slot
      bits[bit >> 6] |= 1 << UInt64(bit & 63)
    }
  }

  /// Appends the values of these slots.
  private func append(_ slots: Range<Int>, to values: inout ColumnValues) {
    var start = slots.lowerBound
    while let run = presentRun(from: start, to: slots.upperBound) {
      append(run: run, to: &values)
      start = run.upperBound
    }
  }

  /// The next slots that follow one another and have a value.
  private func presentRun(from start: Int, to end: Int) -> Range<Int>? {
    var first = start
    while first < end, !isPresent(first) { first += 1 }
    guard first < end else { return nil }
    var last = first + 1
    while last < end, isPresent(last) { last += 1 }
    return first..<last
  }

  /// Appends the values of slots that all have one: their bytes lie one behind the other.
  private func append(run: Range<Int>, to values: inout ColumnValues) {
    switch head.pointee.storage {
    case .words:
      let first = words + Leaf.bitWords + run.lowerBound
      values.words.append(contentsOf: UnsafeBufferPointer(start: first, count: run.count))
    case .pairs:
      let first = arena + run.lowerBound * 16
      values.bytes.append(contentsOf: UnsafeRawBufferPointer(start: first, count: run.count * 16))
    case .bytes:
      let isAny = head.pointee.kind == .any
      let hasLarge = head.pointee.hasLarge
      let first = span(run.lowerBound).lowerBound
      var start = first
      for slot in run {
        let end = Int(ends[slot])
        values.lengths.append(UInt64(end - start))
        values.large.append(hasLarge && isLarge(slot))
        if isAny { values.tags.append(tags[slot]) }
        start = end
      }
      values.bytes.append(
        contentsOf: UnsafeRawBufferPointer(start: arena + first, count: start - first))
    }
  }
}

extension ColumnValues {
  fileprivate mutating func reserve(_ count: Int) {
    switch kind.storage {
    case .words: words.reserveCapacity(count)
    case .pairs: bytes.reserveCapacity(16 * count)
    case .bytes:
      lengths.reserveCapacity(count)
      large.reserveCapacity(count)
    }
  }
}
