import AnnalsModel

// The indexes of a table, and how they follow its rows.

/// Some of a table's indexes.
enum IndexChoice {
  case all
  case unique
  case numbered(PropertyNumber)
}

extension TableIndex {
  /// Whether the index is one of these.
  fileprivate func isOne(of choice: IndexChoice) -> Bool {
    switch choice {
    case .all: true
    case .unique: keys.shape.isUnique
    case .numbered(let number): keys.shape.number == number
    }
  }
}

extension Table {
  // By position: an index handed out of the array would be copied, each commit several times.

  /// Whether one of these indexes is out of date.
  func isStale(_ choice: IndexChoice) -> Bool {
    let nextRow = nextRow
    return indexes.indices.contains {
      indexes[$0].isStale(nextRow) && indexes[$0].isOne(of: choice)
    }
  }

  /// The place of the index with this number; nil if there is none.
  func place(ofIndex number: PropertyNumber) -> Int? {
    indexes.indices.first { indexes[$0].keys.shape.number == number }
  }

  /// Updates these indexes.
  func updateIndexes(_ choice: IndexChoice) throws(StateFault) {
    for index in indexes.indices {
      if indexes[index].isOne(of: choice) { try indexes[index].update(from: self) }
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
