/// Why bytes do not decode. `at` counts from the beginning of the bytes given to the decoder, or of
/// the column within them.
@usableFromInline @frozen
package enum DecodeFault: Error, Equatable {
  /// The bytes end where `needed` more were expected.
  case truncated(at: Int, needed: Int)
  /// The bytes break a rule.
  case invalid(at: Int, reason: Reason)
  /// A checksum does not match.
  case checksum(at: Int)
  /// A length or count is beyond its limit.
  case tooLarge(at: Int, limit: UInt64)
  /// The file needs features, given as bits, that this engine does not know.
  case unknownFeatures(at: Int, UInt64)
  /// The bytes have a form that is reserved for a later version.
  case newer(at: Int, reason: Reason)

  /// The rule that was broken, in words.
  @usableFromInline @frozen
  package struct Reason: Equatable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    @usableFromInline package var text: StaticString

    @inlinable
    package init(stringLiteral text: StaticString) { self.text = text }

    @usableFromInline package var description: String { text.description }

    @usableFromInline
    package static func == (a: Reason, b: Reason) -> Bool { a.description == b.description }
  }

  /// Whether the bytes are not damaged but written by a later version.
  package var isNewer: Bool {
    switch self {
    case .unknownFeatures, .newer: true
    default: false
    }
  }

  /// Where the fault was found.
  package var offset: Int {
    switch self {
    case .truncated(let at, _), .invalid(let at, _), .checksum(let at), .tooLarge(let at, _),
      .unknownFeatures(let at, _), .newer(let at, _):
      at
    }
  }
}

extension DecodeFault: CustomStringConvertible {
  @usableFromInline package var description: String {
    switch self {
    case .truncated(let at, let needed): "\(needed) bytes are missing at byte \(at)"
    case .invalid(let at, let reason): "\(reason) at byte \(at)"
    case .checksum(let at): "checksum mismatch at byte \(at)"
    case .tooLarge(let at, let limit): "a length at byte \(at) is beyond the limit of \(limit)"
    case .unknownFeatures(_, let bits):
      "features are needed that this version does not know: \(Features.text(bits))"
    case .newer(let at, let reason):
      "\(reason) at byte \(at), which only a newer version of Annals reads"
    }
  }
}
