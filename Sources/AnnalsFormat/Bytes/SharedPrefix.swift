/// How far two byte strings agree.
enum SharedPrefix {
  static func length(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    let count = min(a.count, b.count)
    var offset = 0
    while count - offset >= 8 {
      let x = a.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      let y = b.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if x != y { return offset + (x ^ y).littleEndian.trailingZeroBitCount / 8 }
      offset += 8
    }
    while offset < count, a[offset] == b[offset] { offset += 1 }
    return offset
  }
}
