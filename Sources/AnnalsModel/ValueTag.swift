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
  case decimal = 16
  case day = 17

  /// The rank of the kind in an order of all values: its number, but all numbers are one kind, and
  /// days come before what was erased. At most 12.
  @inlinable package var rank: UInt8 {
    switch self {
    case .double, .decimal: ValueTag.int.rawValue
    case .day: ValueTag.objects.rawValue
    default: rawValue
    }
  }

  /// The place of the kind among all kinds, which is how memory holds it.
  @inlinable package var place: UInt8 {
    @inline(__always) get { unsafeBitCast(self, to: UInt8.self) }
  }

  /// Whether it is one of the kinds that need a feature of the file.
  @inlinable package var isDecimalOrDay: Bool { self == .decimal || self == .day }

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
