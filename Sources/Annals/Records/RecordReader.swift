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
  /// The entity's table; nil in a state older than the entity.
  let table: TableView?
  let store: RawUUID
  let largeValues: any LargeValueSource
  var row: Int64 = 0
  /// The rows of the current object's block.
  private var block = RowBlock.none
  private var view = RowView.empty
  /// The table's columns of the properties, -1 for missing ones; empty without a table.
  private let positions: ContiguousArray<Int>
  private var index = 0
  /// For each property the texts that were read of it; none until some objects were read.
  private var texts: ContiguousArray<SharedTexts> = []
  private var objectCount = 0
  /// From how many objects on that pays.
  private static let manyObjects = 512
  private(set) var fault: AnnalsError?

  init(
    _ layout: RecordLayout, state: State, store: RawUUID, largeValues: any LargeValueSource
  ) {
    self.layout = layout
    self.state = state
    self.store = store
    self.largeValues = largeValues
    let table = state.table(layout.entity)
    self.table = table
    guard let table else {
      positions = []
      return
    }
    positions = ContiguousArray(layout.columns.map { table.column(of: $0.property) ?? -1 })
  }

  /// Moves to an object, before its first property.
  mutating func move(to row: Int64) {
    self.row = row
    index = 0
    objectCount &+= 1
    if objectCount == RecordReader.manyObjects {
      texts = ContiguousArray(repeating: SharedTexts(), count: positions.count)
    }
    if fault != nil { fault = nil }
    // The view stays within a block: one that was just written, and is read in larger pieces than
    // it was written in, has to wait until all that was written before is in memory.
    if !block.contains(row), let table {
      block = table.block(of: row)
      view = block.view(of: row) ?? .empty
    }
  }

  /// Moves to one property of the object.
  mutating func move(toProperty index: Int) {
    self.index = index
  }

  /// Reads the next property.
  @inline(__always)
  mutating func next<V: AttributeValue>(_ type: V.Type) throws(Stop) -> V {
    let column = layout.columns[index]
    defer { index += 1 }
    guard !column.isRelationship else { return try relationship() }
    guard index < positions.count, positions[index] >= 0 else {
      return try decoded(.null, in: UnsafeRawBufferPointer(start: nil, count: 0))
    }
    let found: RowCell
    do throws(StateFault) {
      found = try view.cell(positions[index], ofNeighbour: row)
    } catch {
      throw stop(AnnalsError(error))
    }
    // Whatever needs more than the cell is read below, off the common path.
    if !found.cell.isLarge, !found.cell.isNull || !column.hasDefault {
      if let text: V = sharedText(found) { return text }
      if let value = V._read(StoredCell(found.cell, in: found.arena)) { return value }
    }
    return try nextIndirect(column)
  }

  /// The text that a cell of the property at `index` holds, if it is to be one.
  @inline(__always)
  private mutating func sharedText<V: AttributeValue>(_ found: RowCell) -> V? {
    guard V.self == String.self || V.self == String?.self, index < texts.count,
      found.cell.tag == .string
    else { return nil }
    let bytes = UnsafeRawBufferPointer(rebasing: found.arena[found.cell.arenaRange])
    return texts[index].text(bytes) as? V
  }

  /// Stops reading at the last property: its stored value does not fit the type.
  @usableFromInline
  mutating func refuseLast(as type: any Any.Type) -> Stop {
    index -= 1
    let stored = try? state.value(layout.entity, row, layout.columns[index].property)
    return stop(unreadable(stored ?? .null, as: type))
  }

  /// Reads a property that is a large value, a default, or unreadable.
  private mutating func nextIndirect<V: AttributeValue>(
    _ column: RecordColumn
  ) throws(Stop) -> V {
    let stored: Value
    do throws(StateFault) {
      stored = try state.value(layout.entity, row, column.property)
    } catch {
      throw stop(AnnalsError(error))
    }
    var arena: ContiguousArray<UInt8> = []
    let cell = ValueCell(stored, appendingTo: &arena)
    return try decode(cell, in: arena)
  }

  /// Decodes a cell of the property at `index`.
  mutating func decoded<V: AttributeValue>(
    _ cell: ValueCell, in arena: UnsafeRawBufferPointer
  ) throws(Stop) -> V {
    if cell.isNull {
      let value = layout.defaults[index]
      if !value.isNull {
        var bytes: ContiguousArray<UInt8> = []
        let cell = ValueCell(value, appendingTo: &bytes)
        if let result = bytes.withUnsafeBytes({ V._read(StoredCell(cell, in: $0)) }) {
          return result
        }
      }
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

  /// As `decoded`, for an owned arena.
  private mutating func decode<V: AttributeValue>(
    _ cell: ValueCell, in arena: ContiguousArray<UInt8>
  ) throws(Stop) -> V {
    var result: Result<V, Stop> = .failure(Stop())
    arena.withUnsafeBytes { bytes in
      do throws(Stop) {
        result = .success(try decoded(cell, in: bytes))
      } catch {
        result = .failure(error)
      }
    }
    return try result.get()
  }

  /// Reads a relationship. A to-one relationship to a deleted object reads as nil.
  private mutating func relationship<V: AttributeValue>() throws(Stop) -> V {
    let column = layout.columns[index]
    var objects: [ObjectID] = []
    var isErased = false
    do throws(StateFault) {
      switch try state.value(layout.entity, row, column.property) {
      case .object(let target):
        if try state.contains(target.entity, target.row) { objects.append(id(target)) }
      case .objects(let targets): objects = targets.map { id($0) }
      case .erased: isErased = true
      default: break
      }
    } catch {
      throw stop(AnnalsError(error))
    }
    if isErased { objects = try erasedObjects(V.self) }
    guard let result = V._read(objects) else {
      throw stop(unreadable(.null, as: V.self))
    }
    return result
  }

  /// What the erased value of the property at `index` reads as: the record's value for it, or nil.
  private mutating func erased<V: AttributeValue>() throws(Stop) -> V {
    if let value = layout.valuesWhenErased[index]?.value {
      var arena: ContiguousArray<UInt8> = []
      let cell = ValueCell(value, appendingTo: &arena)
      if let result = arena.withUnsafeBytes({ V._read(StoredCell(cell, in: $0)) }) {
        return result
      }
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
    let what =
      value.isNull
      ? "has no value, and the record's property is not optional"
      : "is \(value.shortDescription) (\(value.tag)), which is no \(type)"
    return AnnalsError(.unreadableRecord, "\(place) \(what)")
  }
}
