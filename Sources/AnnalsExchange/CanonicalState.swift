import Annals
import AnnalsModel
import AnnalsState

/// Writes a state in the canonical form: a line of JSON for each object, sorted by entity and id,
/// the members of each sorted by name, all as UTF-8 bytes.
///
/// `entity` and `id` are members of each line. `id` is the object's key; of an object without one,
/// `#ROW`. A property that has one of these names without being the key gets `_` behind it.
package struct CanonicalState {
  private let reader: StateReader
  private var json = JSONWriter()

  /// A writer of this snapshot.
  package init(_ snapshot: Snapshot) { reader = snapshot.reader }

  /// Hands the lines of the named entity, or of all, to `write`, some 64 KiB at a time.
  ///
  /// Needs memory for the keys of one entity. Throws `.invalidArgument` for an unknown entity, and
  /// whatever `write` throws.
  package mutating func write(
    entity name: String? = nil, to write: (ContiguousArray<UInt8>) throws -> Void
  ) throws {
    var entities: [Entity]
    if let name {
      entities = [try reader.entity(named: name)]
    } else {
      entities = reader.state.schema.entities.filter { !$0.isRemoved }
      entities.sort { $0.name.precedesInBytes($1.name) }
    }
    for entity in entities {
      guard let table = reader.state.table(entity.number) else { continue }
      let plan = LinePlan(entity, table)
      for row in try sortedRows(entity, table) {
        try append(row, entity, plan, table)
        guard json.bytes.count >= 1 << 16 else { continue }
        try write(json.bytes)
        json.removeAll()
      }
    }
    if !json.bytes.isEmpty { try write(json.bytes) }
    json.removeAll()
  }

  /// Hands the line of one object to `write`.
  package mutating func write(
    _ object: ObjectReference, to write: (ContiguousArray<UInt8>) throws -> Void
  ) throws {
    guard let entity = reader.state.schema.entity(numbered: object.entity),
      let table = reader.state.table(object.entity)
    else { return }
    try append(object.row, entity, LinePlan(entity, table), table)
    try write(json.bytes)
    json.removeAll()
  }

  /// The rows of the entity's objects by the bytes of their ids.
  private func sortedRows(_ entity: Entity, _ table: TableView) throws(AnnalsError) -> [Int64] {
    var ids: [(start: Int, end: Int, row: Int64)] = []
    var text: ContiguousArray<UInt8> = []
    let key = entity.keyAttribute
    let column = key.flatMap { table.column(of: $0.number) }
    do throws(StateFault) {
      var rows = table.rows
      while let row = try rows.next() {
        let start = text.count
        var isPlain = false
        if let column, key?.type == .string {
          try table.withCell(row, column: column) { cell, arena in
            guard cell.tag == .string, !cell.isLarge else { return }
            text.append(contentsOf: UnsafeRawBufferPointer(rebasing: arena[cell.arenaRange]))
            isPlain = true
          }
        }
        if !isPlain {
          var value =
            try column.map { (column) throws(StateFault) in
              try table.value(row, column: column)
            } ?? .null
          if value.isNull, let key, !key.isOptional { value = key.defaultValue ?? .null }
          let name = ObjectName(entity: entity.name, key: value, row: row)
          text.append(contentsOf: (name.keyText ?? "#\(row)").utf8)
        }
        ids.append((start, text.count, row))
      }
    } catch {
      throw AnnalsError(error)
    }
    text.withUnsafeBytes { bytes in
      ids.sort { a, b in
        let left = UnsafeRawBufferPointer(rebasing: bytes[a.start..<a.end])
        let right = UnsafeRawBufferPointer(rebasing: bytes[b.start..<b.end])
        return left.lexicographicallyPrecedes(right)
      }
    }
    return ids.map(\.row)
  }

  private mutating func append(
    _ row: Int64, _ entity: Entity, _ plan: LinePlan, _ table: TableView
  ) throws(AnnalsError) {
    json.beginObject()
    for member in plan.members {
      switch member.content {
      case .entity:
        json.key(quoted: member.quotedName)
        json.string(entity.name)
      case .row:
        json.key(quoted: member.quotedName)
        json.string("#\(row)")
      case .key(let attribute, let column):
        json.key(quoted: member.quotedName)
        let value = try value(row, attribute, column, table)
        if value.isNull { json.string("#\(row)") } else { json.value(value, as: attribute.type) }
      case .attribute(let attribute, let column):
        if let column, try appendText(row, column, member, attribute, table) { continue }
        let value = try value(row, attribute, column, table)
        guard !value.isNull else { continue }
        json.key(quoted: member.quotedName)
        json.value(value, as: attribute.type)
      case .relationship(let relationship):
        try append(
          relationship, member.name, of: ObjectReference(entity: entity.number, row: row))
      }
    }
    json.endObject()
    json.endLine()
  }

  /// Writes a text as it lies in the column, as most values do; false for another value.
  private mutating func appendText(
    _ row: Int64, _ column: Int, _ member: LinePlan.Member, _ attribute: Attribute,
    _ table: TableView
  ) throws(AnnalsError) -> Bool {
    guard attribute.type == .string || attribute.type == .any else { return false }
    do throws(StateFault) {
      return try table.withCell(row, column: column) { cell, arena in
        guard cell.tag == .string, !cell.isLarge else { return false }
        json.key(quoted: member.quotedName)
        json.string(utf8: UnsafeRawBufferPointer(rebasing: arena[cell.arenaRange]))
        return true
      }
    } catch {
      throw AnnalsError(error)
    }
  }

  private func value(
    _ row: Int64, _ attribute: Attribute, _ column: Int?, _ table: TableView
  ) throws(AnnalsError) -> Value {
    var value = Value.null
    if let column {
      do throws(StateFault) {
        value = try table.value(row, column: column)
      } catch {
        throw AnnalsError(error)
      }
    }
    if case .large(let reference) = value {
      guard let bytes = try reader.largeValues.bytesLeft(of: reference) else { return .null }
      return Value(bytes: bytes, tag: reference.tag)
    }
    if value.isNull, !attribute.isOptional { return attribute.defaultValue ?? .null }
    return value
  }

  private mutating func append(
    _ relationship: Relationship, _ name: String, of object: ObjectReference
  ) throws(AnnalsError) {
    let value: Value
    do throws(StateFault) {
      value = try reader.state.value(object.entity, object.row, relationship.number)
    } catch {
      throw AnnalsError(error)
    }
    if value.isNull { return }
    json.key(name)
    try json.references(value, in: reader)
  }
}

/// The members of the lines of one entity, in their order.
private struct LinePlan {
  enum Content {
    case entity
    case row
    case key(Attribute, column: Int?)
    case attribute(Attribute, column: Int?)
    case relationship(Relationship)
  }

  struct Member {
    var name: String
    /// The name as JSON, with its colon.
    var quotedName: ContiguousArray<UInt8>
    var content: Content

    init(name: String, content: Content) {
      self.name = name
      self.content = content
      quotedName = []
      Array(name.utf8).withUnsafeBytes { JSONWriter.append(quoting: $0, to: &quotedName) }
      quotedName.append(UInt8(ascii: ":"))
    }
  }

  private(set) var members: [Member] = [Member(name: "entity", content: .entity)]
  /// `entity` and `id` are taken in any case.
  private var names = NameIndex(["entity", "id"])

  init(_ entity: Entity, _ table: TableView) {
    let key = entity.keyAttribute
    members.append(
      Member(
        name: "id",
        content: key.map { .key($0, column: table.column(of: $0.number)) } ?? .row))
    for attribute in entity.attributes where !attribute.isRemoved {
      // The key named `id` is there already.
      if attribute.number == key?.number, attribute.name.hasSameBytes(as: "id") { continue }
      add(attribute.name, .attribute(attribute, column: table.column(of: attribute.number)))
    }
    for relationship in entity.relationships where !relationship.isRemoved {
      add(relationship.name, .relationship(relationship))
    }
    members.sort { $0.name.precedesInBytes($1.name) }
  }

  private mutating func add(_ name: String, _ content: Content) {
    var name = name
    while !names.insert(name, at: members.count) { name += "_" }
    members.append(Member(name: name, content: content))
  }
}

extension JSONWriter {
  /// Writes what a relationship names: the key of the target, or an array of keys. A target without
  /// a key, or that is gone, is `{"$row":N}`.
  package mutating func references(_ value: Value, in state: StateReader) throws(AnnalsError) {
    switch value {
    case .object(let target): try reference(target, in: state)
    case .objects(let targets):
      beginArray()
      for target in targets { try reference(target, in: state) }
      endArray()
    default: null()
    }
  }

  private mutating func reference(
    _ target: ObjectReference, in state: StateReader
  ) throws(AnnalsError) {
    let entity = state.state.schema.entity(numbered: target.entity)
    let key = try state.key(of: target)
    if let attribute = entity?.keyAttribute, !key.isNull {
      return self.value(key, as: attribute.type)
    }
    beginObject()
    member("$row", target.row)
    endObject()
  }
}
