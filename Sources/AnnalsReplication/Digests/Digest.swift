import AnnalsModel

/// A SHA-256: 32 bytes that stand for a text of any length.
public struct Digest: Hashable, Sendable {
  /// The bytes in four words, the first bytes in the highest bits.
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// The count of bytes.
  public static let length = 32

  /// The digest of these bytes. O(n).
  public init(of bytes: [UInt8]) {
    var hash = SHA256()
    bytes.withUnsafeBytes { hash.add($0) }
    self = hash.digest()
  }

  /// The digest that is these 32 bytes; nil for any other count.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Digest.length else { return nil }
    var words: [UInt32] = []
    var word: UInt32 = 0
    for (index, byte) in bytes.enumerated() {
      word = word << 8 | UInt32(byte)
      if index & 3 == 3 { words.append(word) }
    }
    self.init(words: words)
  }

  init(words: [UInt32]) {
    func pair(_ index: Int) -> UInt64 { UInt64(words[index]) << 32 | UInt64(words[index + 1]) }
    self.words = (pair(0), pair(2), pair(4), pair(6))
  }

  /// The bytes.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Digest.length)
    for word in [words.0, words.1, words.2, words.3] {
      var shift = UInt64.bitWidth
      while shift > 0 {
        shift -= 8
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
      }
    }
    return bytes
  }

  /// Whether two digests have the same bytes.
  public static func == (a: Digest, b: Digest) -> Bool { a.words == b.words }

  /// Feeds the bytes into the hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
  }
}

extension Digest: LosslessStringConvertible, CustomStringConvertible {
  /// 64 hexadecimal digits.
  public var description: String { bytes.withUnsafeBytes { Hex.text($0) } }

  /// Reads 64 hexadecimal digits; nil for anything else.
  public init?(_ text: String) {
    guard let bytes = [UInt8](hexadecimal: text) else { return nil }
    self.init(bytes)
  }
}
