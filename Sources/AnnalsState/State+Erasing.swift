import AnnalsModel

extension State {
  /// The number of references in an object's to-many relationship; 0 if it has none.
  package func listLength(
    _ entity: EntityNumber, _ row: Int64, _ property: PropertyNumber
  ) throws(StateFault) -> Int {
    if case .objects(let list) = try value(entity, row, property) { list.count } else { 0 }
  }

  /// Replaces the values of an object, or of some of its properties, by erased values, including
  /// removed properties; null stays null. Does nothing if the object does not exist.
  package mutating func erase(_ target: Erasure.Target) throws(StateFault) {
    let (entity, row) = (target.object.entity, target.object.row)
    guard try contains(entity, row), let table = findTable(entity) else { return }
    for column in table.columns {
      guard target.properties.isEmpty || target.properties.contains(column.property),
        try !value(entity, row, column.property).isNull
      else { continue }
      try set(entity, row, column.property, to: .erased)
    }
  }

  /// Whether the object has a value of those that a target names, removed properties included.
  /// Reads nothing but what it has.
  package func hasValue(of target: Erasure.Target) throws(StateFault) -> Bool {
    let (entity, row) = (target.object.entity, target.object.row)
    guard try contains(entity, row), let table = findTable(entity) else { return false }
    for column in table.columns
    where target.properties.isEmpty || target.properties.contains(column.property) {
      let value = try value(entity, row, column.property)
      if !value.isNull, !value.isErased { return true }
    }
    return false
  }

  /// Marks the indexes of an entity for rebuilding from the columns: the inner keys of an index may
  /// contain bytes that no column has any more.
  package mutating func remakeIndexes(of entity: EntityNumber) throws(StateFault) {
    guard let definition = schema.entity(numbered: entity), findTable(entity) != nil else { return }
    let table = try writableTable(entity, row: 0)
    table.indexes = []
    table.defineIndexes(definition)
  }
}
