import AnnalsEngine
import AnnalsModel
import AnnalsState

extension Snapshot {
  /// The object with this id as a record; nil if it does not exist in this state.
  ///
  /// In a past state, an optional attribute that did not exist then is nil, and a required one has
  /// its default; renamed properties are found, and widened values converted. Throws
  /// `.invalidSchema` if the store has no such entity, `.unreadableRecord` if a value does not fit
  /// its property, `.otherStore` if the object is one of another store.
  public func object<R: Record>(
    _ type: R.Type, _ id: ObjectID
  ) throws(AnnalsError) -> Object<R>? {
    try reader.object(id, try binding(type))
  }

  /// The object whose unique property has this value, as a record; nil if none has.
  ///
  /// Throws `.invalidArgument` if the property is not unique, and as `object(_:_:)` does.
  public func object<R: Record, V: AttributeValue>(
    _ type: R.Type, where keyPath: KeyPath<R, V>, is value: V
  ) throws(AnnalsError) -> Object<R>? {
    try reader.object(where: keyPath, is: value, try binding(type))
  }

  /// All objects of the record type, in id order.
  public func objects<R: Record>(of type: R.Type) throws(AnnalsError) -> [Object<R>] {
    try reader.objects(try binding(type))
  }

  /// Runs `body` on each object of the record type, in id order, holding one at a time. An error of
  /// `body` ends the walk.
  public func forEachObject<R: Record>(
    of type: R.Type, _ body: (Object<R>) throws -> Void
  ) throws {
    try reader.forEachObject(try binding(type), body)
  }

  /// The number of objects of the record type. O(1).
  public func count<R: Record>(of type: R.Type) throws(AnnalsError) -> Int {
    reader.state.count(of: try binding(type).entity)
  }

  /// Whether, in this state, the object's property is erased (`Store.erase`) and was not set since;
  /// false if the object does not exist.
  public func isErased<R: Record, V>(
    _ keyPath: KeyPath<R, V>, of id: ObjectID
  ) throws(AnnalsError) -> Bool {
    try id.requireOwn(reader.store)
    let binding = try binding(R.self)
    guard id.entity == binding.entity,
      let property = binding.property(keyPath)
    else { return false }
    return try AnnalsError.translating {
      try reader.state.contains(id.entity, id.row)
        && reader.state.value(id.entity, id.row, property).isErased
    }
  }

  private func binding<R: Record>(_ type: R.Type) throws(AnnalsError) -> RecordBinding<R> {
    try bindings.binding(of: type)
  }
}

extension BoundRecords {
  /// The record type, bound to the newest schema.
  package func binding<R: Record>(of type: R.Type) throws(AnnalsError) -> RecordBinding<R> {
    try bindings.binding(
      of: type, schema: schema, version: schemaVersion, history: history,
      migrations: migrations)
  }
}

extension StateReader {
  func object<R: Record>(
    _ id: ObjectID, _ binding: RecordBinding<R>
  ) throws(AnnalsError) -> Object<R>? {
    try id.requireOwn(store)
    guard id.entity == binding.entity else { return nil }
    let exists = try AnnalsError.translating { try state.contains(id.entity, id.row) }
    guard exists else { return nil }
    return Object(
      objectID: id,
      value: try binding.read(id.row, from: state, store: store, largeValues: largeValues))
  }

  func object<R: Record, V: AttributeValue>(
    where keyPath: KeyPath<R, V>, is value: V, _ binding: RecordBinding<R>
  ) throws(AnnalsError) -> Object<R>? {
    guard let property = binding.property(keyPath),
      let entity = state.schema.entity(numbered: binding.entity),
      let attribute = entity.attributes.first(where: { $0.number == property })
    else { return nil }
    let wanted = R.entity.definition(of: keyPath).single(Value.whole(value))
    guard let row = try row(of: entity, where: attribute.name, is: wanted) else { return nil }
    return try object(ObjectID(store: store, entity: binding.entity, row: row), binding)
  }

  func objects<R: Record>(_ binding: RecordBinding<R>) throws(AnnalsError) -> [Object<R>] {
    var rows: [Int64] = []
    rows.reserveCapacity(state.count(of: binding.entity))
    try AnnalsError.translating { try forEachRow(of: binding.entity) { rows.append($0) } }
    // They rise, as they are stored.
    var records = binding.reader(
      of: state, store: store, largeValues: largeValues, rows: RowSequence(rows, inOrder: true))
    return try binding.readAll(&records, count: rows.count)
  }

  func forEachObject<R: Record>(
    _ binding: RecordBinding<R>, _ body: (Object<R>) throws -> Void
  ) throws {
    var records = binding.reader(of: state, store: store, largeValues: largeValues)
    var rows = state.rows(of: binding.entity)
    // A loop here, and no closure in a loop elsewhere: it would look up the type's metadata for
    // each object.
    while true {
      let row = try AnnalsError.translating { try rows.next() }
      guard let row else { return }
      let id = ObjectID(store: store, entity: binding.entity, row: row)
      try body(Object(objectID: id, value: try binding.read(row, &records)))
    }
  }
}
