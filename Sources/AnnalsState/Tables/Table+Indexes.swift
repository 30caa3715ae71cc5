import AnnalsModel

// The indexes of a table, and how they follow its rows.

extension Table {
  // By position: an index handed out of the array would be copied, each commit several times.

  /// Whether an index that `isAsked` selects is out of date.
  func isStale(where isAsked: (IndexKeys) -> Bool) -> Bool {
    let nextRow = nextRow
    for index in indexes.indices
    where isAsked(indexes[index].keys) && indexes[index].isStale(nextRow) {
      return true
    }
    return false
  }

  /// The place of the index with this number; nil if there is none.
  func place(ofIndex number: PropertyNumber) -> Int? {
    indexes.withUnsafeBufferPointer { indexes in
      indexes.indices.first { indexes[$0].keys.shape.number == number }
    }
  }

  /// Whether the index with this number is out of date.
  func isStale(_ number: PropertyNumber) -> Bool { isStale { $0.shape.number == number } }

  /// Updates the indexes that `isAsked` selects.
  func updateIndexes(where isAsked: (IndexKeys) -> Bool) throws(StateFault) {
    for index in indexes.indices {
      // Without a copy of the index, which counts ten references.
      let isWanted = indexes.withUnsafeBufferPointer { isAsked($0[index].keys) }
      if isWanted { try indexes[index].update(from: self) }
    }
  }

  /// Notes the keys of a row that is about to change in any column.
  func noteAll(_ row: Int64) throws(StateFault) {
    for index in indexes.indices { try indexes[index].note(row, in: self) }
  }

  /// Notes the keys of a row that is about to change in one column.
  @inline(never)
  func note(_ row: Int64, column: Int) throws(StateFault) {
    for index in indexes.indices
    where indexes[index].keys.uses(column) {
      try indexes[index].note(row, in: self)
    }
  }

  /// Defines the indexes of the entity. Existing ones stay; a new one is built when it is first
  /// updated.
  func defineIndexes(_ entity: Entity) {
    var known: [PropertyNumber: TableIndex] = [:]
    for index in indexes { known[index.shape.number] = index }
    indexes = ContiguousArray(
      entity.keptShapes.compactMap { shape in
        if let index = known[shape.number], index.shape == shape { return index }
        return TableIndex(shape) { position(of: $0) }
      })
    hasNonUniqueIndex = indexes.contains { !$0.shape.isUnique }
    for column in columns.indices { columns[column].isIndexed = false }
    for index in indexes {
      for place in index.keys.places { columns[place].isIndexed = true }
    }
  }
}
