/// The kind of a value, as the file stores it.
///
/// Stored in files: never renumber. FORMAT.md, "Kinds and values", lists the same numbers.
@frozen
@usableFromInline
package enum ValueTag: UInt8, Hashable, Sendable, CaseIterable {
  case null = 0
  case bool = 1
  case int = 2
  case double = 3
  case string = 4
  case date = 5
  case uuid = 6
  case url = 7
  case data = 8
  case json = 9
  case object = 10
  case objects = 11
  case erased = 12

  /// The rank of the kind in an order of all values: its number, but all numbers are one kind.
  @inlinable package var rank: UInt8 { self == .double ? ValueTag.int.rawValue : rawValue }

  /// Whether values of this kind are text: string, url and json.
  @inlinable package var isText: Bool { isBytes && self != .data }

  /// Whether values of this kind are bytes: string, url, data and json.
  @inlinable package var isBytes: Bool {
    switch self {
    case .string, .url, .data, .json: true
    default: false
    }
  }
}
