/// A run of 64-bit integers whose count is known from elsewhere, in whichever layout is smallest.
///
/// FORMAT.md, "Integer runs".
package enum IntegerColumn {
  /// How a run is laid out. Stored in files: never renumber.
  package enum Layout: UInt8 {
    /// The least value, a width, and the distances from it, bit packed.
    case packed = 0
    /// The first value, the least difference, a width, and the distances from that, bit packed.
    case packedDeltas = 1
    /// Zigzag variable-length integers.
    case variable = 2
    /// The differences from one value to the next, as zigzag variable-length integers.
    case variableDeltas = 3
  }

  /// The greatest count of bytes that a run of so many integers takes.
  static func greatestLength(count: Int) -> Int { count * VarInt.maximumLength + 32 }

  /// Appends the run; an empty one takes no bytes.
  package static func encode(
    _ values: UnsafeBufferPointer<Int64>, into bytes: inout ContiguousArray<UInt8>
  ) {
    guard !values.isEmpty else { return }
    let shape = Shape(values)
    switch shape.bestLayout(values) {
    case .packed, .packedDeltas: encodePacked(values, shape, width: shape.width, into: &bytes)
    case .variable:
      bytes.append(Layout.variable.rawValue)
      for value in values { bytes.append(zigzag: value) }
    case .variableDeltas:
      bytes.append(Layout.variableDeltas.rawValue)
      var previous: Int64 = 0
      for value in values {
        bytes.append(zigzag: value &- previous)
        previous = value
      }
    }
  }

  /// Appends the run bit packed, in at least as many bits each as its shape says.
  static func encodePacked(
    _ values: UnsafeBufferPointer<Int64>, _ shape: Shape, width: Int,
    into bytes: inout ContiguousArray<UInt8>
  ) {
    bytes.append(shape.packedLayout.rawValue)
    if shape.isDelta { bytes.append(zigzag: values[0]) }
    bytes.append(zigzag: shape.base)
    bytes.append(UInt8(width))
    guard shape.isDelta else {
      return BitPacking.pack(values, base: shape.base, width: width, into: &bytes)
    }
    let deltas = UnsafeMutableBufferPointer<Int64>.allocate(capacity: values.count - 1)
    defer { deltas.deallocate() }
    for index in deltas.indices { deltas[index] = values[index + 1] &- values[index] }
    BitPacking.pack(UnsafeBufferPointer(deltas), base: shape.base, width: width, into: &bytes)
  }

  /// What the choice of a layout rests on.
  struct Shape {
    /// Whether the differences take fewer bits than the values. A single value has none.
    let isDelta: Bool
    /// The least of what is packed: of the values, or of the differences.
    let base: Int64
    /// How many bits each takes.
    let width: Int

    init(_ values: UnsafeBufferPointer<Int64>) {
      var (minimum, maximum) = (values[0], values[0])
      var (minimumDelta, maximumDelta) = (Int64.max, Int64.min)
      var previous = values[0]
      for value in values.dropFirst() {
        minimum = min(minimum, value)
        maximum = max(maximum, value)
        let delta = value &- previous
        minimumDelta = min(minimumDelta, delta)
        maximumDelta = max(maximumDelta, delta)
        previous = value
      }
      let width = BitPacking.width(of: UInt64(bitPattern: maximum &- minimum))
      let deltaWidth = BitPacking.width(of: UInt64(bitPattern: maximumDelta &- minimumDelta))
      isDelta = values.count > 1 && deltaWidth < width
      base = isDelta ? minimumDelta : minimum
      self.width = isDelta ? deltaWidth : width
    }

    var packedLayout: Layout { isDelta ? .packedDeltas : .packed }

    func bestLayout(_ values: UnsafeBufferPointer<Int64>) -> Layout {
      if values.count == 1 { return .variable }
      let packed = BitPacking.byteCount(values.count, width: width)
      // A variable-length integer takes a byte at least, so narrow runs need no counting.
      if packed <= values.count { return packedLayout }
      var plain = 0
      var deltas = 0
      var previous: Int64 = 0
      for value in values {
        plain += VarInt.length(VarInt.zigzag(value))
        deltas += VarInt.length(VarInt.zigzag(value &- previous))
        previous = value
      }
      if packed <= min(plain, deltas) { return packedLayout }
      return deltas < plain ? .variableDeltas : .variable
    }
  }

  /// Reads as many integers as `output` has room for.
  package static func decode(
    _ reader: inout ByteReader, into output: UnsafeMutableBufferPointer<Int64>
  ) throws(DecodeFault) {
    guard !output.isEmpty else { return }
    guard let layout = Layout(rawValue: try reader.readUInt8()) else {
      throw reader.newer("a layout of integers")
    }
    switch layout {
    case .packed:
      let base = try reader.readZigzag()
      try unpack(&reader, base: base, into: output)
    case .packedDeltas:
      output[0] = try reader.readZigzag()
      let base = try reader.readZigzag()
      try unpack(&reader, base: base, into: UnsafeMutableBufferPointer(rebasing: output[1...]))
      for index in output.indices.dropFirst() { output[index] &+= output[index - 1] }
    case .variable:
      for index in output.indices { output[index] = try reader.readZigzag() }
    case .variableDeltas:
      var previous: Int64 = 0
      for index in output.indices {
        previous &+= try reader.readZigzag()
        output[index] = previous
      }
    }
  }

  private static func unpack(
    _ reader: inout ByteReader, base: Int64, into output: UnsafeMutableBufferPointer<Int64>
  ) throws(DecodeFault) {
    let width = Int(try reader.readUInt8())
    guard width <= 64 else { throw reader.invalid("a width of more than 64 bits") }
    let length = BitPacking.byteCount(output.count, width: width)
    let packed = try reader.readBytes(length)
    let used = (output.count * width) % 8
    if used != 0, let last = packed.last, last >> UInt8(used) != 0 {
      throw reader.invalid("packed integers with bits after the last")
    }
    BitPacking.unpack(packed, base: base, width: width, into: output)
  }
}
