import AnnalsEngine
import AnnalsModel
import AnnalsState

/// Reads the properties of objects one after the other, directly from the columns of a state.
///
/// Opaque; public only as a parameter of requirements of `AttributeValue`.
public struct RecordReader {
  /// Signals that reading has stopped; `fault` says why.
  public struct Stop: Error {}

  let layout: RecordLayout
  let state: State
  let store: RawUUID
  let largeValues: any LargeValueSource
  /// The row of the current object.
  var row: Int64 = 0
  /// The properties to read of each object; nil for all.
  private let properties: ContiguousArray<Int>?
  /// Their columns.
  private let columns: ContiguousArray<WantedColumn>
  /// The values of some objects, one after the other.
  private var cells: RowReader
  /// The next of the cells to read.
  private var cursor = 0
  /// The first cell of the current object.
  private var start = 0
  private let rows: RowSequence
  /// How many of the rows were given out, the one that stopped it among them, and how many read.
  private var givenCount = 0
  private var readCount = 0
  /// For each property the texts that were read of it; none until some objects were read.
  private var texts: ContiguousArray<SharedTexts> = []
  private var fault: AnnalsError?
  /// The object that was referred to last, which there is: many in a row often refer to one.
  private var lastTarget: ObjectReference?
  /// Where objects are made, if they are made far apart, and how long each is.
  private var target: UnsafeRawPointer?
  private var targetStride = 0
  /// Keeps reads ahead of their use from being left out.
  private var sum: UInt8 = 0

  /// From how many objects on sharing texts pays.
  private static let manyObjects = 512
  /// How many objects are read at a time: few enough for the nearest cache.
  private static let batchSize = 32

  /// A reader of these rows, or of any one by one; of all properties of the record type, or some.
  init(
    _ layout: RecordLayout, state: State, store: RawUUID, largeValues: any LargeValueSource,
    rows: RowSequence = .none, properties: ContiguousArray<Int>? = nil
  ) {
    self.layout = layout
    self.state = state
    self.store = store
    self.largeValues = largeValues
    self.rows = rows
    self.properties = properties
    let table = state.table(layout.entity)
    cells = RowReader(table)
    let wanted = properties ?? ContiguousArray(layout.columns.indices)
    columns = ContiguousArray(
      wanted.map { index in
        let column = layout.columns[index]
        return WantedColumn(
          column.isToMany
            ? nil : table?.column(of: layout.property(at: index, in: state)),
          hasDefault: column.hasDefault)
      })
    if rows.count >= RecordReader.manyObjects {
      texts = ContiguousArray(repeating: SharedTexts(), count: columns.count)
    }
  }

  /// A reader of values of one property that are not in a state: of `decoded` alone.
  init(
    _ layout: RecordLayout, row: Int64, property: Int, store: RawUUID,
    largeValues: any LargeValueSource
  ) {
    self.layout = layout
    state = State()
    self.store = store
    self.largeValues = largeValues
    rows = .none
    properties = nil
    columns = []
    cells = RowReader(nil)
    self.row = row
    cursor = property
  }

  /// Moves to an object, before its first property.
  mutating func move(to row: Int64) throws(Stop) {
    try withUnsafePointer(to: row) { (row) throws(Stop) in
      try read(UnsafeBufferPointer(start: row, count: 1))
    }
    self.row = row
    cursor = 0
    start = 0
  }

  /// Moves to the next of the rows to read. Returns where its object belongs; nil at the end.
  @usableFromInline
  mutating func moveToNext() throws(Stop) -> Int? {
    guard givenCount < rows.count else { return nil }
    let entry = rows[givenCount]
    givenCount &+= 1
    if givenCount > readCount { try readBatch() }
    start = cursor
    row = entry.row
    return entry.place
  }

  /// Says where objects are made. In another order than that of their places each write would wait
  /// for its cache lines: so those of some objects are brought near together.
  mutating func make<Object>(at target: UnsafeMutablePointer<Object>) {
    guard rows.isScattered else { return }
    self.target = UnsafeRawPointer(target)
    targetStride = MemoryLayout<Object>.stride
  }

  private mutating func touchTargets(_ count: Int) {
    guard let target else { return }
    for index in readCount..<readCount + count {
      let object = target + rows[index].place * targetStride
      for offset in stride(from: 0, to: targetStride, by: 64) {
        sum &+= object.load(fromByteOffset: offset, as: UInt8.self)
      }
    }
  }

  private mutating func readBatch() throws(Stop) {
    let count = min(RecordReader.batchSize, rows.count - readCount)
    let first = readCount
    let rows = rows
    try withUnsafeTemporaryAllocation(of: Int64.self, capacity: count) { buffer throws(Stop) in
      for index in 0..<count { buffer[index] = rows[first + index].row }
      try read(UnsafeBufferPointer(buffer))
    }
    touchTargets(count)
    readCount += count
    cursor = 0
  }

  /// Reads the cells of some rows.
  private mutating func read(_ rows: UnsafeBufferPointer<Int64>) throws(Stop) {
    if fault != nil { fault = nil }
    do throws(StateFault) {
      try cells.read(rows, columns)
    } catch {
      throw stop(AnnalsError(error))
    }
  }

  /// The id of the object it is at.
  @usableFromInline var objectID: ObjectID {
    ObjectID(store: store, entity: layout.entity, row: row)
  }

  /// The places of the objects that were made before reading stopped at the one given out last.
  var places: some Sequence<Int> {
    (0..<max(0, givenCount - 1)).lazy.map { rows[$0].place }
  }

  /// The index of the next property in the record type.
  private var index: Int {
    let place = cursor - start
    return properties.map { $0[place] } ?? place
  }

  /// Reads the next property by `quick`, which returns nil for anything but a plain value.
  @inline(__always)
  mutating func next<V: AttributeValue>(_ quick: (DirectCell) -> V?) throws(Stop) -> V {
    if let value = quick(cells.cell(cursor)) {
      cursor &+= 1
      return value
    }
    return try next()
  }

  /// Reads the next property by `quick`, which returns nil for anything but a plain value; nil for
  /// no value.
  @inline(__always)
  mutating func nextOptional<V: AttributeValue>(
    _ quick: (DirectCell) -> V?
  ) throws(Stop) -> V? {
    let cell = cells.cell(cursor)
    if cell.isPlain(.null) {
      cursor &+= 1
      return nil
    }
    if let value = quick(cell) {
      cursor &+= 1
      return value
    }
    return try next()
  }

  /// Reads the next property, a text.
  @inline(__always)
  mutating func nextText() throws(Stop) -> String {
    let cell = cells.cell(cursor)
    guard cell.isPlain(.string) else { return try next() }
    return text(cell)
  }

  /// Reads the next property, a text or none.
  @inline(__always)
  mutating func nextOptionalText() throws(Stop) -> String? {
    let cell = cells.cell(cursor)
    if cell.isPlain(.null) {
      cursor &+= 1
      return nil
    }
    guard cell.isPlain(.string) else { return try next() }
    return text(cell)
  }

  private mutating func text(_ cell: DirectCell) -> String {
    defer { cursor &+= 1 }
    guard !texts.isEmpty else { return String(decoding: cell.bytes, as: UTF8.self) }
    return texts[cursor - start].text(cell.bytes)
  }

  /// Reads the next property if it is a reference to an object that there is; nil, and it stays,
  /// for anything else.
  mutating func nextTarget() throws(Stop) -> ObjectID? {
    let cell = cells.cell(cursor)
    guard cell.isPlain(.object) else { return nil }
    let target = cell.target
    if target != lastTarget {
      do throws(StateFault) {
        guard try state.contains(target.entity, target.row) else { return nil }
      } catch {
        throw stop(AnnalsError(error))
      }
      lastTarget = target
    }
    cursor &+= 1
    return id(target)
  }

  /// Reads the next property, whatever it is.
  @inline(never)
  mutating func next<V: AttributeValue>() throws(Stop) -> V {
    let cell = cells.cell(cursor)
    let place = cursor - start
    defer { cursor += 1 }
    let column = layout.columns[index]
    guard !column.isRelationship else { return try relationship() }
    guard columns[place].position != nil else {
      return try decoded(.null, in: UnsafeRawBufferPointer(start: nil, count: 0))
    }
    if !cell.isNotPlain {
      let found = cell.rowCell
      if let value = V._read(StoredCell(found.cell, in: found.arena)) { return value }
    }
    return try nextIndirect()
  }

  /// Stops reading at the last property: its stored value does not fit the type.
  @usableFromInline
  mutating func refuseLast(as type: any Any.Type) -> Stop {
    cursor -= 1
    let stored = try? state.value(layout.entity, row, layout.property(at: index, in: state))
    return stop(unreadable(stored ?? .null, as: type))
  }

  /// Why reading has stopped.
  var error: AnnalsError { fault ?? AnnalsError(.unreadableRecord, "\(name) is unreadable") }

  /// Reads a property that is a large value, a default, or unreadable.
  private mutating func nextIndirect<V: AttributeValue>() throws(Stop) -> V {
    let stored: Value
    do throws(StateFault) {
      stored = try state.value(layout.entity, row, layout.property(at: index, in: state))
    } catch {
      throw stop(AnnalsError(error))
    }
    var arena: ContiguousArray<UInt8> = []
    let cell = ValueCell(stored, appendingTo: &arena)
    return try arena.withBytes { bytes throws(Stop) in try decoded(cell, in: bytes) }
  }

  /// Decodes a cell of the property at `index`.
  mutating func decoded<V: AttributeValue>(
    _ cell: ValueCell, in arena: UnsafeRawBufferPointer
  ) throws(Stop) -> V {
    if cell.isNull {
      let value = layout.defaults[index]
      if !value.isNull, let result = value.decoded(as: V.self) { return result }
    }
    if cell.tag == .erased { return try erased() }
    if cell.isLarge {
      let bytes: ContiguousArray<UInt8>
      do throws(AnnalsError) {
        bytes = try largeValues.bytes(
          of: LargeValue(
            tag: cell.tag, description: UnsafeRawBufferPointer(rebasing: arena[cell.arenaRange])))
      } catch {
        // An optional property reads as nil if its bytes were lost.
        if error.code == .lost, let none = V._read(StoredCell(.null, in: arena)) { return none }
        throw stop(error)
      }
      if let result = bytes.withUnsafeBytes({ V._read(StoredCell(cell.tag, bytes: $0)) }) {
        return result
      }
    } else if let result = V._read(StoredCell(cell, in: arena)) {
      return result
    }
    throw stop(unreadable(cell.value(in: arena), as: V.self))
  }

  /// Reads a relationship. A to-one relationship to a deleted object reads as nil.
  private mutating func relationship<V: AttributeValue>() throws(Stop) -> V {
    let property = layout.property(at: index, in: state)
    var objects: [ObjectID] = []
    var isErased = false
    var gone: ObjectReference?
    do throws(StateFault) {
      switch try state.value(layout.entity, row, property) {
      case .object(let target):
        if try state.contains(target.entity, target.row) {
          objects.append(id(target))
        } else {
          gone = target
        }
      case .objects(let targets): objects = targets.map { id($0) }
      case .erased: isErased = true
      default: break
      }
    } catch {
      throw stop(AnnalsError(error))
    }
    if isErased { objects = try erasedObjects(V.self) }
    if let result = V._read(objects) { return result }
    // Of what is pending, a required one may be deleted until something else is set.
    if let gone, largeValues.isPending, let result = V._read([id(gone)]) { return result }
    throw stop(leadsNowhere(gone))
  }

  /// The error for a required reference without an object, or whose object is gone.
  private func leadsNowhere(_ gone: ObjectReference?) -> AnnalsError {
    let place = "\(name).\(layout.names[index])"
    let reason = layout.reasonsMissing[layout.names[index]].map { ": " + $0 } ?? ""
    let what =
      gone.map {
        let entity = state.schema.entity(numbered: $0.entity)?.name ?? "#\($0.entity)"
        return "leads to \(entity)#\($0.row), which was deleted"
      } ?? "leads to no object\(reason)"
    return AnnalsError(
      .unreadableRecord,
      "\(place) \(what), and the record requires one; set it to another object with `tx.set`, or "
        + "make the property optional")
  }

  /// What the erased value of the property at `index` reads as: the record's value for it, or nil.
  private mutating func erased<V: AttributeValue>() throws(Stop) -> V {
    if let value = layout.valuesWhenErased[index]?.value,
      let result = value.decoded(as: V.self)
    {
      return result
    }
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    if V._isOptional, let none = V._read(StoredCell(.null, in: nothing)) { return none }
    throw stop(wasErased())
  }

  /// What an erased relationship reads as.
  mutating func erasedObjects<V: AttributeValue>(_ type: V.Type) throws(Stop) -> [ObjectID] {
    if let value = layout.valuesWhenErased[index] { return value.objects }
    guard V._isOptional else { throw stop(wasErased()) }
    return []
  }

  private func wasErased() -> AnnalsError {
    AnnalsError(
      .erased,
      "\(name).\(layout.names[index]) was erased, and the record's property does not say what it "
        + "reads as then; give it `.whenErased(…)`, or make it optional")
  }

  private func id(_ target: ObjectReference) -> ObjectID {
    ObjectID(store: store, entity: target.entity, row: target.row)
  }

  private mutating func stop(_ error: AnnalsError) -> Stop {
    fault = error
    return Stop()
  }

  /// The object's name for messages: by its key, if the state has it.
  var name: String {
    let reader = StateReader(state: state, store: store, largeValues: largeValues)
    let object = ObjectReference(entity: layout.entity, row: row)
    let key = (try? reader.key(of: object)) ?? .null
    return ObjectName(entity: layout.entityName, key: key, row: row).text
  }

  private func unreadable(_ value: Value, as type: any Any.Type) -> AnnalsError {
    let place = "\(name).\(layout.names[index])"
    let reason = layout.reasonsMissing[layout.names[index]].map { ": " + $0 } ?? ""
    let what =
      value.isNull
      ? "has no value, and the record's property is not optional"
        + (reason.isEmpty ? "; make it so, or give it a `.default(…)`" : reason)
      : "is \(value.shortDescription) (\(value.tag)), which is no \(type)\(reason). Objects by "
        + "name, as `Snapshot.object(_:)` returns them, have every value"
    return AnnalsError(.unreadableRecord, "\(place) \(what)")
  }
}
