/// Estimates from a sample whether deflate would gain: it costs as much on random bytes as on text,
/// and most columns of identifiers and coordinates are random.
enum Compressibility {
  /// Nothing would be gained.
  case nothing
  /// Some bytes are more frequent than others, without repeats.
  case frequencies
  /// Some groups of bytes come again; or there is too little to tell.
  case repeats

  /// Runs shorter than this are not sampled but tried.
  private static let sampleFrom = 512
  private static let sampleLength = 1024

  /// What deflate would gain by.
  static func guess(_ bytes: UnsafeRawBufferPointer) -> Compressibility {
    guard bytes.count >= sampleFrom else { return .repeats }
    let length = min(bytes.count, sampleLength) / 2
    let quarter = bytes.count / 4
    return withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 1280) { memory in
      memory.initialize(repeating: 0)
      let counts = UnsafeMutableBufferPointer(rebasing: memory[..<256])
      let groups = UnsafeMutableBufferPointer(rebasing: memory[256...])
      var repeats = 0
      for start in [quarter, min(quarter * 3, bytes.count - length)] {
        for offset in start..<start + length {
          counts[Int(bytes[offset])] += 1
          guard offset + 4 <= bytes.count else { continue }
          let group = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self) | 1
          let slot = Int((group &* 2_654_435_761) >> 22)
          if groups[slot] == group { repeats += 1 }
          groups[slot] = group
        }
      }
      if repeats * 16 > length { return .repeats }
      guard isUneven(counts, total: length * 2) else { return .nothing }
      return repeats * 64 > length ? .repeats : .frequencies
    }
  }

  /// Whether an order-0 code of bytes with these counts saves an eighth.
  private static func isUneven(_ counts: UnsafeMutableBufferPointer<UInt32>, total: Int) -> Bool {
    // The sum of count * log2(total / count), in bits; 256 values of a sample of random bytes
    // come to about 7.8 bits each.
    var bits = 0
    let whole = scaledLogarithm(UInt32(total))
    for count in counts where count > 0 { bits += Int(count) * (whole - scaledLogarithm(count)) }
    return bits < total * 7 * 256
  }

  /// The base-2 logarithm times 256, interpolated between powers of two: a tenth of a bit is near
  /// enough here.
  private static func scaledLogarithm(_ value: UInt32) -> Int {
    let exponent = 31 - value.leadingZeroBitCount
    let fraction = ((UInt64(value) << 8) >> UInt64(exponent)) & 255
    return exponent * 256 + Int(fraction)
  }
}
