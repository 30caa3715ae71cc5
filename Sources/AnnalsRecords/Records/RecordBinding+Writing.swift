import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsState

// Writing. Values that a property cannot hold are not written but added to `violations`; the
// transaction fails at its end with all of them, and with those that break a rule.

extension RecordBinding {
  /// Writes all properties of an object that was just inserted.
  package func insert(
    _ value: R, _ row: Int64, into draft: inout Draft
  ) throws(AnnalsError) {
    try checkComplete()
    let violationsBefore = draft.violations.count
    for (property, value) in layout.others {
      try draft.store(value, in: property, row: row, of: entity)
    }
    var writer = try writer(of: row, into: &draft, draft.largeValues, base: nil)
    try write(value, &writer, into: &draft)
    if exchange.isOpen, draft.violations.count == violationsBefore {
      let reader = draft.reader
      stopIfExchanged(value, row, reader.state, reader.store, reader.largeValues)
    }
  }

  /// Writes the properties, or only those at some positions, in which `value` differs from
  /// `previous`, the object's current record. Without `addingLargeValues`, refuses those that are
  /// not among the stored ones.
  package func update(
    from previous: R, to value: R, only positions: ContiguousArray<Int>? = nil, _ row: Int64,
    into draft: inout Draft, addingLargeValues: Bool = true
  ) throws(AnnalsError) {
    try checkComplete()
    var positions = positions
    if !layout.derived.isEmpty {
      let all = positions ?? ContiguousArray(layout.columns.indices)
      positions = all.filter { !layout.derived.contains($0) }
      for position in all
      where layout.derived.contains(position)
        && !record.accesses[position].areSame(previous, value)
      {
        refuse(record.accesses[position].value(value), position, row, in: &draft)
      }
    }
    let base = draft.base
    let sink: any LargeValueSink =
      addingLargeValues
      ? draft.largeValues : StoredLargeValues(source: draft.largeValues)
    try withUnsafePointer(to: previous) { old throws(AnnalsError) in
      try withUnsafePointer(to: base) { base throws(AnnalsError) in
        var writer = try writer(of: row, into: &draft, sink, base: base)
        try write(value, &writer, unless: UnsafeRawPointer(old), only: positions, into: &draft)
      }
    }
  }

  /// Writes the property at a position, without reading the others.
  package func set<V: AttributeValue>(
    _ position: Int, to value: V, _ row: Int64, into draft: inout Draft
  ) throws(AnnalsError) {
    try checkComplete()
    if !layout.derived.isEmpty, layout.derived.contains(position) {
      let object = ObjectReference(entity: entity, row: row)
      let current = try draft.value(object, layout.columns[position].property)
      let given = Value.whole(value)
      let isSame = given == (current.isNull ? layout.defaults[position] : current)
      return isSame ? () : refuse(given, position, row, in: &draft)
    }
    let base = draft.base
    try withUnsafePointer(to: base) { base throws(AnnalsError) in
      var writer = try writer(of: row, into: &draft, draft.largeValues, base: base)
      writer.index = position
      if try isImplied(value, writer) { return }
      writer.put(value)
      if !writer.violations.isEmpty { draft.violations += writer.violations }
      if let fault = writer.fault { throw fault }
    }
  }

  /// Adds a violation for a derived property that is set.
  private func refuse(_ value: Value, _ position: Int, _ row: Int64, in draft: inout Draft) {
    guard let derivation = layout.attributes[position]?.derivation else { return }
    let named = draft.schema.entity(numbered: entity).map {
      draft.schema.naming(derivation, of: $0)
    }
    draft.violations.append(
      ValidationViolation(
        entity: layout.entityName, object: ObjectReference(entity: entity, row: row),
        property: layout.names[position], rule: .derived("\(named ?? derivation)"), value: value))
  }

  /// Whether the value is the default that a stored null reads as; then setting it is no change.
  private func isImplied<V: AttributeValue>(
    _ value: V, _ writer: RecordWriter
  ) throws(AnnalsError) -> Bool {
    let column = layout.columns[writer.index]
    guard column.hasDefault, !column.isOptional else { return false }
    let isNull = try AnnalsError.translating { try writer.editor.value(of: column.property).isNull }
    guard isNull else { return false }
    let implied = layout.defaults[writer.index]
    var arena: ContiguousArray<UInt8> = []
    let cell = ValueCell(implied, appendingTo: &arena)
    var isSame = false
    value._withCell { given in
      isSame = arena.withUnsafeBytes {
        ValueCell.areEqual(given.cell, in: given.arena, cell, in: $0)
      }
    }
    return isSame
  }

  /// Writes a record's properties with a writer, and adds what it refused to the draft.
  private func write(
    _ value: R, _ writer: inout RecordWriter, unless previous: UnsafeRawPointer? = nil,
    only positions: ContiguousArray<Int>? = nil, into draft: inout Draft
  ) throws(AnnalsError) {
    withUnsafePointer(to: value) { address in
      put(UnsafeRawPointer(address), unless: previous, only: positions, &writer)
    }
    if !writer.violations.isEmpty { draft.violations += writer.violations }
    if let fault = writer.fault { throw fault }
  }

  /// Writes into the columns of one object. `base` is the state before the draft; nil for a new
  /// object.
  private func writer(
    of row: Int64, into draft: inout Draft, _ largeValues: any LargeValueSink,
    base: UnsafePointer<State>?
  ) throws(AnnalsError) -> RecordWriter {
    RecordWriter(
      layout: layout, editor: try draft.editor(of: entity, row), store: draft.reader.store,
      largeValues: largeValues, base: base)
  }

  /// Throws `.invalidSchema` if the store lacks a property, so that no record can be written.
  func checkComplete() throws(AnnalsError) {
    guard layout.missing.isEmpty else {
      throw AnnalsError.invalidSchema(
        layout.missing.map {
          SchemaConflict(
            .unknownName, record.name, $0,
            layout.reasonsMissing[$0]
              ?? "the store does not have it; open it with records: \(R.self).self")
        })
    }
  }
}

/// Reads stored large values, and accepts no new ones.
private struct StoredLargeValues: LargeValueSink {
  let source: any LargeValueSource

  func bytes(of value: LargeValue) throws(AnnalsError) -> ContiguousArray<UInt8> {
    try source.bytes(of: value)
  }

  func cursor(of value: LargeValue) throws(AnnalsError) -> LargeValueCursor? {
    try source.cursor(of: value)
  }

  func add(_ bytes: ContiguousArray<UInt8>, tag: ValueTag) throws(AnnalsError) -> LargeValue {
    throw AnnalsError(.noSpace, "a value of \(bytes.count) bytes is not among those stored")
  }
}
