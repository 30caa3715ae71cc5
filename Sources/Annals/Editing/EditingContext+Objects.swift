import AnnalsEngine
import AnnalsModel
import AnnalsState

// Objects to edit. Everything else that a snapshot answers, a context answers, too, with values.

extension EditingContext: ObjectSource {
  /// The object with this id, as it is pending, to be edited; nil if it does not exist.
  ///
  /// Throws as `Snapshot.object(_:_:)` does.
  public func object<R: Record>(
    _ type: R.Type, _ id: ObjectID
  ) throws(AnnalsError) -> EditableObject<R>? {
    let found: Object<R>? = try object(type, id)
    return found.map { editable($0) }
  }

  /// The same object as one of a snapshot or a fetch, to be edited; nil if it does not exist here.
  public func object<R: Record>(
    _ object: Object<R>
  ) throws(AnnalsError) -> EditableObject<R>? { try self.object(R.self, object.objectID) }

  /// The same object as one of a parent or a child, as it is pending here; nil if it does not
  /// exist.
  public func object<R: Record>(
    _ object: EditableObject<R>
  ) throws(AnnalsError) -> EditableObject<R>? { try self.object(R.self, object.objectID) }

  /// The object whose unique property has this value, to be edited; nil if none has.
  ///
  /// Throws `.invalidArgument` if the property is not unique, and as `object(_:_:)` does.
  public func object<R: Record, V: AttributeValue>(
    _ type: R.Type, where keyPath: KeyPath<R, V>, is value: V
  ) throws(AnnalsError) -> EditableObject<R>? {
    noteReading()
    return try session.transaction.object(type, where: keyPath, is: value).map { editable($0) }
  }

  /// The object with this id by names, as it is pending; nil if it does not exist.
  public func object(_ id: ObjectID) throws(AnnalsError) -> DynamicObject? {
    noteReading()
    return try session.transaction.object(id)
  }

  /// The objects that the fetch finds in what is pending, to be edited, in its order.
  ///
  /// Throws as `Snapshot.fetch(_:)` does.
  public func fetch<R: Record>(_ fetch: Fetch<R>) throws(AnnalsError) -> [EditableObject<R>] {
    let found: [Object<R>] = try (self as any ObjectSource).fetch(fetch)
    return found.map { editable($0) }
  }

  /// Inserts a record as a new object, and returns it to be edited.
  ///
  /// Its id is provisional until it is saved. Values that break a rule are found by `validate` and
  /// `save`. Throws `.invalidSchema` if the store lacks the entity or a property.
  @discardableResult
  public func insert<R: Record>(_ record: R) throws(AnnalsError) -> EditableObject<R> {
    let object = try session.insert("Insert \(R.entity.name)") { tx throws(AnnalsError) in
      let object = try tx.insert(record)
      return (object, ObjectReference(object.objectID))
    }
    return editable(object)
  }

  /// Inserts an object of the named entity; returns its id, which is provisional until it is saved.
  /// Throws `.invalidArgument` for an unknown entity.
  @discardableResult
  public func insert(
    _ entity: String, _ values: [String: Value] = [:]
  ) throws(AnnalsError) -> ObjectID {
    try AnnalsError.translating { try edit("Insert \(entity)") { try $0.insert(entity, values) } }
  }

  /// Sets properties of an object by their names; a null value clears one. Throws `.noSuchObject`
  /// if the object does not exist.
  public func update(_ id: ObjectID, _ values: [String: Value]) throws(AnnalsError) {
    let name = values.count == 1 ? values.keys.first.map { "Change \($0)" } : nil
    try AnnalsError.translating {
      try edit(name ?? "Change") { try $0.update(id, values) }
    }
  }

  /// Deletes an object, as `delete(_:)` with its id does.
  public func delete<R: Record>(_ object: EditableObject<R>) throws(AnnalsError) {
    try delete(object.objectID)
  }

  /// The object as a value; nil if it does not exist.
  @_disfavoredOverload
  public func object<R: Record>(
    _ type: R.Type, _ id: ObjectID
  ) throws(AnnalsError) -> Object<R>? {
    noteReading()
    return try session.transaction.object(type, id)
  }

  /// Opaque.
  public func _query<R: Record>(_ type: R.Type) throws(AnnalsError) -> RecordQuery<R> {
    noteReading()
    return try session.transaction._query(type)
  }

  /// Opaque.
  public var _dynamicQuery: DynamicQuery {
    get throws(AnnalsError) {
      noteReading()
      return try session.transaction._dynamicQuery
    }
  }
}

extension EditingContext {
  /// The one object of this id to be edited.
  private func editable<R: Record>(_ object: Object<R>) -> EditableObject<R> {
    let reference = ObjectReference(object.objectID)
    if let known = edited[reference]?.object as? EditableObject<R> { return known }
    let made = EditableObject(object, in: self)
    edited[reference] = WeakEditableObject(object: made)
    if edited.count > 2 * editedCount + 64 {
      edited = edited.filter { $0.value.object != nil }
      editedCount = edited.count
    }
    return made
  }

  /// Sets the properties in which a record differs from what it was, of which `keyPath` may name
  /// the only one, and rounds it. Returns whether it is stored as it is then, and need not be read
  /// again.
  func write<R: Record>(
    _ record: inout R, over current: R, _ id: ObjectID, by keyPath: PartialKeyPath<R>? = nil
  ) throws -> Bool {
    let binding = try session.transaction.binding(of: R.self)
    let positions = binding.differences(current, record, by: keyPath)
    guard !positions.isEmpty else { return true }
    let properties = positions.map { binding.layout.columns[$0].property }
    let given = record
    writing = ObjectReference(id)
    defer { writing = nil }
    try session.set(
      properties, of: ObjectReference(id),
      positions.count == 1 ? "Change \(binding.layout.names[positions[0]])" : "Change"
    ) { tx in
      try tx.update(id, from: current, to: given, only: positions, binding)
    }
    let isRounded = binding.round(&record)
    return !isRounded && !positions.contains { binding.layout.columns[$0].hasDefault }
  }

  /// What is pending, as a snapshot at the position that the context is based on.
  func pendingSnapshot() throws(AnnalsError) -> Snapshot {
    let reader = try session.pendingReader()
    let version = session.version
    return Snapshot(reader: reader, position: version.position, bindings: version.records)
      .with(clock: store.environment.clock)
  }
}
