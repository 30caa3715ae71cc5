import AnnalsFormat
import AnnalsModel
import AnnalsState

// Writing by number instead of name, for tools that move whole histories: no dictionary, and no
// checks but those at the end of the transaction.

extension Entity {
  /// The initial values of a new object.
  package var defaults: [(property: PropertyNumber, value: Value)] {
    DefinitionProbe.count(attributes.count)
    return attributes.compactMap { attribute in
      attribute.isRemoved ? nil : attribute.defaultValue.map { (attribute.number, $0) }
    }
  }
}

extension WriteTransaction {
  /// Inserts an object in the given row, which must be free, or in the next one.
  ///
  /// Sets attributes to their defaults.
  package func insert(
    entity: Entity, row: Int64? = nil
  ) throws(AnnalsError) -> ObjectReference {
    try insert(entity: entity.number, row: row, defaults: entity.defaults)
  }

  /// As `insert(entity:row:)`, with these initial values; for a caller that inserts many objects of
  /// an entity.
  package func insert(
    entity: EntityNumber, row: Int64? = nil, defaults: [(property: PropertyNumber, value: Value)]
  ) throws(AnnalsError) -> ObjectReference {
    checkOpen()
    let made: Int64
    if let row {
      guard row <= FormatLimits.maximumRow else {
        throw .noMoreRows(schema.entity(numbered: entity)?.name ?? "#\(entity)", row)
      }
      try AnnalsError.translating { () throws(StateFault) in
        try reader.state.insertRow(entity, row: row)
      }
      made = row
    } else {
      made = try insertRow(of: entity)
    }
    noteInsertion(entity, made)
    let object = ObjectReference(entity: entity, row: made)
    do throws(AnnalsError) {
      for (property, value) in defaults {
        try store(value, in: property, row: made, of: entity)
      }
    } catch {
      undoInsertion(of: object, violationCount: violations.count)
      throw error
    }
    return object
  }

  /// Throws `.tooLarge` for more objects than one relationship can hold.
  func requireWithinLimit(
    _ list: [ObjectReference], in property: PropertyNumber, row: Int64, of entity: EntityNumber
  ) throws(AnnalsError) {
    guard list.count > FormatLimits.maximumReferences else { return }
    let name = schema.entity(numbered: entity)?.propertyName(property) ?? "#\(property)"
    let object = nameText(of: ObjectReference(entity: entity, row: row))
    throw .tooManyReferences(list.count, "\(object).\(name)")
  }

  /// Undoes an insertion that failed halfway, so that the transaction may go on without it.
  package func undoInsertion(of object: ObjectReference, violationCount: Int) {
    violations.removeLast(violations.count - violationCount)
    do throws(StateFault) {
      try reader.state.deleteRow(object.entity, object.row)
    } catch {
      _ = fail(AnnalsError(error))
    }
  }

  /// The value to store for an update. A null stored in a required attribute stands for its
  /// default, so setting the default where null was stored before the transaction is no change.
  package func normalised(
    _ value: Value, of property: PropertyNumber, of entity: Entity, row: Int64
  ) throws(AnnalsError) -> Value {
    guard row < base.nextRow(of: entity.number),
      let attribute = entity.attribute(numbered: property),
      !attribute.isOptional, let implied = attribute.defaultValue,
      value.isNull || value == implied
    else { return value }
    return try AnnalsError.translating { () throws(StateFault) in
      guard try base.contains(entity.number, row) else { return value }
      return try base.value(entity.number, row, property).isNull ? .null : implied
    }
  }

  /// Makes a new object without values; returns its row.
  package func insertRow(of entity: EntityNumber) throws(AnnalsError) -> Int64 {
    do throws(StateFault) {
      return try reader.state.insertRow(entity)
    } catch {
      let row = reader.state.nextRow(of: entity)
      guard row > FormatLimits.maximumRow else { throw AnnalsError(error) }
      throw .noMoreRows(schema.entity(numbered: entity)?.name ?? "#\(entity)", row)
    }
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

  /// Notes an object made in this transaction: new or revived.
  package func noteInsertion(_ entity: EntityNumber, _ row: Int64) {
    let object = ObjectReference(entity: entity, row: row)
    if row >= base.nextRow(of: entity) {
      touched.appendNew(object)
    } else {
      touched.insert(object)
    }
  }
}
