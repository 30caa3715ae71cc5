import AnnalsFormat
import AnnalsModel
import AnnalsState

// Objects by their numbers: no dictionary, and no checks but those of the commit's stages.

extension Entity {
  /// The initial values of a new object.
  package var defaults: [(property: PropertyNumber, value: Value)] {
    DefinitionProbe.count(attributes.count)
    return attributes.compactMap { attribute in
      attribute.isRemoved ? nil : attribute.defaultValue.map { (attribute.number, $0) }
    }
  }
}

extension Draft {
  /// Inserts an object in the given row, which must be free, or in the next one.
  ///
  /// Sets attributes to their defaults.
  package mutating func insert(
    entity: Entity, row: Int64? = nil
  ) throws(AnnalsError) -> ObjectReference {
    try insert(entity: entity.number, row: row, defaults: entity.defaults)
  }

  /// As `insert(entity:row:)`, with these initial values; for a caller that inserts many objects of
  /// an entity.
  package mutating func insert(
    entity: EntityNumber, row: Int64? = nil, defaults: [(property: PropertyNumber, value: Value)]
  ) throws(AnnalsError) -> ObjectReference {
    let made: Int64
    if let row {
      guard row <= FormatLimits.maximumRow else {
        throw .noMoreRows(schema.entity(numbered: entity)?.name ?? "#\(entity)", row)
      }
      try AnnalsError.translating { try reader.state.insertRow(entity, row: row) }
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

  /// Makes a new object without values; returns its row. The caller notes the insertion.
  package mutating func insertRow(of entity: EntityNumber) throws(AnnalsError) -> Int64 {
    do throws(StateFault) {
      return try reader.state.insertRow(entity)
    } catch {
      let row = reader.state.nextRow(of: entity)
      guard row > FormatLimits.maximumRow else { throw AnnalsError(error) }
      throw .noMoreRows(schema.entity(numbered: entity)?.name ?? "#\(entity)", row)
    }
  }

  /// Undoes an insertion that failed halfway, so that the draft may go on without it.
  package mutating func undoInsertion(of object: ObjectReference, violationCount: Int) {
    violations.removeLast(violations.count - violationCount)
    do throws(StateFault) {
      try reader.state.deleteRow(object.entity, object.row)
    } catch {
      _ = fail(AnnalsError(error))
    }
  }

  /// Sets one property of an object that exists.
  package mutating func set(
    _ object: ObjectReference, _ property: PropertyNumber, to value: Value
  ) throws(AnnalsError) {
    try store(value, in: property, row: object.row, of: object.entity)
    touch(object.entity, object.row)
  }

  /// Deletes an object that exists. What refers to it follows its delete rule at the commit.
  package mutating func delete(_ object: ObjectReference) throws(AnnalsError) {
    try remove(object)
    deletions.append(object)
  }

  /// Deletes an object that exists, as a rule says.
  mutating func remove(_ object: ObjectReference) throws(AnnalsError) {
    try AnnalsError.translating { try reader.state.deleteRow(object.entity, object.row) }
    touch(object.entity, object.row)
  }

  /// Writes into the columns of one object, for writers of typed records. The caller notes the
  /// change.
  package mutating func editor(
    of entity: EntityNumber, _ row: Int64
  ) throws(AnnalsError) -> RowEditor {
    try AnnalsError.translating { try reader.state.editor(of: entity, row) }
  }

  /// One value as it is stored; a large one without its bytes.
  package func value(
    _ object: ObjectReference, _ property: PropertyNumber
  ) throws(AnnalsError) -> Value {
    try AnnalsError.translating { try reader.state.value(object.entity, object.row, property) }
  }

  /// The value to store for an update. A null stored in a required attribute stands for its
  /// default, so setting the default where null was stored before the draft is no change.
  package func normalised(
    _ value: Value, of property: PropertyNumber, of entity: Entity, row: Int64
  ) throws(AnnalsError) -> Value {
    guard row < base.nextRow(of: entity.number),
      let attribute = entity.attribute(numbered: property),
      !attribute.isOptional, let implied = attribute.defaultValue,
      value.isNull || value == implied
    else { return value }
    return try AnnalsError.translating {
      guard try base.contains(entity.number, row) else { return value }
      return try base.value(entity.number, row, property).isNull ? .null : implied
    }
  }

  /// Deletes the objects of an erasure, and sets its properties to erased values.
  package mutating func erase(_ erasure: Erasure) throws(AnnalsError) {
    self.erasure = erasure
    for target in erasure.targets {
      let object = target.object
      do throws(StateFault) {
        guard try reader.state.contains(object.entity, object.row) else { continue }
        if target.properties.isEmpty {
          try reader.state.deleteRow(object.entity, object.row)
          deletions.append(object)
        } else {
          try reader.state.erase(target)
        }
      } catch {
        throw AnnalsError(error)
      }
      touch(object.entity, object.row)
    }
  }
}

extension Draft {
  /// The row of the object whose unique attribute has this value; nil if there is none.
  package mutating func row(
    of entity: Entity, where attribute: String, is value: Value
  ) throws(AnnalsError) -> Int64? {
    try mergePendingKeys(of: entity.number)
    return try reader.row(of: entity, where: attribute, is: value)
  }

  /// Merges the unique keys of the draft's own changes into the index that look-ups search. Pays
  /// for the changes since the call before.
  package mutating func mergePendingKeys(of entity: EntityNumber) throws(AnnalsError) {
    try AnnalsError.translating { try reader.state.updateUniqueIndexes(of: entity) }
  }

  /// Merges all index entries of the draft's own changes into the indexes that queries search. Pays
  /// for the changes since the call before.
  package mutating func mergePendingEntries() throws(AnnalsError) {
    try AnnalsError.translating { try reader.state.updateIndexes() }
  }
}
