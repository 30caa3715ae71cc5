import AnnalsModel

extension State {
  /// How many references the to-many relationship of an object has; 0 without any.
  package func listLength(
    _ entity: EntityNumber, _ row: Int64, _ property: PropertyNumber
  ) throws(StateFault) -> Int {
    if case .objects(let list) = try value(entity, row, property) { list.count } else { 0 }
  }

  /// Puts erased values in place of all that an object has, or of some of its properties, removed
  /// ones included; what is null stays so. Does nothing if the object does not exist.
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

  /// Lets the indexes of an entity be made anew from the columns: the inner keys of one that has
  /// grown may hold what is in no column any more.
  package mutating func remakeIndexes(of entity: EntityNumber) throws(StateFault) {
    guard let definition = schema.entity(numbered: entity), findTable(entity) != nil else { return }
    let table = try writableTable(entity, row: 0)
    table.indexes = []
    table.defineIndexes(definition)
  }
}
