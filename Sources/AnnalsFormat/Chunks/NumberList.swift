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
      numbers.withMemoryRebound(to: Int64.self) { append($0, to: &output, deflate: &deflate) }
    }
  }

  private static func append(
    _ numbers: UnsafeBufferPointer<Int64>, to output: inout ContiguousArray<UInt8>,
    deflate: inout Deflate
  ) {
    let shape = IntegerColumn.Shape(numbers)
    let count = shape.isDelta ? numbers.count - 1 : numbers.count
    let narrow = BitPacking.byteCount(count, width: shape.width)
    var bytes: ContiguousArray<UInt8> = []
    if narrow >= 32 {
      // Whole bytes deflate better than bits that cross them.
      IntegerColumn.encodePacked(numbers, shape, width: (shape.width + 7) & ~7, into: &bytes)
      var deflated: ContiguousArray<UInt8> = []
      let isSmaller = bytes.withUnsafeBytes {
        let guess = ChunkSection.promise(of: $0)
        return guess != .nothing
          && deflate.compress(
            $0, into: &deflated, limit: narrow - (narrow + 9) / 10,
            findsRepeats: guess == .repeats)
      }
      if isSmaller {
        SectionHeader(length: bytes.count, compression: .deflate).append(to: &output)
        deflated.withUnsafeBytes { output.append(sized: $0) }
        return
      }
    }
    bytes.removeAll(keepingCapacity: true)
    IntegerColumn.encodePacked(numbers, shape, width: shape.width, into: &bytes)
    bytes.withUnsafeBytes { ChunkSection.appendRaw($0, to: &output) }
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
}
