import AnnalsFormat
import AnnalsModel
import AnnalsState

/// A transaction that is not committed yet, as a value.
///
/// The closure of a write fills one, and so do revert, erasure, import and merge; one can also be
/// filled outside of a write, and committed later. All are committed by the same stages
/// (`CommitStages.swift`). Nothing but a draft writes into a working state.
///
/// Invariants:
/// - `reader.state` is `base` with the draft's changes; every object in which they differ is in
///   `touched`.
/// - New rows are rows that `base` has never used.
@usableFromInline
package struct Draft: Sendable {
  /// The state before the draft's changes.
  package private(set) var base: State
  /// The number of the transaction after which `base` is the state.
  package let number: Int64
  /// The opening that wrote that transaction; 0 if it is not known.
  var opening: UInt64 = 0
  /// Reads the working state: the one before, with the draft's changes.
  @usableFromInline package internal(set) var reader: StateReader
  package internal(set) var touched = TouchedObjects()
  /// The objects that were deleted, but for those that a rule deletes; some may have been revived.
  var deletions: ContiguousArray<ObjectReference> = []
  /// What delete rules did so far, in a draft that is kept outside of a write.
  var ruleEffects: ContiguousArray<RuleEffect> = []
  /// Where new large values go: written ahead to the log, or held until the draft is committed.
  package let largeValues: any LargeValueSink
  /// Who writes, when, and how. Variable, since a reader of another store's records may learn it
  /// late.
  package var origin: TransactionOrigin
  /// The entities whose definitions the draft changes.
  package internal(set) var changedEntities: Set<EntityNumber> = []
  /// How often definitions were changed, for caches of what depends on them.
  package internal(set) var definitionCount = 0
  /// Violations by values that could not be stored in the working state at all.
  package var violations: [ValidationViolation] = []
  /// Why the draft cannot be committed: an operation failed and could not be undone.
  package internal(set) var failure: AnnalsError?
  /// The properties that were set by value, whether or not that changed them, for the check of a
  /// write that is based on an earlier state; nil for other writes.
  var assigned: Set<AssignedProperty>?
  /// The properties that were erased before the draft and after it, and had another value in
  /// between: an update that an import restores. To the states it is no change.
  var erasedAgain: [ObjectReference: [PropertyNumber]] = [:]
  /// What the draft erases, which stays erased in it.
  var erasure: Erasure?
  /// The earlier state that merged changes are based on, or that a revert restores; nil for other
  /// drafts. What an object refers to there may have been deleted since.
  var earlier: State?
  /// The conflicts that a merge policy resolved.
  package internal(set) var conflicts: [PropertyConflict] = []
  /// The objects that a merge united with stored ones, by the ids under which they were inserted.
  package internal(set) var mergedObjects: [ObjectReference: ObjectReference] = [:]
  /// Tells the program how far a change of the schema is; nil if nobody asks.
  var progress: ProgressReport?
  /// The record types, bound to the schema of `base`.
  package let records: BoundRecords
  private var scratch: ContiguousArray<UInt8> = []
  /// Where the names of the last values were found: a program names the same ones in one order.
  var likelyPlaces: ContiguousArray<Int> = []

  /// A draft on the state just after transaction `number`. `working` is the same state, for the
  /// draft to change.
  package init(
    _ origin: TransactionOrigin, base: State, number: Int64, working: State, store: RawUUID,
    records: BoundRecords, largeValues: any LargeValueSink
  ) {
    self.origin = origin
    self.base = base
    self.number = number
    self.records = records
    self.largeValues = largeValues
    reader = StateReader(state: working, store: store, largeValues: largeValues)
  }

  /// The schema, with the draft's own changes.
  package var schema: Schema { reader.state.schema }

  /// What the draft defines, against the schema before it.
  var schemaChange: [EntityChange] {
    if changedEntities.isEmpty { return [] }
    return schema.changes(from: base.schema, of: changedEntities.sorted())
  }

  // MARK: What has changed

  /// Notes that an object was changed.
  package mutating func touch(_ entity: EntityNumber, _ row: Int64) {
    if row < base.nextRow(of: entity) {
      touched.insert(ObjectReference(entity: entity, row: row))
    }
  }

  /// Notes an object made by the draft: new or revived.
  package mutating func noteInsertion(_ entity: EntityNumber, _ row: Int64) {
    let object = ObjectReference(entity: entity, row: row)
    if row >= base.nextRow(of: entity) {
      touched.appendNew(object)
    } else {
      touched.insert(object)
    }
  }

  /// Notes that a property was set by value.
  package mutating func noteAssignment(
    of property: PropertyNumber, row: Int64, of entity: EntityNumber
  ) {
    let object = ObjectReference(entity: entity, row: row)
    assigned?.insert(AssignedProperty(object: object, property: property))
  }

  /// Notes that a property whose value before the draft was erased is set to an erased one.
  package mutating func noteErasedAgain(
    _ object: ObjectReference, _ property: PropertyNumber
  ) throws(AnnalsError) {
    let before = try AnnalsError.translating { try base.value(object.entity, object.row, property) }
    if before.isErased { erasedAgain[object, default: []].append(property) }
  }

  /// Notes that the draft must not be committed, since an operation was left half done.
  package mutating func fail(_ error: AnnalsError) -> AnnalsError {
    failure = failure ?? error
    return error
  }

  /// Whether the draft erases a property of an object.
  func isErased(_ property: PropertyNumber, of object: ObjectReference) -> Bool {
    guard let erasure else { return false }
    return erasure.targets.contains {
      $0.object == object && ($0.properties.isEmpty || $0.properties.contains(property))
    }
  }

  // MARK: Values

  /// Sets a property in the working state. Long bytes become a large value.
  package mutating func store(
    _ value: Value, in property: PropertyNumber, row: Int64, of entity: EntityNumber
  ) throws(AnnalsError) {
    try put(
      try kept(value, in: property, row: row, of: entity), in: property, row: row, of: entity)
  }

  /// The value in the form that the state stores.
  func kept(
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

  /// Writes the bytes of a large value ahead; returns the value to set. It is the one that the
  /// property has or had before the draft, if that has the same bytes.
  package func keep(
    _ bytes: ContiguousArray<UInt8>, _ tag: ValueTag, in property: PropertyNumber,
    of object: ObjectReference
  ) throws(AnnalsError) -> Value {
    let known = try known(property, of: object)
    return .large(
      try bytes.withBytes { bytes throws(AnnalsError) in
        try largeValues.value(of: bytes, tag: tag, reusing: known)
      })
  }

  /// Sets a property in the working state to a value in the stored form.
  mutating func put(
    _ kept: Value, in property: PropertyNumber, row: Int64, of entity: EntityNumber
  ) throws(AnnalsError) {
    // Moved out, so that the state can be changed while the bytes are read.
    var bytes: ContiguousArray<UInt8> = []
    swap(&bytes, &scratch)
    defer { swap(&bytes, &scratch) }
    bytes.removeAll(keepingCapacity: true)
    let cell = ValueCell(kept, appendingTo: &bytes)
    do {
      try bytes.withUnsafeBytes { try reader.state.set(entity, row, property, cell, in: $0) }
    } catch {
      throw fail(.translated(error))
    }
  }

  /// Throws `.tooLarge` for more objects than one relationship can hold.
  private func requireWithinLimit(
    _ list: [ObjectReference], in property: PropertyNumber, row: Int64, of entity: EntityNumber
  ) throws(AnnalsError) {
    guard list.count > FormatLimits.maximumReferences else { return }
    let name = schema.entity(numbered: entity)?.propertyName(property) ?? "#\(property)"
    let object = nameText(of: ObjectReference(entity: entity, row: row))
    throw .tooManyReferences(list.count, "\(object).\(name)")
  }

  // MARK: The end

  /// Releases the state before the draft and hands over the one after it, which then has no other
  /// holder. Nothing can be read any more.
  mutating func takeState() -> State {
    base = State()
    var state = State()
    swap(&state, &reader.state)
    return state
  }
}

/// A property of one object that a draft sets.
struct AssignedProperty: Hashable {
  let object: ObjectReference
  let property: PropertyNumber
}
