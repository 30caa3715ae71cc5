// Which rows a chunk is about, their count n being known from its header:
//
//   byte     0: the n rows from the chunk's first on
//            1: a section of bits, one a row from the first on, least significant bit first
//            2: a number list of n offsets from the first row, rising
//
// A chunk less than an eighth full is a list. FORMAT.md, "Chunks of state".

/// The rows of a group that a chunk covers: one bit each, from the chunk's first row on.
package struct RowPresence: Equatable, Sendable {
  /// The greatest count of rows that a chunk spans.
  package static let maximumSpan = 4096

  /// 64 words.
  package var words: ContiguousArray<UInt64>
  /// How many bits are set.
  package private(set) var count: Int

  /// The rows whose bits are set in these 64 words.
  package init(words: ContiguousArray<UInt64>) {
    precondition(words.count == RowPresence.maximumSpan / 64)
    self.words = words
    count = words.reduce(0) { $0 + $1.nonzeroBitCount }
  }

  /// One more than the offset of the last row; 0 if there is none.
  package var span: Int {
    guard let last = words.lastIndex(where: { $0 != 0 }) else { return 0 }
    return last * 64 + 64 - words[last].leadingZeroBitCount
  }

  private static let consecutive: UInt8 = 0
  private static let bits: UInt8 = 1
  private static let list: UInt8 = 2

  func encode(into output: inout ContiguousArray<UInt8>, deflate: inout Deflate) {
    let span = self.span
    if span == count {
      output.append(RowPresence.consecutive)
    } else if count < RowPresence.maximumSpan / 8 {
      output.append(RowPresence.list)
      NumberList.append(offsets, to: &output, deflate: &deflate)
    } else {
      output.append(RowPresence.bits)
      var bytes: ContiguousArray<UInt8> = []
      for word in words { bytes.append(fixed: word) }
      bytes.removeSubrange(((span + 7) / 8)...)
      ChunkSection.append(bytes, to: &output, deflate: &deflate)
    }
  }

  init(
    _ reader: inout ByteReader, count: Int, inflate: inout Inflate
  ) throws(DecodeFault) {
    let start = reader.offset
    var words = ContiguousArray<UInt64>(repeating: 0, count: RowPresence.maximumSpan / 64)
    switch try reader.readUInt8() {
    case RowPresence.consecutive:
      for index in 0..<count / 64 { words[index] = ~0 }
      if count & 63 != 0 { words[count / 64] = ~(~0 << UInt64(count & 63)) }
    case RowPresence.bits:
      let bytes = try ChunkSection.read(
        &reader, limit: RowPresence.maximumSpan / 8, inflate: &inflate)
      for (index, byte) in bytes.enumerated() {
        words[index >> 3] |= UInt64(byte) << UInt64(8 * (index & 7))
      }
    case RowPresence.list:
      var previous: UInt64?
      for offset in try NumberList.read(&reader, count: count, inflate: &inflate) {
        guard offset < UInt64(RowPresence.maximumSpan), previous.map({ offset > $0 }) ?? true else {
          throw .invalid(at: start, reason: "rows out of order")
        }
        words[Int(offset >> 6)] |= 1 << (offset & 63)
        previous = offset
      }
    default: throw .newer(at: start, reason: "a form of rows")
    }
    self.init(words: words)
    guard self.count == count else {
      throw .invalid(at: start, reason: "another count of rows than the header says")
    }
  }

  /// The offsets of the rows.
  package var offsets: ContiguousArray<UInt64> {
    var result: ContiguousArray<UInt64> = []
    result.reserveCapacity(count)
    for (index, word) in words.enumerated() {
      var rest = word
      while rest != 0 {
        result.append(UInt64(index * 64 + rest.trailingZeroBitCount))
        rest &= rest - 1
      }
    }
    return result
  }
}
