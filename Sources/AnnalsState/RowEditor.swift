import AnnalsModel

// Writing many values of one object: makes the table and the group writable once.

extension State {
  /// An editor of an object that exists.
  ///
  /// It is for use at once: any other change of the state ends its validity.
  package mutating func editor(
    of entity: EntityNumber, _ row: Int64
  ) throws(StateFault) -> RowEditor {
    let table = try writableTable(entity, row: row)
    let place = try table.place(row)
    let group = table.groups.writableGroup(place.group)
    guard try group.isLive(place.offset) else {
      throw table.invalid(row, "changed, but it is not there")
    }
    let leaves = group.writableLeaves(place.leaf, width: table.columns.count)
    return RowEditor(table: table, group: group, place: place, row: row, leaves: leaves)
  }
}

/// Sets values of one object.
package struct RowEditor {
  let table: Table
  let group: RowGroup
  let place: RowPosition
  /// The object's row.
  package let row: Int64
  /// The leaves of the object's block, by column position; nil if a checkpoint holds some.
  let leaves: UnsafeMutablePointer<Leaf?>?

  /// The position of the property's column; nil if there is none.
  package func column(of property: PropertyNumber) -> Int? { table.position(of: property) }

  /// One value as it is now; null where there is none.
  package func value(of property: PropertyNumber) throws(StateFault) -> Value {
    guard let column = table.position(of: property),
      let leaf = try table.leaf(place, column: column)
    else { return .null }
    return leaf.cell(place.slot).value(in: leaf.arenaBytes)
  }

  /// Sets one value, of a column by its position; null clears it.
  package func set(
    column: Int, _ cell: ValueCell, in arena: UnsafeRawBufferPointer
  ) throws(StateFault) {
    guard let leaves, !table.columns[column].isIndexed, !cell.isAbsence else {
      return try table.put(cell, in: arena, row: row, place: place, group: group, column: column)
    }
    let isSet = Leaf.set(
      &leaves[column], slot: place.slot, to: cell, in: arena, declared: table.columns[column].kind)
    guard isSet else { throw table.invalid(row, "a value that its property does not admit") }
  }
}
