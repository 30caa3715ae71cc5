import AnnalsModel
import AnnalsState

// Writing by number rather than by name, for tools that move whole histories: no dictionary, and no
// check but those at the end of the transaction.

extension WriteTransaction {
  /// Inserts an object; in the given row, which must be free, or in the next one.
  ///
  /// With `fillsDefaults` attributes get their default now; without, they stay null.
  package func insert(
    entity: Entity, row: Int64? = nil, fillsDefaults: Bool = true
  ) throws(AnnalsError) -> ObjectReference {
    checkOpen()
    let made: Int64
    if let row {
      try AnnalsError.translating { () throws(StateFault) in
        try reader.state.insertRow(entity.number, row: row)
      }
      made = row
    } else {
      made = try AnnalsError.translating { () throws(StateFault) in
        try reader.state.insertRow(entity.number)
      }
    }
    noteInsertion(entity.number, made)
    if fillsDefaults {
      for attribute in entity.attributes where !attribute.isRemoved {
        guard let value = attribute.defaultValue else { continue }
        try store(value, in: attribute.number, row: made, of: entity.number)
      }
    }
    return ObjectReference(entity: entity.number, row: made)
  }

  /// Sets one property of an object that exists.
  package func set(
    _ object: ObjectReference, _ property: PropertyNumber, to value: Value
  ) throws(AnnalsError) {
    checkOpen()
    try store(value, in: property, row: object.row, of: object.entity)
    touch(object.entity, object.row)
  }

  /// Deletes an object that exists.
  package func delete(_ object: ObjectReference) throws(AnnalsError) {
    checkOpen()
    try AnnalsError.translating { () throws(StateFault) in
      try reader.state.deleteRow(object.entity, object.row)
    }
    touch(object.entity, object.row)
  }

  /// One value as it is stored; a large one without its bytes.
  package func value(
    _ object: ObjectReference, _ property: PropertyNumber
  ) throws(AnnalsError) -> Value {
    try AnnalsError.translating { () throws(StateFault) in
      try reader.state.value(object.entity, object.row, property)
    }
  }

  /// Notes an object made in this transaction: new, or revived.
  package func noteInsertion(_ entity: EntityNumber, _ row: Int64) {
    let object = ObjectReference(entity: entity, row: row)
    if row >= base.nextRow(of: entity) {
      touched.appendNew(object)
    } else {
      touched.insert(object)
    }
  }
}
