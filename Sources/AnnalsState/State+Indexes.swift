import AnnalsModel

extension State {
  /// The index of this number for reading; nil if the entity has none.
  ///
  /// On a state whose changes were not yet checked, it first works on a copy that is; if the
  /// indexes were deferred, on one that is kept.
  package func index(
    _ entity: EntityNumber, _ number: PropertyNumber
  ) throws(StateFault) -> IndexView? {
    guard let table = try currentTable(entity, rule: number),
      let place = table.place(ofIndex: number)
    else { return nil }
    return IndexView(table, table.indexes[place])
  }

  /// Leaves the indexes as they are until somebody reads one: the first reader of a table brings
  /// them up to date in a copy that all share. For a state that nobody changes any more; a change
  /// ends it.
  package mutating func deferIndexes() {
    for index in tables.indices where tables[index].isStale(.all) {
      writableTable(at: index).current = Once()
    }
  }

  /// The table of an entity with this index of it up to date, for reading; nil if there is none.
  func currentTable(
    _ entity: EntityNumber, rule number: PropertyNumber
  ) throws(StateFault) -> Table? {
    guard let table = findTable(entity), table.isStale(.numbered(number)) else {
      return findTable(entity)
    }
    if let known = table.current?.value { return known }
    let copy = Table(copying: table)
    guard let current = table.current else {
      try copy.updateIndexes(.numbered(number))
      return copy
    }
    try copy.updateIndexes(.all)
    return current.storeIfNil(copy)
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
