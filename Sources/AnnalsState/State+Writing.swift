import AnnalsFormat
import AnnalsModel

extension State {
  /// Inserts a new object in a row that no object of the entity ever had; returns the row.
  package mutating func insertRow(_ entity: EntityNumber) throws(StateFault) -> Int64 {
    let table = try writableTable(entity, row: 0)
    let row = table.nextRow
    try table.insert(row)
    return row
  }

  /// Inserts an object in this row: a revived one, or one named by a record.
  package mutating func insertRow(_ entity: EntityNumber, row: Int64) throws(StateFault) {
    try writableTable(entity, row: row).insert(row)
  }

  /// Deletes an object and clears its values.
  package mutating func deleteRow(_ entity: EntityNumber, _ row: Int64) throws(StateFault) {
    try writableTable(entity, row: row).delete(row)
  }

  /// Sets one value of an object that exists; null clears it.
  ///
  /// Throws if the property does not admit the kind of the value. Of a to-many relationship the
  /// cell is the whole new list.
  package mutating func set(
    _ entity: EntityNumber, _ row: Int64, _ property: PropertyNumber, _ cell: ValueCell,
    in arena: UnsafeRawBufferPointer
  ) throws(StateFault) {
    let table = try writableTable(entity, row: row)
    guard let column = table.position(of: property) else {
      throw table.invalid(row, "no such property")
    }
    try table.set(row, column: column, to: cell, in: arena)
  }

  /// Sets one value of an object that exists; null clears it.
  package mutating func set(
    _ entity: EntityNumber, _ row: Int64, _ property: PropertyNumber, to value: Value
  ) throws(StateFault) {
    var bytes: ContiguousArray<UInt8> = []
    let cell = ValueCell(value, appendingTo: &bytes)
    try bytes.withBytes { arena throws(StateFault) in
      try set(entity, row, property, cell, in: arena)
    }
  }
}
