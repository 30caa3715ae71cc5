import AnnalsEngine
import AnnalsFormat
import AnnalsModel
import AnnalsState

/// Writes the properties of one object, directly into the columns of a state.
///
/// A value of a kind that its property cannot hold is not written but added to `violations`. Rules
/// are checked when the transaction ends.
///
/// Opaque; public only as a parameter of requirements of `AttributeValue`.
public struct RecordWriter {
  let layout: RecordLayout
  let editor: RowEditor
  let store: RawUUID
  let largeValues: any LargeValueSink
  /// The state before the transaction; nil for a new object.
  let base: UnsafePointer<State>?
  var violations: [ValidationViolation] = []
  var fault: AnnalsError?
  /// The index of the next property.
  var index = 0

  /// Whether the object is new, so that nulls need no writing.
  private var isNew: Bool { base == nil }

  /// Writes the next property of a record from memory, unless the previous value is the same.
  @inline(__always)
  mutating func put<V: AttributeValue>(
    at value: UnsafeRawPointer, unless previous: UnsafeRawPointer?, as type: V.Type
  ) {
    defer { index += 1 }
    guard fault == nil else { return }
    let value = value.assumingMemoryBound(to: V.self)
    if let previous {
      // An untouched value is the same in memory, bit by bit.
      let width = MemoryLayout<V>.size
      if UnsafeRawBufferPointer(start: value, count: width).hasSameBytes(
        as: UnsafeRawBufferPointer(start: previous, count: width))
      {
        return
      }
      if RecordWriter.areSame(previous.assumingMemoryBound(to: V.self).pointee, value.pointee) {
        return
      }
    }
    put(value.pointee)
  }

  /// Writes the next property of a record that has no address.
  mutating func put<V: AttributeValue>(_ value: V, unless previous: V?) {
    defer { index += 1 }
    guard fault == nil else { return }
    if let previous, RecordWriter.areSame(previous, value) { return }
    put(value)
  }

  /// Writes a value of the property at `index`.
  @inline(__always)
  mutating func put<V: AttributeValue>(_ value: V) {
    let column = layout.columns[index]
    guard !column.isRelationship else { return put(value._objects, column) }
    value._withCell { put($0, column) }
  }

  private mutating func put(_ stored: StoredCell, _ column: RecordColumn) {
    var cell = stored.cell
    if cell.isNull {
      if !isNew { set(.null, in: stored.arena, column) }
      return
    }
    if column.tag == .json, cell.tag == .string { cell.tag = .json }
    guard column.admits(cell.tag) else {
      let type = layout.attributes[index]?.type ?? .any
      return violate(.type(type), cell.value(in: stored.arena))
    }
    if cell.tag.isBytes, stored.arena.count > FormatLimits.largeValueThreshold {
      return putLong(cell, stored.arena, column)
    }
    set(cell, in: stored.arena, column)
  }

  /// Writes a value whose bytes are stored outside the column.
  private mutating func putLong(
    _ cell: ValueCell, _ bytes: UnsafeRawBufferPointer, _ column: RecordColumn
  ) {
    guard bytes.count < Int(UInt32.max) else {
      fault = AnnalsError(
        .tooLarge,
        "\(layout.entityName).\(layout.names[index]) has \(bytes.count) bytes; the most is 4 GiB")
      return
    }
    do throws(AnnalsError) {
      let large = try largeValue(cell.tag, bytes, column)
      var description: ContiguousArray<UInt8> = []
      let cell = ValueCell(.large(large), appendingTo: &description)
      description.withUnsafeBytes { set(cell, in: $0, column) }
    } catch {
      fault = error
    }
  }

  /// The large value for these bytes; reuses the one that the object has, or had before the
  /// transaction, if it is the same.
  private func largeValue(
    _ tag: ValueTag, _ bytes: UnsafeRawBufferPointer, _ column: RecordColumn
  ) throws(AnnalsError) -> LargeValue {
    let known = try AnnalsError.translating { () -> [Value] in
      guard let base else { return [] }
      let before = try base.pointee.value(layout.entity, editor.row, column.property)
      return [try editor.value(of: column.property), before]
    }
    return try largeValues.value(of: bytes, tag: tag, reusing: known)
  }

  private mutating func put(_ objects: [ObjectID], _ column: RecordColumn) {
    guard objects.count <= FormatLimits.maximumReferences else {
      let place = "\(layout.entityName)#\(editor.row).\(layout.names[index])"
      return fault = .tooManyReferences(objects.count, place)
    }
    if let other = objects.first(where: { $0.store != store }) {
      fault = AnnalsError(
        .otherStore,
        "\(layout.entityName).\(layout.names[index]) is given an object of store \(other.store)")
      return
    }
    guard let first = objects.first else {
      if !isNew { set(.null, in: UnsafeRawBufferPointer(start: nil, count: 0), column) }
      return
    }
    guard column.isToMany else {
      let cell = ValueCell(
        tag: .object, bits: UInt64(bitPattern: first.row), length: first.entity)
      return set(cell, in: UnsafeRawBufferPointer(start: nil, count: 0), column)
    }
    let references = objects.map { ObjectReference(entity: $0.entity, row: $0.row) }
    var arena: ContiguousArray<UInt8> = []
    let cell = ValueCell(
      .objects(column.isOrdered ? references : references.sortedAndUnique()),
      appendingTo: &arena)
    arena.withUnsafeBytes { set(cell, in: $0, column) }
  }

  private mutating func set(
    _ cell: ValueCell, in arena: UnsafeRawBufferPointer, _ column: RecordColumn
  ) {
    do throws(StateFault) {
      guard let position = editor.column(of: column.property) else { return }
      try editor.set(column: position, cell, in: arena)
    } catch {
      fault = AnnalsError(error)
    }
  }

  private mutating func violate(_ rule: ValidationRule, _ value: Value) {
    violations.append(
      ValidationViolation(
        entity: layout.entityName, object: ObjectReference(entity: layout.entity, row: editor.row),
        property: layout.names[index], rule: rule, value: value))
  }

  /// Whether two values in memory have different stored forms.
  static func differ<V: AttributeValue>(
    _ type: V.Type, _ a: UnsafeRawPointer, _ b: UnsafeRawPointer
  ) -> Bool {
    let width = MemoryLayout<V>.size
    if UnsafeRawBufferPointer(start: a, count: width).hasSameBytes(
      as: UnsafeRawBufferPointer(start: b, count: width))
    {
      return false
    }
    return !areSame(
      a.assumingMemoryBound(to: V.self).pointee, b.assumingMemoryBound(to: V.self).pointee)
  }

  /// Whether two values have the same stored form.
  static func areSame<V: AttributeValue>(_ a: V, _ b: V) -> Bool {
    if V._isRelationship { return a._objects == b._objects }
    var result = false
    a._withCell { x in
      b._withCell { y in result = ValueCell.areEqual(x.cell, in: x.arena, y.cell, in: y.arena) }
    }
    return result
  }
}
