import AnnalsFormat
import AnnalsModel

/// A column's definition, from the schema.
struct Column: Sendable {
  var property: PropertyNumber
  /// The kind of values that the schema allows now; older leaves may have another.
  var kind: ColumnKind
  /// Whether it is part of an index's key.
  var isIndexed = false
}
