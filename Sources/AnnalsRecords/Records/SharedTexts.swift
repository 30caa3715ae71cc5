import AnnalsModel

/// Texts of one property that a reader has met, given out again where another object has the same:
/// that takes no memory, and less time than to make and to free them.
///
/// Stops looking where few texts come again.
struct SharedTexts {
  /// By a hash of the bytes; empty until one is read, and once few came again.
  private var texts: ContiguousArray<String> = []
  private var reads = 0
  private var hits = 0

  private static let slotCount = 256
  /// For how many texts at least a share of hits counts.
  private static let trial = 64
  /// Shorter texts take no memory of their own.
  private static let shortest = 16

  /// The text of these bytes, which are UTF-8, or what `String` makes of them.
  @inline(__always)
  mutating func text(_ bytes: UnsafeRawBufferPointer) -> String {
    guard bytes.count >= SharedTexts.shortest, reads < .max else {
      return String(decoding: bytes, as: UTF8.self)
    }
    return shared(bytes)
  }

  private mutating func shared(_ bytes: UnsafeRawBufferPointer) -> String {
    reads += 1
    if texts.isEmpty { texts = ContiguousArray(repeating: "", count: SharedTexts.slotCount) }
    let slot = SharedTexts.slot(of: bytes)
    if SharedTexts.isEqual(texts[slot], bytes) {
      hits += 1
      return texts[slot]
    }
    let text = String(decoding: bytes, as: UTF8.self)
    texts[slot] = text
    if reads >= SharedTexts.trial { judge() }
    return text
  }

  /// Goes on if one text in four came again, else never looks again.
  private mutating func judge() {
    let isWorthIt = hits >= reads / 4
    reads = isWorthIt ? 0 : .max
    hits = 0
    if !isWorthIt { texts = [] }
  }

  /// Of the first and the last eight bytes and the length.
  private static func slot(of bytes: UnsafeRawBufferPointer) -> Int {
    let first = bytes.loadUnaligned(as: UInt64.self)
    let last = bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
    let mixed = (first ^ (last << 32 | last >> 32) ^ UInt64(bytes.count)) &* 0x9E37_79B9_7F4A_7C15
    return Int(mixed >> 56)
  }

  private static func isEqual(_ text: String, _ bytes: UnsafeRawBufferPointer) -> Bool {
    text.utf8.withContiguousStorageIfAvailable {
      UnsafeRawBufferPointer($0).hasSameBytes(as: bytes)
    } ?? false
  }
}
