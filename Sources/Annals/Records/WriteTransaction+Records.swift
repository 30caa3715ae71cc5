import AnnalsEngine
import AnnalsModel
import AnnalsState

extension WriteTransaction {
  /// Inserts a record as a new object.
  ///
  /// - Returns: the object with the record as it is stored: dates are rounded to microseconds.
  /// - Throws: `.invalidSchema` if the store lacks the entity or a property. `.noSpace` if the disk
  ///   has no space for a large value. Then nothing is inserted, and the transaction may go on.
  ///   Values that break a rule fail the transaction at its end.
  @discardableResult
  public func insert<R: Record>(_ record: R) throws(AnnalsError) -> Object<R> {
    checkOpen()
    let binding = try binding(of: R.self)
    let row = try insertRow(of: binding.entity)
    noteInsertion(binding.entity, row)
    let violationCount = violations.count
    do throws(AnnalsError) {
      try binding.insert(
        record, row, into: &reader.state, store: reader.store, largeValues: largeValues,
        violations: &violations)
    } catch {
      undoInsertion(
        of: ObjectReference(entity: binding.entity, row: row),
        violationCount: violationCount)
      throw error
    }
    return try written(row, binding, as: record)
  }

  /// Updates an object: `body` gets its current record, with the transaction's own changes, and the
  /// properties that it changes are written.
  ///
  /// Throws `.noSuchObject` if the object does not exist, `.conflict` if it was deleted since the
  /// position that the write is based on, what `body` throws, and as `insert` does. Then nothing is
  /// changed, and the transaction may go on. One exception: if a partial update cannot be undone
  /// exactly (a large value of this transaction was replaced, a default that was never stored, or a
  /// to-one relationship that read as nil since its object was deleted), the transaction fails with
  /// the same error at its end.
  @discardableResult
  public func update<R: Record>(
    _ object: Object<R>, _ body: (inout R) throws -> Void
  ) throws -> Object<R> {
    try update(R.self, object.objectID, body)
  }

  /// Updates the object with this id, as `update(_:_:)` does.
  @discardableResult
  public func update<R: Record>(
    _ type: R.Type, _ id: ObjectID, _ body: (inout R) throws -> Void
  ) throws -> Object<R> {
    checkOpen()
    let binding = try binding(of: R.self)
    guard let current = try reader.object(id, binding) else {
      throw missing(id)
    }
    var record = current.value
    try body(&record)
    try binding.checkComplete()
    let violationCount = violations.count
    do throws(AnnalsError) {
      try binding.update(
        from: current.value, to: record, id.row, into: &reader.state, base: base,
        store: reader.store, largeValues: largeValues, violations: &violations)
    } catch {
      violations.removeLast(violations.count - violationCount)
      if !undoUpdate(of: id.row, from: record, to: current.value, binding) { _ = fail(error) }
      throw error
    }
    touch(id.entity, id.row)
    return try written(id.row, binding, as: record)
  }

  /// Saves an edited object: compares its record with the stored one, including the transaction's
  /// own changes, and writes the properties that differ.
  ///
  ///     var edited = post
  ///     edited.title = "Misty Morning"
  ///     try store.write(basedOn: snapshot.token) { tx in try tx.save(edited) }
  ///
  /// A property that others have changed since the object was read differs too, and is set back to
  /// what was read. Use `basedOn:` to refuse the write instead; with `merging:` the policy decides.
  /// A record without differences makes no change. Returns the object as it is stored; throws as
  /// `update(_:_:)` does.
  @discardableResult
  public func save<R: Record>(_ edited: Object<R>) throws(AnnalsError) -> Object<R> {
    let saved = try AnnalsError.narrowing {
      try update(R.self, edited.objectID) { $0 = edited.value }
    }
    if assigned != nil {
      let (binding, id) = (try binding(of: R.self), edited.objectID)
      for column in binding.layout.columns where column.property != 0 {
        noteAssignment(of: column.property, row: id.row, of: id.entity)
      }
    }
    return saved
  }

  /// Undoes an update that failed halfway. Returns false if the object cannot be restored exactly.
  private func undoUpdate<R: Record>(
    of row: Int64, from record: R, to previous: R, _ binding: RecordBinding<R>
  ) -> Bool {
    // A null that stood for a default looks the same as the default.
    if binding.layout.columns.contains(where: { $0.hasDefault && !$0.isOptional }) { return false }
    var broken: [ValidationViolation] = []
    do throws(AnnalsError) {
      let written = try toOnes(of: row, binding)
      try binding.update(
        from: record, to: previous, row, into: &reader.state, base: base, store: reader.store,
        largeValues: StoredLargeValues(source: largeValues), violations: &broken)
      // A nil that stood for a deleted object looks the same as a stored nil.
      let cleared = zip(written, try toOnes(of: row, binding)).contains { !$0.isNull && $1.isNull }
      return broken.isEmpty && !cleared
    } catch {
      return false
    }
  }

  /// The stored values of an object's to-one relationships.
  private func toOnes<R: Record>(
    of row: Int64, _ binding: RecordBinding<R>
  ) throws(AnnalsError) -> [Value] {
    var result: [Value] = []
    for column in binding.layout.columns where column.isRelationship && !column.isToMany {
      result.append(
        try AnnalsError.translating { () throws(StateFault) in
          try reader.state.value(binding.entity, row, column.property)
        })
    }
    return result
  }

  /// Sets one property of an object without reading the others: the fastest way to change a few,
  /// and the right one for objects with values of many megabytes.
  ///
  /// Setting the current value is no change. Throws `.noSuchObject` if the object does not exist,
  /// `.conflict` if it was deleted since the position that the write is based on, and as `insert`
  /// does; then nothing is changed. Traps if the record type does not list the property.
  public func set<R: Record, V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, of object: Object<R>, to value: V
  ) throws(AnnalsError) {
    try set(keyPath, of: object.objectID, to: value)
  }

  /// Sets one property of the object with this id, as the other form does.
  public func set<R: Record, V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, of id: ObjectID, to value: V
  ) throws(AnnalsError) {
    checkOpen()
    let binding = try binding(of: R.self)
    guard id.store == reader.store, id.entity == binding.entity,
      try AnnalsError.translating({ () throws(StateFault) in
        try reader.state.contains(id.entity, id.row)
      })
    else { throw missing(id) }
    defer { touch(id.entity, id.row) }
    let column = binding.layout.columns[binding.position(of: keyPath)]
    noteAssignment(of: column.property, row: id.row, of: id.entity)
    if column.hasDefault, let entity = schema.entity(numbered: id.entity) {
      let given = Value.whole(value)
      let stored = try normalised(given, of: column.property, of: entity, row: id.row)
      if stored.isNull, !given.isNull {
        return try store(.null, in: column.property, row: id.row, of: id.entity)
      }
    }
    try binding.set(
      keyPath, to: value, id.row, into: &reader.state, base: base, store: reader.store,
      largeValues: largeValues, violations: &violations)
  }

  /// The written object with its stored values; with the given ones if some broke a rule, which
  /// fails the transaction anyway.
  private func written<R: Record>(
    _ row: Int64, _ binding: RecordBinding<R>, as record: R
  ) throws(AnnalsError) -> Object<R> {
    let id = ObjectID(store: reader.store, entity: binding.entity, row: row)
    if !violations.isEmpty { return Object(objectID: id, value: record) }
    var rounded = record
    if binding.round(&rounded) { return Object(objectID: id, value: rounded) }
    let stored = try binding.read(
      row, from: reader.state, store: reader.store, largeValues: largeValues)
    return Object(objectID: id, value: stored)
  }

  /// Deletes an object.
  ///
  /// Throws `.noSuchObject` if it does not exist.
  public func delete<R: Record>(_ object: Object<R>) throws(AnnalsError) {
    try delete(object.objectID)
  }

  /// The object with this id as a record; nil if it does not exist.
  public func object<R: Record>(
    _ type: R.Type, _ id: ObjectID
  ) throws(AnnalsError) -> Object<R>? {
    checkOpen()
    return try reader.object(id, try binding(of: type))
  }

  /// The object whose unique property has this value, as a record; nil if none has.
  public func object<R: Record, V: AttributeValue>(
    _ type: R.Type, where keyPath: KeyPath<R, V>, is value: V
  ) throws(AnnalsError) -> Object<R>? {
    let binding = try binding(of: type)
    try mergePendingKeys(of: binding.entity)
    return try reader.object(where: keyPath, is: value, binding)
  }

  /// All objects of the record type, in id order.
  public func objects<R: Record>(of type: R.Type) throws(AnnalsError) -> [Object<R>] {
    checkOpen()
    return try reader.objects(try binding(of: type))
  }

  /// The number of objects of the record type. O(1).
  public func count<R: Record>(of type: R.Type) throws(AnnalsError) -> Int {
    checkOpen()
    return reader.state.count(of: try binding(of: type).entity)
  }
}

extension WriteTransaction {
  /// The record type, bound to the transaction's schema.
  func binding<R: Record>(of type: R.Type) throws(AnnalsError) -> RecordBinding<R> {
    guard changedEntities.isEmpty else { return try records.binding(of: type) }
    let key = ObjectIdentifier(type)
    if let last = lastBinding, last.type == key {
      // The key guarantees the type; a cast would look up the metadata of both.
      return unsafeDowncast(last.binding, to: RecordBinding<R>.self)
    }
    let binding = try boundRecords.binding(of: type)
    lastBinding = (key, binding)
    return binding
  }
}

/// Reads stored large values, and accepts no new ones.
private struct StoredLargeValues: LargeValueSink {
  let source: any LargeValueSource

  func bytes(of value: LargeValue) throws(AnnalsError) -> ContiguousArray<UInt8> {
    try source.bytes(of: value)
  }

  func add(_ bytes: ContiguousArray<UInt8>, tag: ValueTag) throws(AnnalsError) -> LargeValue {
    throw AnnalsError(.noSpace, "a value of \(bytes.count) bytes is not among those stored")
  }
}
