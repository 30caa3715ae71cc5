import AnnalsModel

/// Encodes and decodes lists of numbers in chunks: each is a section that holds an integer run.
///
/// FORMAT.md, "Integer runs".
enum NumberList {
  /// Appends a list; an empty one takes no bytes.
  static func append(
    _ numbers: ContiguousArray<UInt64>, to output: inout ContiguousArray<UInt8>,
    deflate: inout Deflate
  ) {
    guard !numbers.isEmpty else { return }
    numbers.withUnsafeBufferPointer { numbers in
      numbers.withMemoryRebound(to: Int64.self) {
        append(Run($0), to: &output, deflate: &deflate)
      }
    }
  }

  private static func append(
    _ run: Run, to output: inout ContiguousArray<UInt8>, deflate: inout Deflate
  ) {
    let narrow = run.length(width: run.width)
    if narrow >= 32 {
      // Whole bytes deflate better than bits that cross them.
      let bytes = run.encoded(width: (run.width + 7) & ~7)
      var deflated: ContiguousArray<UInt8> = []
      let isSmaller = bytes.withUnsafeBytes {
        ChunkSection.isPromising($0, deflate: &deflate)
          && deflate.compress($0, into: &deflated, limit: narrow - (narrow + 9) / 10)
      }
      if isSmaller {
        SectionHeader(length: bytes.count, compression: .deflate).append(to: &output)
        deflated.withUnsafeBytes { output.append(sized: $0) }
        return
      }
    }
    let bytes = run.encoded(width: run.width)
    SectionHeader(length: bytes.count, compression: .none).append(to: &output)
    output.append(contentsOf: bytes)
  }

  /// Reads a list of `count` numbers.
  static func read(
    _ reader: inout ByteReader, count: Int, inflate: inout Inflate
  ) throws(DecodeFault) -> ContiguousArray<UInt64> {
    guard count > 0 else { return [] }
    let limit = IntegerColumn.greatestLength(count: count)
    let section = try ChunkSection.read(&reader, limit: limit, inflate: &inflate)
    return try section.withBytes { bytes throws(DecodeFault) in
      try ContiguousArray(count: count) { room throws(DecodeFault) in
        var reader = ByteReader(bytes)
        room.initialize(repeating: 0)
        try room.withMemoryRebound(to: Int64.self) { room throws(DecodeFault) in
          try IntegerColumn.decode(&reader, into: room)
        }
        try reader.expectEnd()
        return count
      }
    }
  }

  /// The numbers as they are or their differences, whichever take fewer bits.
  private struct Run {
    private let first: Int64
    /// What is packed: the numbers, or the differences between them.
    private let packed: ContiguousArray<Int64>
    private let isDifferences: Bool
    private let base: Int64
    let width: Int

    init(_ numbers: UnsafeBufferPointer<Int64>) {
      first = numbers[0]
      let whole = ContiguousArray(numbers)
      let differences = ContiguousArray(
        zip(numbers.dropFirst(), numbers).map { $0 &- $1 })
      let (low, high) = Run.range(whole)
      let (lowDifference, highDifference) = Run.range(differences)
      let width = BitPacking.width(of: UInt64(bitPattern: high &- low))
      let distance = UInt64(bitPattern: highDifference &- lowDifference)
      // A single number has no difference; it is written as it is.
      isDifferences = !differences.isEmpty && BitPacking.width(of: distance) < width
      packed = isDifferences ? differences : whole
      base = isDifferences ? lowDifference : low
      self.width = isDifferences ? BitPacking.width(of: distance) : width
    }

    private static func range(_ numbers: ContiguousArray<Int64>) -> (Int64, Int64) {
      var low = numbers.first ?? 0
      var high = low
      for number in numbers {
        low = min(low, number)
        high = max(high, number)
      }
      return (low, high)
    }

    /// How many bytes the numbers themselves take.
    func length(width: Int) -> Int { BitPacking.byteCount(packed.count, width: width) }

    func encoded(width: Int) -> ContiguousArray<UInt8> {
      var bytes: ContiguousArray<UInt8> = []
      let layout: IntegerColumn.Layout = isDifferences ? .packedDeltas : .packed
      bytes.append(layout.rawValue)
      if isDifferences { bytes.append(zigzag: first) }
      bytes.append(zigzag: base)
      bytes.append(UInt8(width))
      packed.withUnsafeBufferPointer {
        BitPacking.pack($0, base: base, width: width, into: &bytes)
      }
      return bytes
    }
  }
}
