import AnnalsModel

// A removal clears the values of a property in all objects, and deletes all objects of an entity.
// What goes is whole columns and whole tables: nothing is read.

extension State {
  /// Drops the values of the entity's removed properties; if it was removed, its objects. Numbers
  /// stay used, and rows are not reused. O(groups).
  package mutating func dropRemoved(of entity: Entity) {
    guard let index = index(of: entity.number) else { return }
    if entity.isRemoved {
      let empty = Table(entity)
      empty.nextRow = tables[index].nextRow
      tables[index] = empty
      return
    }
    let removed = entity.removedProperties
    guard !removed.isEmpty else { return }
    writableTable(at: index).dropColumns(of: removed)
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
