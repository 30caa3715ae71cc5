import AnnalsModel

/// How the bytes of a large value are made from those of its base, an earlier one: steps that
/// append bytes of their own or copy some of the base's.
///
/// FORMAT.md, "Large values".
package enum LargeValueDifference {
  /// The fewest bytes worth copying; what the base is searched by.
  private static let blockLength = 16

  /// The steps that make `bytes` from `base`. O(both).
  package static func encode(
    _ bytes: UnsafeRawBufferPointer, from base: UnsafeRawBufferPointer
  ) -> ContiguousArray<UInt8> {
    let blocks = Blocks(of: base)
    var steps: ContiguousArray<UInt8> = []
    var copied = 0
    var (place, own) = (0, 0)
    while place + blockLength <= bytes.count {
      guard let found = blocks.find(bytes, at: place, near: copied) else {
        place += 1
        continue
      }
      var (from, start) = (found, place)
      while from > 0, start > own, base[from - 1] == bytes[start - 1] {
        from -= 1
        start -= 1
      }
      let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
      let length = SharedPrefix.length(UnsafeRawBufferPointer(rebasing: base[from...]), rest)
      append(UnsafeRawBufferPointer(rebasing: bytes[own..<start]), to: &steps)
      steps.append(varInt: UInt64(length) << 1 | 1)
      steps.append(zigzag: Int64(from - copied))
      copied = from + length
      place = start + length
      own = place
    }
    append(UnsafeRawBufferPointer(rebasing: bytes[own...]), to: &steps)
    return steps
  }

  private static func append(
    _ own: UnsafeRawBufferPointer, to steps: inout ContiguousArray<UInt8>
  ) {
    if own.isEmpty { return }
    steps.append(varInt: UInt64(own.count) << 1)
    steps.append(contentsOf: own)
  }

  /// The bytes, `length` of them, that the steps make from `base`.
  package static func apply(
    _ steps: UnsafeRawBufferPointer, to base: UnsafeRawBufferPointer, length: Int
  ) throws(DecodeFault) -> ContiguousArray<UInt8> {
    var reader = ByteReader(steps)
    var result: ContiguousArray<UInt8> = []
    result.reserveCapacity(min(length, FormatLimits.largeValuePieceLength))
    var copied: Int64 = 0
    while reader.remaining > 0 {
      let step = try reader.readVarUInt62()
      guard step > 1, step >> 1 <= UInt64(length - result.count) else {
        throw reader.invalid("a step of the wrong length")
      }
      let count = Int(step >> 1)
      if step & 1 == 0 {
        result.append(contentsOf: try reader.readBytes(count))
        continue
      }
      let (start, isTooFar) = copied.addingReportingOverflow(try reader.readZigzag())
      guard !isTooFar, start >= 0, count <= base.count, start <= Int64(base.count - count) else {
        throw reader.invalid("a step that copies what is not there")
      }
      result.append(
        contentsOf: UnsafeRawBufferPointer(rebasing: base[Int(start)..<Int(start) + count]))
      copied = start + Int64(count)
    }
    guard result.count == length else { throw reader.invalid("steps that end too early") }
    return result
  }

  /// Where the blocks of a base are, of which there is one at each multiple of their length.
  private struct Blocks {
    private let base: UnsafeRawBufferPointer
    /// The places by hash, plus 1; 0 for none. The first of several stays.
    private var places: ContiguousArray<UInt32>
    private let shift: UInt64

    init(of base: UnsafeRawBufferPointer) {
      self.base = base
      let count = base.count / blockLength
      let bits = max(8, Int.bitWidth - (2 * count).leadingZeroBitCount)
      places = ContiguousArray(repeating: 0, count: 1 << bits)
      shift = UInt64(64 - bits)
      for block in 0..<count {
        let place = block * blockLength
        let index = hash(base, place)
        if places[index] == 0 { places[index] = UInt32(place + 1) }
      }
    }

    private func words(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> (UInt64, UInt64) {
      (
        bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self),
        bytes.loadUnaligned(fromByteOffset: place + 8, as: UInt64.self)
      )
    }

    private func hash(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> Int {
      let (first, second) = words(bytes, place)
      let mixed = (first &* 0x9E37_79B9_7F4A_7C15) ^ (second &* 0xC2B2_AE3D_27D4_EB4F)
      return Int(((mixed ^ (mixed >> 32)) &* 0x9E37_79B9_7F4A_7C15) >> shift)
    }

    private func isSame(_ bytes: UnsafeRawBufferPointer, _ place: Int, as other: Int) -> Bool {
      words(bytes, place) == words(base, other)
    }

    /// Where the base has the block of bytes at a place: best where the last copy ended.
    func find(_ bytes: UnsafeRawBufferPointer, at place: Int, near next: Int) -> Int? {
      if next + blockLength <= base.count, isSame(bytes, place, as: next) { return next }
      let found = Int(places[hash(bytes, place)]) - 1
      return found >= 0 && isSame(bytes, place, as: found) ? found : nil
    }
  }
}
