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
    let binding = try binding(of: R.self)
    let row = try draft.insertRow(of: binding.entity)
    draft.noteInsertion(binding.entity, row)
    let violationCount = draft.violations.count
    do throws(AnnalsError) {
      try binding.insert(record, row, into: &draft)
    } catch {
      draft.undoInsertion(
        of: ObjectReference(entity: binding.entity, row: row),
        violationCount: violationCount)
      throw error
    }
    return try written(row, binding, as: record)
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

  /// Sets a relationship to an object, as the other form does.
  public func set<R: Record, V: ToOneReference>(
    _ keyPath: KeyPath<R, V>, of object: Object<R>, to target: Object<V.Destination>
  ) throws(AnnalsError) {
    guard let value = V._read([target.objectID]) else { return }
    try set(keyPath, of: object.objectID, to: value)
  }

  /// Sets one property of the object with this id, as the other form does.
  public func set<R: Record, V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, of id: ObjectID, to value: V
  ) throws(AnnalsError) {
    let binding = try binding(of: R.self)
    guard id.store == reader.store, id.entity == binding.entity,
      try AnnalsError.translating({ try reader.state.contains(id.entity, id.row) })
    else { throw missing(id) }
    defer { draft.touch(id.entity, id.row) }
    let position = binding.position(of: keyPath)
    let column = binding.layout.columns[position]
    draft.noteAssignment(of: column.property, row: id.row, of: id.entity)
    if column.hasDefault, let entity = schema.entity(numbered: id.entity) {
      let given = Value.whole(value)
      let stored = try draft.normalised(given, of: column.property, of: entity, row: id.row)
      if stored.isNull, !given.isNull {
        return try draft.store(.null, in: column.property, row: id.row, of: id.entity)
      }
    }
    try binding.set(position, to: value, id.row, into: &draft)
  }

  /// The written object with its stored values; with the given ones if some broke a rule, which
  /// fails the transaction anyway.
  func written<R: Record>(
    _ row: Int64, _ binding: RecordBinding<R>, as record: R
  ) throws(AnnalsError) -> Object<R> {
    let id = ObjectID(store: reader.store, entity: binding.entity, row: row)
    if !draft.violations.isEmpty { return Object(objectID: id, value: record) }
    var rounded = record
    if binding.round(&rounded) { return Object(objectID: id, value: rounded) }
    return Object(objectID: id, value: try stored(row, binding))
  }

  func stored<R: Record>(
    _ row: Int64, _ binding: RecordBinding<R>
  ) throws(AnnalsError) -> R {
    let reader = draft.reader
    return try binding.read(
      row, from: reader.state, store: reader.store, largeValues: reader.largeValues)
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
    try draft.mergePendingKeys(of: binding.entity)
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
  package func binding<R: Record>(of type: R.Type) throws(AnnalsError) -> RecordBinding<R> {
    guard draft.changedEntities.isEmpty else { return try records.binding(of: type) }
    let key = ObjectIdentifier(type)
    if let last = lastBinding, last.type == key {
      // The key guarantees the type; a cast would look up the metadata of both.
      return unsafeDowncast(last.binding, to: RecordBinding<R>.self)
    }
    let binding = try draft.records.binding(of: type)
    lastBinding = (key, binding)
    return binding
  }
}
