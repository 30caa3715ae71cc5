/// The sixteen bytes of a UUID, without Foundation: what `Value.uuid` holds. Convert it with
/// `UUID(_:)`.
///
/// `high` and `low` hold the bytes in the order of the text form (most significant first), so that
/// comparing values compares bytes.
@frozen
public struct RawUUID: Hashable, Comparable, Sendable {
  /// Bytes 0 to 7, most significant first.
  @usableFromInline package var high: UInt64
  /// Bytes 8 to 15, most significant first.
  @usableFromInline package var low: UInt64

  /// The UUID with these two halves.
  @inlinable
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The UUID of all zeros; never the identity of a store.
  package static let zero = RawUUID(high: 0, low: 0)

  /// Whether `a` comes before `b`.
  @inlinable
  public static func < (a: RawUUID, b: RawUUID) -> Bool {
    a.high != b.high ? a.high < b.high : a.low < b.low
  }
}

extension RawUUID: CustomStringConvertible {
  /// Reads the 36-character text form, in either case of letters; nil for anything else.
  package init?(_ text: String) {
    var nibbles = 0
    var high: UInt64 = 0
    var low: UInt64 = 0
    var position = 0
    for byte in text.utf8 {
      defer { position += 1 }
      if [8, 13, 18, 23].contains(position) {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = byte.hexDigit, nibbles < 32 else { return nil }
      if nibbles < 16 { high = high << 4 | UInt64(digit) } else { low = low << 4 | UInt64(digit) }
      nibbles += 1
    }
    guard nibbles == 32, position == 36 else { return nil }
    self.init(high: high, low: low)
  }

  /// The 36-character text form in capitals, as Foundation prints it.
  public var description: String {
    var characters: [UInt8] = []
    characters.reserveCapacity(36)
    for index in 0..<32 {
      if [8, 12, 16, 20].contains(index) { characters.append(UInt8(ascii: "-")) }
      let half = index < 16 ? high : low
      let digit = UInt8(truncatingIfNeeded: half >> UInt64(60 - 4 * (index % 16))) & 15
      characters.append(digit < 10 ? digit + UInt8(ascii: "0") : digit - 10 + UInt8(ascii: "A"))
    }
    return String(decoding: characters, as: UTF8.self)
  }
}
