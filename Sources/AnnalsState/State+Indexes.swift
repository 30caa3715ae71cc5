import AnnalsModel

extension State {
  /// The index of this number for reading; nil if the entity has none.
  ///
  /// On a state whose changes were not yet checked, it first works on a copy that is.
  package func index(
    _ entity: EntityNumber, _ number: PropertyNumber
  ) throws(StateFault) -> IndexView? {
    var state = self
    if let table = findTable(entity), table.isStale(number) {
      try state.writableTable(entity, row: 0).updateIndexes { $0.shape.number == number }
    }
    guard let table = state.findTable(entity),
      let index = table.indexes.first(where: { $0.shape.number == number })
    else { return nil }
    return IndexView(table, index)
  }

  /// Whether the index of this number is built, except perhaps for the latest changes. An index
  /// without entries is built when it is first used.
  package func isIndexBuilt(_ entity: EntityNumber, _ number: PropertyNumber) -> Bool {
    guard let table = findTable(entity),
      let index = table.indexes.first(where: { $0.shape.number == number })
    else { return false }
    return index.tree.count > 0 || !index.isStale(table.nextRow)
  }

  /// How many entries those indexes have that no checkpoint holds: what every opening would build
  /// anew. O(indexes).
  package var unsavedIndexEntries: Int {
    tables.reduce(0) { sum, table in
      table.indexes.reduce(sum) { $1.tree.isSaved ? $0 : $0 + $1.tree.count }
    }
  }
}
