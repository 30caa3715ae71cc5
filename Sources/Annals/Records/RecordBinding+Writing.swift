import AnnalsEngine
import AnnalsModel
import AnnalsState

// Writing. Values that a property cannot hold are not written but added to `violations`; the
// transaction fails at its end with all of them, and with those that break a rule.

extension RecordBinding {
  /// Writes all properties of an object that was just inserted.
  package func insert(
    _ value: R, _ row: Int64, into state: inout State, store: RawUUID,
    largeValues: any LargeValueSink, violations: inout [ValidationViolation]
  ) throws(AnnalsError) {
    try checkComplete()
    let violationsBefore = violations.count
    if !layout.others.isEmpty { try insertOthers(row, into: &state) }
    try write(
      value, row, into: &state, base: nil, store: store, largeValues: largeValues,
      violations: &violations)
    if exchange.isOpen, violations.count == violationsBefore {
      stopIfExchanged(value, row, state, store, largeValues)
    }
  }

  /// Writes the properties, or only those at some positions, in which `value` differs from
  /// `previous`, the object's current record. `base` is the state before the transaction.
  package func update(
    from previous: R, to value: R, only positions: ContiguousArray<Int>? = nil, _ row: Int64,
    into state: inout State, base: State, store: RawUUID, largeValues: any LargeValueSink,
    violations: inout [ValidationViolation]
  ) throws(AnnalsError) {
    try checkComplete()
    try withUnsafePointer(to: previous) { old throws(AnnalsError) in
      try withUnsafePointer(to: base) { base throws(AnnalsError) in
        try write(
          value, row, into: &state, base: base, store: store, largeValues: largeValues,
          previous: UnsafeRawPointer(old), only: positions, violations: &violations)
      }
    }
  }

  /// Writes one property, without reading the others. `base` is the state before the transaction.
  package func set<V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, to value: V, _ row: Int64, into state: inout State, base: State,
    store: RawUUID, largeValues: any LargeValueSink, violations: inout [ValidationViolation]
  ) throws(AnnalsError) {
    try checkComplete()
    let editor = try editor(row, of: &state)
    try withUnsafePointer(to: base) { base throws(AnnalsError) in
      var writer = RecordWriter(
        layout: layout, editor: editor, store: store, largeValues: largeValues, base: base)
      writer.index = position(of: keyPath)
      if try isImplied(value, writer) { return }
      writer.put(value)
      violations += writer.violations
      if let fault = writer.fault { throw fault }
    }
  }

  /// Whether the value is the default that a stored null reads as; then setting it is no change.
  private func isImplied<V: AttributeValue>(
    _ value: V, _ writer: RecordWriter
  ) throws(AnnalsError) -> Bool {
    let column = layout.columns[writer.index]
    guard column.hasDefault, !column.isOptional else { return false }
    let isNull = try AnnalsError.translating { () throws(StateFault) in
      try writer.editor.value(of: column.property).isNull
    }
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

  private func write(
    _ value: R, _ row: Int64, into state: inout State, base: UnsafePointer<State>?,
    store: RawUUID, largeValues: any LargeValueSink, previous: UnsafeRawPointer? = nil,
    only positions: ContiguousArray<Int>? = nil, violations: inout [ValidationViolation]
  ) throws(AnnalsError) {
    var writer = RecordWriter(
      layout: layout, editor: try editor(row, of: &state), store: store,
      largeValues: largeValues, base: base)
    withUnsafePointer(to: value) { address in
      put(UnsafeRawPointer(address), unless: previous, only: positions, &writer)
    }
    if !writer.violations.isEmpty { violations += writer.violations }
    if let fault = writer.fault { throw fault }
  }

  private func editor(
    _ row: Int64, of state: inout State
  ) throws(AnnalsError) -> RowEditor {
    try AnnalsError.translating { () throws(StateFault) in try state.editor(of: entity, row) }
  }

  /// Gives a new object the defaults of attributes that the record type does not have.
  private func insertOthers(
    _ row: Int64, into state: inout State
  ) throws(AnnalsError) {
    try AnnalsError.translating { () throws(StateFault) in
      for (property, value) in layout.others { try state.set(entity, row, property, to: value) }
    }
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
