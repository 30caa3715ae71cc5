import CZlib

/// The crc32 of short pieces: zlib's own table, sliced so that a step takes sixteen bytes.
///
/// zlib weaves five streams of bytes together, which pays from some hundred bytes on; before that
/// each step takes one byte and waits for the last. Frames of small transactions are that short.
struct ChecksumTables: @unchecked Sendable {
  /// Sixteen tables of 256 numbers: number `i` of table `k` is what byte `i` followed by `k` zero
  /// bytes makes of the state. Never written after `init`, never freed.
  private let numbers: UnsafePointer<UInt32>

  private static let count = 16

  /// The tables, made at the first use.
  static let shared = ChecksumTables()

  private init() {
    let numbers = UnsafeMutablePointer<UInt32>.allocate(capacity: ChecksumTables.count * 256)
    guard let first = get_crc_table() else { fatalError("zlib has no table of its checksum") }
    for index in 0..<256 { numbers[index] = UInt32(truncatingIfNeeded: first[index]) }
    for index in 256..<ChecksumTables.count * 256 {
      let shorter = numbers[index - 256]
      numbers[index] = shorter >> 8 ^ numbers[Int(shorter & 0xFF)]
    }
    self.numbers = UnsafePointer(numbers)
  }

  /// The crc32 of bytes, continuing from the crc32 of those before them. O(count), at about the
  /// third of the time that zlib takes for a hundred bytes.
  func crc32(_ bytes: UnsafeRawBufferPointer, startingFrom start: UInt32) -> UInt32 {
    var state = ~start
    var offset = 0
    let count = bytes.count
    while count &- offset >= 16 {
      let first = word(bytes, offset) ^ UInt64(state)
      state = step(first, from: 8) ^ step(word(bytes, offset &+ 8), from: 0)
      offset &+= 16
    }
    if count &- offset >= 8 {
      state = step(word(bytes, offset) ^ UInt64(state), from: 0)
      offset &+= 8
    }
    while offset < count {
      let index = UInt64(UInt8(truncatingIfNeeded: state) ^ bytes[offset])
      state = state >> 8 ^ number(0, index)
      offset &+= 1
    }
    return ~state
  }

  @inline(__always)
  private func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// What eight bytes followed by `zeros` zero bytes make of the state, which was combined with the
  /// first of all.
  @inline(__always)
  private func step(_ word: UInt64, from zeros: Int) -> UInt32 {
    let first = number(zeros &+ 7, word) ^ number(zeros &+ 6, word &>> 8)
    let second = number(zeros &+ 5, word &>> 16) ^ number(zeros &+ 4, word &>> 24)
    let third = number(zeros &+ 3, word &>> 32) ^ number(zeros &+ 2, word &>> 40)
    let fourth = number(zeros &+ 1, word &>> 48) ^ number(zeros, word &>> 56)
    return (first ^ second) ^ (third ^ fourth)
  }

  /// The number for the lowest byte of `word` in a table.
  @inline(__always)
  private func number(_ table: Int, _ word: UInt64) -> UInt32 {
    numbers[table &* 256 &+ Int(word & 0xFF)]
  }
}
