import AnnalsModel

/// The values of one property for up to 4,096 rows, those of rows without a value left out.
package struct ColumnValues: Equatable, Sendable {
  package var kind: ColumnKind
  /// The entity that the references of a column of kind `object` name; else 0.
  package var target: EntityNumber = 0
  /// The rows that have a value, from the chunk's first row on.
  package var rows: RowPresence
  /// The values of kinds kept as words: one each.
  package var words: ContiguousArray<UInt64> = []
  /// The lengths of the values of kinds kept as bytes.
  package var lengths: ContiguousArray<UInt64> = []
  /// The tags of the values of kind `any`.
  package var tags: ContiguousArray<UInt8> = []
  /// For each value whether it is the description of a large one; empty if none is.
  package var large: ContiguousArray<Bool> = []
  /// The bytes of the values of kinds kept as bytes or pairs, joined.
  package var bytes: ContiguousArray<UInt8> = []

  /// Values of this kind for these rows, to be filled in.
  package init(kind: ColumnKind, rows: RowPresence) {
    self.kind = kind
    self.rows = rows
  }
}
