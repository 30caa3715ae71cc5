/// A position in the history of one store: just after a transaction.
///
/// Ordered by transaction number within a store. Comparing tokens of two stores compares the stores
/// first, so that the order is total but says nothing about time.
@frozen
public struct Token: Hashable, Sendable {
  /// The store's UUID.
  @usableFromInline package var store: RawUUID
  /// The number of the last transaction before the position; 0 is the beginning.
  public let number: Int64
  /// The id of the opening that wrote that transaction; 0 for none.
  @usableFromInline package var opening: UInt64

  /// Creates a token from its parts.
  @inlinable
  package init(store: RawUUID, number: Int64, opening: UInt64) {
    self.store = store
    self.number = number
    self.opening = opening
  }
}

extension Token: Comparable {
  /// Whether `a` comes before `b`.
  @inlinable
  public static func < (a: Token, b: Token) -> Bool {
    if a.store != b.store { return a.store < b.store }
    if a.number != b.number { return a.number < b.number }
    return a.opening < b.opening
  }
}

extension Token: LosslessStringConvertible, CustomStringConvertible {
  /// `NUMBER@STORE-UUID`, followed by `+` and the opening id in hexadecimal where there is one.
  public var description: String {
    "\(number)@\(store)" + (opening == 0 ? "" : "+" + String(opening, radix: 16))
  }

  /// Reads the text form, with or without an opening; nil for anything else.
  public init?(_ text: String) {
    let halves = text.split(separator: "@", omittingEmptySubsequences: false)
    guard halves.count == 2, let number = Int64(halves[0]), number >= 0 else { return nil }
    let parts = halves[1].split(separator: "+", omittingEmptySubsequences: false)
    guard let store = RawUUID(String(parts[0])), parts.count <= 2 else { return nil }
    var opening: UInt64 = 0
    if parts.count == 2 {
      guard let id = UInt64(parts[1], radix: 16), id != 0 else { return nil }
      opening = id
    }
    self.init(store: store, number: number, opening: opening)
  }
}

extension Token: Codable {
  /// Encodes the text form.
  public func encode(to encoder: any Encoder) throws { try encoder.encodeText(self) }

  /// Decodes the text form; throws `DecodingError.dataCorrupted` for anything else.
  public init(from decoder: any Decoder) throws {
    self = try decoder.decodeText(Token.self, called: "a token")
  }
}
