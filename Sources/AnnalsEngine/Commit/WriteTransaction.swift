import AnnalsFormat
import AnnalsModel
import AnnalsState

/// One open transaction; the argument of the closure of `Store.write`.
///
/// Reads see the transaction's own changes. Nothing is committed, and nobody else sees anything,
/// until the closure has returned and the commit has succeeded; if either throws, no trace remains.
/// Use it only within the closure, on its thread.
public final class WriteTransaction {
  // Exclusivity is not checked: the transaction is used on one thread, and no caller's code runs
  // while it is being changed.
  @exclusivity(unchecked) @usableFromInline var content: Draft
  @exclusivity(unchecked) @usableFromInline private(set) var isOpen = true
  /// What the transaction is based on, and the version before it; nil if on nothing.
  @exclusivity(unchecked) private var basis: (preconditions: Preconditions, version: StoreVersion)?
  /// The record type used last, bound to the schema before the transaction.
  @exclusivity(unchecked) package var lastBinding: (type: ObjectIdentifier, binding: AnyObject)?

  /// The record types, bound to the transaction's own schema, and the count of definitions by then.
  @exclusivity(unchecked) private var ownRecords: (definitionCount: Int, records: BoundRecords)?
  /// What the program declares, in a migration: the definitions of what it converts.
  @exclusivity(unchecked) package var declared = Schema()

  /// A transaction that fills the draft.
  init(_ draft: consuming Draft) { content = draft }

  /// What the transaction fills. Traps once the closure has returned.
  @inlinable package var draft: Draft {
    // In place, in the module that uses it: a coroutine that is called allocates its frame.
    @inline(__always) _read {
      checkOpen()
      yield content
    }
    @inline(__always) _modify {
      checkOpen()
      yield &content
    }
  }

  /// Runs the closure, which fills the draft; after it any call traps. `version` is the one before
  /// the transaction. Throws what the closure throws, and what it could not undo.
  func run(
    _ body: (WriteTransaction) throws -> Void, if preconditions: Preconditions,
    on version: @autoclosure () -> StoreVersion
  ) throws {
    if !preconditions.isEmpty { basis = (preconditions, version()) }
    defer { basis = nil }
    try run(body)
  }

  /// Runs a closure that fills the draft, based on nothing else; after it any call traps.
  func run(_ body: (WriteTransaction) throws -> Void) throws {
    defer { isOpen = false }
    try body(self)
    if let failure = content.failure { throw failure }
  }

  /// Reads the transaction's state, with its own changes.
  @inlinable package var reader: StateReader {
    @inline(__always) _read { yield draft.reader }
  }

  /// Key-value pairs stored with the transaction: a commit message, a request id.
  public var metadata: [String: Value] {
    get { content.origin.metadata }
    set { content.origin.metadata = newValue }
  }

  /// The schema, with the transaction's own changes.
  public var schema: Schema { draft.schema }

  // MARK: Reading

  /// The object with this id; nil if it does not exist.
  public func object(_ id: ObjectID) throws(AnnalsError) -> DynamicObject? {
    checkOpen()
    return try reader.object(id)
  }

  /// The object of the named entity whose unique attribute has this value; nil if none has.
  ///
  /// Throws `.invalidArgument` if the entity does not exist or the attribute is not unique.
  public func object(
    of entity: String, where attribute: String, is value: Value
  ) throws(AnnalsError) -> DynamicObject? {
    let entity = try reader.entity(named: entity)
    guard let row = try draft.row(of: entity, where: attribute, is: value) else { return nil }
    return try reader.object(row, of: entity)
  }

  /// All objects of the named entity, in id order.
  public func objects(of entity: String) throws(AnnalsError) -> [DynamicObject] {
    checkOpen()
    var result: [DynamicObject] = []
    try AnnalsError.translating {
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
    let bound = draft.records
    guard !draft.changedEntities.isEmpty else { return bound }
    if let known = ownRecords, known.definitionCount == draft.definitionCount {
      return known.records
    }
    let made = BoundRecords(
      bindings: RecordBindings(bound.bindings.functions), schema: schema, schemaVersion: 0,
      history: bound.history, migrations: bound.migrations)
    ownRecords = (draft.definitionCount, made)
    return made
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
    let entity = try reader.entity(named: entity)
    let object = try draft.insert(entity, values)
    return ObjectID(store: reader.store, entity: entity.number, row: object.row)
  }

  /// Sets properties of an object; a null value clears one.
  ///
  /// Throws `.noSuchObject` if the object does not exist, `.conflict` if it was deleted since the
  /// position that the write is based on, and as `insert` does; then nothing is changed.
  public func update(_ id: ObjectID, _ values: [String: Value]) throws(AnnalsError) {
    let entity = try existing(id)
    try draft.update(id.row, of: entity, values)
  }

  /// Deletes an object.
  ///
  /// Throws `.noSuchObject` if it does not exist, `.conflict` if it was deleted since the position
  /// that the write is based on.
  public func delete(_ id: ObjectID) throws(AnnalsError) {
    let entity = try existing(id)
    try draft.delete(ObjectReference(entity: entity.number, row: id.row))
  }

  // MARK: For the engine's own parts

  /// Traps if the transaction is used after its closure returned.
  @inlinable package func checkOpen() {
    insist(isOpen, "a write transaction is used after its closure returned")
  }

  func existing(_ id: ObjectID) throws(AnnalsError) -> Entity {
    if id.store == reader.store, let entity = reader.state.schema.entity(numbered: id.entity),
      !entity.isRemoved
    {
      let exists = try AnnalsError.translating { try reader.state.contains(id.entity, id.row) }
      if exists { return entity }
    }
    throw missing(id)
  }

  /// The error for an object that does not exist.
  package func missing(_ id: ObjectID) -> AnnalsError {
    do throws(AnnalsError) {
      if let (preconditions, version) = basis,
        let conflict = try preconditions.deletion(of: id, in: draft, on: version)
      {
        return conflict
      }
      return .objectNotFound(id, in: schema, of: reader.store)
    } catch {
      return error
    }
  }
}
