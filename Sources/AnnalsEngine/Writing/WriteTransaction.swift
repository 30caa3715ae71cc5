import AnnalsFormat
import AnnalsModel
import AnnalsState

/// One open transaction; the argument of the closure of `Store.write`.
///
/// Reads see the transaction's own changes. Nothing is committed, and nobody else sees anything,
/// until the closure has returned and the commit has succeeded; if either throws, no trace remains.
/// Use it only within the closure, on its thread.
public final class WriteTransaction {
  /// The state before the transaction.
  @exclusivity(unchecked) package private(set) var base: State
  // Exclusivity is not checked: the transaction is used on one thread, and no caller's code runs
  // while one of these is being changed.
  @exclusivity(unchecked) package var reader: StateReader
  @exclusivity(unchecked) package var touched = TouchedObjects()
  package let largeValues: PendingLargeValues
  /// Who writes, when, and how. Variable, since a reader of another store's records may learn it
  /// late.
  @exclusivity(unchecked) package var origin: TransactionOrigin
  /// The entities whose definitions the transaction changed.
  @exclusivity(unchecked) package var changedEntities: Set<EntityNumber> = []
  /// Key-value pairs stored with the transaction: a commit message, a request id.
  public var metadata: [String: Value]
  /// Violations by values that could not be stored in the working state at all.
  @exclusivity(unchecked) package var violations: [ValidationViolation] = []
  /// Why the transaction cannot be committed: an operation failed and could not be undone.
  private(set) var failure: AnnalsError?
  /// The error for an object that was deleted since the state that the transaction is based on; nil
  /// if it is not based on an earlier one.
  @exclusivity(unchecked) package var deletionConflict:
    ((ObjectID) throws(AnnalsError) -> AnnalsError?)?
  /// The properties that were set by value, whether or not that changed them, for the check of a
  /// write that is based on an earlier state; nil for other writes.
  @exclusivity(unchecked) package var assigned: Set<AssignedProperty>?
  /// The properties that were erased before the transaction and after it, and had another value in
  /// between: an update that an import restores. To the states it is no change.
  @exclusivity(unchecked) package var erasedAgain: [ObjectReference: [PropertyNumber]] = [:]
  /// The earlier state that merged changes are based on, or that a revert restores; nil for other
  /// transactions. What an object refers to there may have been deleted since.
  @exclusivity(unchecked) package var earlier: State?
  /// The conflicts that a merge policy resolved.
  @exclusivity(unchecked) package var resolvedConflicts: [PropertyConflict] = []
  /// The objects that a merge united with stored ones, by the ids under which they were inserted.
  @exclusivity(unchecked) package var unitedObjects: [ObjectReference: ObjectReference] = [:]
  /// The record types, bound to the schema before the transaction.
  package let boundRecords: BoundRecords
  /// The record type used last, bound to the schema before the transaction.
  @exclusivity(unchecked) package var lastBinding: (type: ObjectIdentifier, binding: AnyObject)?
  @exclusivity(unchecked) private var isOpen = true
  @exclusivity(unchecked) private var scratch: ContiguousArray<UInt8> = []

  /// A transaction on the state `base`; `working` is the same state for the transaction to change.
  package init(
    base: State, working: State, store: RawUUID, origin: TransactionOrigin,
    largeValues: PendingLargeValues, records: BoundRecords
  ) {
    self.base = base
    boundRecords = records
    self.origin = origin
    metadata = origin.metadata
    self.largeValues = largeValues
    reader = StateReader(state: working, store: store, largeValues: largeValues)
  }

  /// What the transaction defined, against the schema before it.
  package var schemaChange: [EntityChange] {
    if changedEntities.isEmpty { return [] }
    return reader.state.schema.changes(from: base.schema, of: changedEntities.sorted())
  }

  /// The schema, with the transaction's own changes.
  public var schema: Schema { reader.state.schema }

  // MARK: Reading

  /// The object with this id; nil if it does not exist.
  public func object(_ id: ObjectID) throws(AnnalsError) -> StoredObject? {
    checkOpen()
    return try reader.object(id)
  }

  /// The object of the named entity whose unique attribute has this value; nil if none has.
  ///
  /// Throws `.invalidArgument` if the entity does not exist or the attribute is not unique.
  public func object(
    of entity: String, where attribute: String, is value: Value
  ) throws(AnnalsError) -> StoredObject? {
    let entity = try reader.entity(named: entity)
    guard let row = try row(of: entity, where: attribute, is: value) else { return nil }
    return try reader.object(row, of: entity)
  }

  /// All objects of the named entity, in id order.
  public func objects(of entity: String) throws(AnnalsError) -> [StoredObject] {
    checkOpen()
    var result: [StoredObject] = []
    try AnnalsError.narrowing {
      try reader.forEachObject(of: reader.entity(named: entity)) { result.append($0) }
    }
    return result
  }

  /// The number of objects of the named entity. O(1).
  public func count(of entity: String) throws(AnnalsError) -> Int {
    checkOpen()
    return try reader.count(of: entity)
  }

  /// The record types, bound to the transaction's schema.
  package var records: BoundRecords {
    guard !changedEntities.isEmpty else { return boundRecords }
    return BoundRecords(
      bindings: RecordBindings(), schema: schema, schemaVersion: 0, history: boundRecords.history)
  }

  // MARK: Writing

  /// Inserts an object of the named entity and returns its id. Attributes not given get their
  /// default.
  ///
  /// A value that breaks a rule, or a property that does not exist, fails the transaction at its
  /// end, together with all other violations. Throws `.invalidArgument` for an unknown entity,
  /// `.noSpace` if the disk has no space for a large value; then nothing is inserted, and the
  /// transaction may go on.
  @discardableResult
  public func insert(
    _ entity: String, _ values: [String: Value] = [:]
  ) throws(AnnalsError) -> ObjectID {
    checkOpen()
    let entity = try reader.entity(named: entity)
    let object = try insert(entity: entity)
    let violationCount = violations.count
    do throws(AnnalsError) {
      for (property, value) in assignments(values, to: entity, row: object.row) {
        try store(value, in: property, row: object.row, of: entity.number)
      }
    } catch {
      undoInsertion(of: object, violationCount: violationCount)
      throw error
    }
    return ObjectID(store: reader.store, entity: entity.number, row: object.row)
  }

  /// Sets properties of an object; a null value clears one.
  ///
  /// Throws `.noSuchObject` if the object does not exist, `.conflict` if it was deleted since the
  /// position that the write is based on, and as `insert` does; then nothing is changed.
  public func update(_ id: ObjectID, _ values: [String: Value]) throws(AnnalsError) {
    checkOpen()
    let entity = try existing(id)
    let violationCount = violations.count
    // Large values first: if storing them fails, nothing has changed.
    var kept: [(property: PropertyNumber, value: Value)] = []
    do throws(AnnalsError) {
      for (property, value) in assignments(values, to: entity, row: id.row) {
        let value = try normalised(value, of: property, of: entity, row: id.row)
        kept.append((property, try self.kept(value, in: property, row: id.row, of: entity.number)))
      }
    } catch {
      violations.removeLast(violations.count - violationCount)
      throw error
    }
    for (property, value) in kept {
      try put(value, in: property, row: id.row, of: entity.number)
      noteAssignment(of: property, row: id.row, of: entity.number)
    }
    touch(entity.number, id.row)
  }

  /// Deletes an object.
  ///
  /// Throws `.noSuchObject` if it does not exist, `.conflict` if it was deleted since the position
  /// that the write is based on.
  public func delete(_ id: ObjectID) throws(AnnalsError) {
    checkOpen()
    let entity = try existing(id)
    try AnnalsError.translating { () throws(StateFault) in
      try reader.state.deleteRow(entity.number, id.row)
    }
    touch(entity.number, id.row)
  }

  // MARK: For the engine's own parts

  /// Notes that an object was changed.
  package func touch(_ entity: EntityNumber, _ row: Int64) {
    if row < base.nextRow(of: entity) {
      touched.insert(ObjectReference(entity: entity, row: row))
    }
  }

  /// Notes that a property whose value before the transaction was erased is set to an erased one.
  package func noteErasedAgain(
    _ object: ObjectReference, _ property: PropertyNumber
  ) throws(AnnalsError) {
    let before = try AnnalsError.translating { () throws(StateFault) in
      try base.value(object.entity, object.row, property)
    }
    if before.isErased { erasedAgain[object, default: []].append(property) }
  }

  /// Notes that a property was set by value.
  package func noteAssignment(
    of property: PropertyNumber, row: Int64, of entity: EntityNumber
  ) {
    let object = ObjectReference(entity: entity, row: row)
    assigned?.insert(AssignedProperty(object: object, property: property))
  }

  /// Sets a property in the working state. Long bytes become a large value.
  package func store(
    _ value: Value, in property: PropertyNumber, row: Int64, of entity: EntityNumber
  ) throws(AnnalsError) {
    try put(
      try kept(value, in: property, row: row, of: entity), in: property, row: row, of: entity)
  }

  /// The value in the form that the state stores.
  private func kept(
    _ value: Value, in property: PropertyNumber, row: Int64, of entity: EntityNumber
  ) throws(AnnalsError) -> Value {
    if let bytes = value.largeBytes {
      return try keep(
        bytes, value.tag, in: property, of: ObjectReference(entity: entity, row: row))
    }
    guard case .objects(let list) = value else { return value }
    try requireWithinLimit(list, in: property, row: row, of: entity)
    let relationship = schema.entity(numbered: entity)?.relationships
      .first { $0.number == property }
    return .objects(relationship?.canonical(list) ?? list)
  }

  /// Writes the bytes of a large value to the log; returns the value to set. It is the one that the
  /// property has or had before the transaction, if that has the same bytes.
  package func keep(
    _ bytes: ContiguousArray<UInt8>, _ tag: ValueTag, in property: PropertyNumber,
    of object: ObjectReference
  ) throws(AnnalsError) -> Value {
    let (entity, row) = (object.entity, object.row)
    let known = try AnnalsError.translating { () throws(StateFault) in
      [try reader.state.value(entity, row, property), try base.value(entity, row, property)]
    }
    return .large(try largeValues.value(of: bytes, tag: tag, reusing: known))
  }

  private func put(
    _ kept: Value, in property: PropertyNumber, row: Int64, of entity: EntityNumber
  ) throws(AnnalsError) {
    scratch.removeAll(keepingCapacity: true)
    let cell = ValueCell(kept, appendingTo: &scratch)
    do throws(StateFault) {
      try scratch.withUnsafeBytes { arena in
        Result { () throws(StateFault) in
          try reader.state.set(entity, row, property, cell, in: arena)
        }
      }.get()
    } catch {
      throw fail(AnnalsError(error))
    }
  }

  /// Notes that the transaction must not be committed, since an operation was left half done.
  package func fail(_ error: AnnalsError) -> AnnalsError {
    failure = failure ?? error
    return error
  }

  /// Ends the use of the transaction; any later call traps.
  package func close() {
    isOpen = false
  }

  /// Releases the state before the transaction and hands over the one after it, which then has no
  /// other holder. Nothing can be read any more.
  package func takeState() -> State {
    base = State()
    var state = State()
    swap(&state, &reader.state)
    return state
  }

  package func checkOpen() {
    insist(isOpen, "a write transaction is used after its closure returned")
  }

  private func existing(_ id: ObjectID) throws(AnnalsError) -> Entity {
    if id.store == reader.store, let entity = reader.state.schema.entity(numbered: id.entity),
      !entity.isRemoved
    {
      let exists = try AnnalsError.translating { () throws(StateFault) in
        try reader.state.contains(id.entity, id.row)
      }
      if exists { return entity }
    }
    throw missing(id)
  }

  /// The error for an object that does not exist.
  package func missing(_ id: ObjectID) -> AnnalsError {
    do throws(AnnalsError) {
      if let conflict = try deletionConflict?(id) {
        return conflict
      }
      return .objectNotFound(id, in: schema, of: reader.store)
    } catch {
      return error
    }
  }
}

/// A property of one object that a transaction set.
package struct AssignedProperty: Hashable {
  package let object: ObjectReference
  package let property: PropertyNumber

  package init(object: ObjectReference, property: PropertyNumber) {
    self.object = object
    self.property = property
  }
}
