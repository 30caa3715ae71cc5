import AnnalsModel

// Removed properties keep their values, hidden, since states before the removal have them. A state
// that becomes the base, with no earlier ones, does not need them.

extension State {
  /// Drops the values of removed properties and the objects of removed entities. Their numbers stay
  /// used, and rows are not reused. O(groups).
  package mutating func dropRemoved() {
    for index in tables.indices {
      guard let entity = schema.entity(numbered: tables[index].number) else { continue }
      if entity.isRemoved {
        let empty = Table(entity)
        empty.nextRow = tables[index].nextRow
        tables[index] = empty
        continue
      }
      let removed = entity.removedProperties
      guard !removed.isEmpty else { continue }
      writableTable(at: index).dropColumns(of: removed)
    }
  }
}

extension Table {
  /// Drops all values of these properties. The table is in one hand.
  fileprivate func dropColumns(of properties: Set<PropertyNumber>) {
    let positions = columns.indices.filter { properties.contains(columns[$0].property) }
    var next = groups.nextIndex(from: 0)
    while let index = next {
      next = groups.nextIndex(from: index + 1)
      guard let group = groups.group(index) else { continue }
      for column in positions
      where group.storedColumn(column) != nil || group.isChanged(column: column) {
        groups.writableGroup(index).setStored(nil, column: column)
      }
    }
  }
}
