import AnnalsModel

/// The kind of values that a leaf or a chunk of a column holds.
///
/// The same numbers as `ValueTag`, and one for a column that holds several kinds. int16, int32 and
/// int64 are one kind: the range belongs to the schema, so that widening rewrites nothing.
///
/// Stored in files: never renumber. FORMAT.md, "Kinds and values", lists the same numbers.
@usableFromInline @frozen
package enum ColumnKind: UInt8, Hashable, Sendable, CaseIterable {
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
  case any = 13
  case decimal = 16
  case day = 17

  /// The kind of the columns of attributes of this type.
  package init(_ type: AttributeType) {
    self = type.tag.flatMap { ColumnKind(rawValue: $0.rawValue) } ?? .any
  }

  /// The tag of every value of this kind; nil for `any`.
  @inlinable package var tag: ValueTag? {
    self == .any ? nil : ValueTag(rawValue: rawValue)
  }

  /// How values of this kind are kept.
  @inlinable package var storage: ColumnStorage {
    switch self {
    case .bool, .int, .double, .date, .day, .object: .words
    case .uuid: .pairs
    case .string, .url, .data, .json, .objects, .any, .decimal: .bytes
    }
  }

  /// Whether a column of this kind may hold the value of a cell with this tag: of kind any that of
  /// an attribute. Any column may hold erased ones, in leaves and chunks of kind `any`.
  @inlinable
  package func admits(_ tag: ValueTag) -> Bool {
    switch self {
    case .any: tag != .null && tag != .object && tag != .objects
    default: rawValue == tag.rawValue || tag == .erased
    }
  }
}

/// How the values of a column are stored.
@usableFromInline @frozen
package enum ColumnStorage: Hashable, Sendable {
  /// Eight bytes a value.
  case words
  /// Sixteen bytes a value.
  case pairs
  /// A run of bytes of any length a value.
  case bytes
}
