/// The parts of an index chunk: of each key how many bytes it shares with the one before, and the
/// bytes that follow these.
struct FrontCodedKeys {
  /// Checked: no key shares more than the one before has.
  let shared: ContiguousArray<UInt64>
  let rest: ContiguousArray<UInt64>
  /// As many bytes as `rest` says.
  let suffixes: ContiguousArray<UInt8>
  let rows: ContiguousArray<UInt64>
  /// How many bytes all keys have.
  let length: Int
  /// Whether each key ends with its row, which is not among the suffixes.
  let endsWithRow: Bool

  /// The entries; nil if keys do not rise, or one is the beginning of the next.
  func entries() -> IndexEntries? {
    let count = rows.count
    var entries = IndexEntries()
    var ends = ContiguousArray<UInt32>()
    ends.reserveCapacity(count)
    // One key alone may have no bytes.
    let size = max(1, length + (endsWithRow ? count * IndexEntries.rowLength : 0))
    entries.bytes = ContiguousArray(unsafeUninitializedCapacity: size) { output, filled in
      guard let output = UnsafeMutableRawPointer(output.baseAddress) else { return }
      filled = suffixes.withUnsafeBytes { suffixes in
        join(suffixes.baseAddress ?? UnsafeRawPointer(output), into: output, &ends)
      }
    }
    guard ends.count == count else { return nil }
    entries.ends = ends
    entries.rows = ContiguousArray(unsafeUninitializedCapacity: count) { output, filled in
      for index in 0..<count {
        output.initializeElement(at: index, to: Int64(bitPattern: rows[index]))
      }
      filled = count
    }
    return entries
  }

  /// Joins the keys as long as they rise; returns how many bytes were written.
  private func join(
    _ suffixes: UnsafeRawPointer, into output: UnsafeMutableRawPointer,
    _ ends: inout ContiguousArray<UInt32>
  ) -> Int {
    var source = suffixes
    var previous = 0..<0
    for index in rows.indices {
      let (common, fresh) = (Int(shared[index]), Int(rest[index]))
      let start = previous.upperBound
      let key = output + start
      if common > 0 { key.copyMemory(from: output + previous.lowerBound, byteCount: common) }
      if fresh > 0 { (key + common).copyMemory(from: source, byteCount: fresh) }
      source += fresh
      var end = start + common + fresh
      if endsWithRow {
        let row = (rows[index] &- 1) << 24
        withUnsafeBytes(of: row.bigEndian) {
          UnsafeMutableRawBufferPointer(start: output + end, count: IndexEntries.rowLength)
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<IndexEntries.rowLength]))
        }
        end += IndexEntries.rowLength
      }
      let bytes = UnsafeRawBufferPointer(start: output, count: end)
      guard index == 0 || rises(from: previous, to: start..<end, sharing: common, in: bytes) else {
        return end
      }
      previous = start..<end
      ends.append(UInt32(truncatingIfNeeded: end))
    }
    return previous.upperBound
  }

  /// Whether a key is after the one before it, and does not begin with it.
  @inline(__always)
  private func rises(
    from previous: Range<Int>, to key: Range<Int>, sharing common: Int,
    in bytes: UnsafeRawBufferPointer
  ) -> Bool {
    var offset = common
    while offset < min(previous.count, key.count) {
      let (before, after) = (bytes[previous.lowerBound + offset], bytes[key.lowerBound + offset])
      if before != after { return before < after }
      offset += 1
    }
    return false
  }
}
