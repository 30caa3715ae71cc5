import Annals
import AnnalsModel
import AnnalsState

/// Writes a state in canonical form: one line of JSON for each object, sorted by entity and id,
/// with the members sorted by name. Everything is sorted by UTF-8 bytes.
///
/// Each line has the members `entity` and `id`. `id` is the object's key, or `#ROW` without a key.
/// A property with one of these names that is not the key is written with `_` appended.
package struct CanonicalState {
  private let snapshot: Snapshot
  private var reader: StateReader { snapshot.reader }
  private var json = JSONWriter(escapingHidden: false)
  /// The large values of the lines that are held.
  private var largeValues: [LargeMember] = []
  /// The plan of the last object that was written alone.
  private var lastPlan: (entity: EntityNumber, plan: LinePlan)?
  /// About how many bytes of lines are held at a time, to sort them.
  private let heldBytes: Int

  /// A line that is held.
  private struct Line {
    var bytes: Range<Int>
    var largeValues: Range<Int>
  }

  /// A member whose value is read when its line is written.
  private struct LargeMember {
    /// Where it belongs in the bytes of the lines.
    var place: Int
    var quotedName: ContiguousArray<UInt8>
    var value: LargeValue
    var type: AttributeType
    /// Whether it is the first of its line: then its comma is behind it.
    var isFirst: Bool
  }

  /// A writer of this snapshot that holds about `heldBytes` of lines at a time.
  package init(_ snapshot: Snapshot, holding heldBytes: Int = 32 << 20) {
    self.snapshot = snapshot
    self.heldBytes = heldBytes
  }

  /// Passes the lines of the named entity, or of all, to `write`, about 64 KiB at a time.
  ///
  /// Needs memory for the keys of one entity, the lines held, one group of rows, and 1 MiB of a
  /// large value; chunks loaded for this are not kept. Since lines are not in the order of rows,
  /// lines beyond those held cost reading groups again. Throws `.invalidArgument` for an unknown
  /// entity, and whatever `write` throws.
  package mutating func write(
    entity name: String? = nil, to write: (ContiguousArray<UInt8>) throws -> Void
  ) throws {
    var entities: [Entity]
    if let name {
      entities = [try snapshot.entity(named: name)]
    } else {
      entities = reader.state.schema.liveEntities
      entities.sort { $0.name.precedesInBytes($1.name) }
    }
    for entity in entities {
      guard let table = reader.state.table(entity.number) else { continue }
      let plan = LinePlan(entity, table)
      let rows = try sortedRows(entity, table)
      var start = 0
      var count = 1_024
      while start < rows.count {
        let part = rows[start..<min(rows.count, start + count)]
        try self.write(part, entity, plan, table, to: write)
        // Estimates how many rows fill the bytes held, from what these rows took.
        count = max(1, min(count * 8, count * heldBytes / max(1, json.bytes.count)))
        removeLines()
        start = part.endIndex
      }
    }
  }

  /// Writes the lines of these rows in their order. Makes them group by group, so that each group
  /// is loaded once.
  private mutating func write(
    _ rows: ArraySlice<Int64>, _ entity: Entity, _ plan: LinePlan, _ table: TableView,
    to write: (ContiguousArray<UInt8>) throws -> Void
  ) throws {
    var lines = [Line](repeating: Line(bytes: 0..<0, largeValues: 0..<0), count: rows.count)
    var passing = PassingTable(table)
    for place in rows.indices.sorted(by: { rows[$0] < rows[$1] }) {
      let part = passing.part(of: rows[place])
      lines[place - rows.startIndex] = try append(rows[place], entity, plan, part)
    }
    var piece: ContiguousArray<UInt8> = []
    for line in lines {
      try append(line, to: &piece, write)
      guard piece.count >= 1 << 16 else { continue }
      try write(piece)
      piece.removeAll(keepingCapacity: true)
    }
    if !piece.isEmpty { try write(piece) }
  }

  /// Appends a line that is held, with its large values, which are written as they are read.
  private func append(
    _ line: Line, to piece: inout ContiguousArray<UInt8>,
    _ write: (ContiguousArray<UInt8>) throws -> Void
  ) throws {
    var start = line.bytes.lowerBound
    for member in largeValues[line.largeValues] {
      piece.append(contentsOf: json.bytes[start..<member.place])
      start = member.place
      try append(member, to: &piece, write)
    }
    piece.append(contentsOf: json.bytes[start..<line.bytes.upperBound])
  }

  /// Appends a large value as a member, unless its bytes were lost before the store was salvaged.
  private func append(
    _ member: LargeMember, to piece: inout ContiguousArray<UInt8>,
    _ write: (ContiguousArray<UInt8>) throws -> Void
  ) throws {
    let form = member.value.form(as: member.type)
    var text = LargeValueText(member.value, json.escaping)
    var hasBegun = false
    let isThere = try reader.largeValues.forEachPiece(of: member.value) { bytes in
      if !hasBegun {
        if !member.isFirst { piece.append(UInt8(ascii: ",")) }
        piece.append(contentsOf: member.quotedName)
        piece.append(contentsOf: form.start.utf8)
        hasBegun = true
      }
      text.append(bytes, to: &piece)
      guard piece.count >= 1 << 16 else { return }
      try write(piece)
      piece.removeAll(keepingCapacity: true)
    }
    guard isThere, hasBegun else { return }
    text.appendRest(to: &piece)
    piece.append(contentsOf: form.end.utf8)
    if member.isFirst { piece.append(UInt8(ascii: ",")) }
  }

  private mutating func removeLines() {
    json.removeAll()
    largeValues.removeAll(keepingCapacity: true)
  }

  /// Passes the line of one object to `write`.
  package mutating func write(
    _ object: ObjectReference, to write: (ContiguousArray<UInt8>) throws -> Void
  ) throws {
    guard let entity = reader.state.schema.entity(numbered: object.entity),
      let table = reader.state.table(object.entity)
    else { return }
    if lastPlan?.entity != entity.number {
      lastPlan = (entity.number, LinePlan(entity, table))
    }
    guard let plan = lastPlan?.plan else { return }
    defer { removeLines() }
    let line = try append(object.row, entity, plan, table)
    var piece: ContiguousArray<UInt8> = []
    try append(line, to: &piece, write)
    try write(piece)
  }

  /// The rows of the entity's objects by the bytes of their ids.
  private func sortedRows(_ entity: Entity, _ table: TableView) throws(AnnalsError) -> [Int64] {
    var ids: [(start: Int, end: Int, row: Int64)] = []
    var text: ContiguousArray<UInt8> = []
    let key = entity.keyAttribute
    let column = key.flatMap { table.column(of: $0.number) }
    try AnnalsError.translating {
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
            try column.map { try table.value(row, column: $0) } ?? .null
          if value.isNull, let key, !key.isOptional { value = key.defaultValue ?? .null }
          let name = ObjectName(entity: entity.name, key: value, row: row)
          text.append(contentsOf: (name.keyText ?? "#\(row)").utf8)
        }
        ids.append((start, text.count, row))
      }
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
  ) throws(AnnalsError) -> Line {
    let (first, firstLarge) = (json.bytes.count, largeValues.count)
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
        // Unique values are not large, except in a file that somebody made.
        let found = try value(row, attribute, column, table)
        let value = try reader.largeValues.complete(found) ?? .null
        if value.isNull { json.string("#\(row)") } else { json.value(value, as: attribute.type) }
      case .attribute(let attribute, let column):
        if let column, try appendText(row, column, member, attribute, table) { continue }
        let value = try value(row, attribute, column, table)
        if case .large(let large) = value {
          largeValues.append(
            LargeMember(
              place: json.bytes.count, quotedName: member.quotedName, value: large,
              type: attribute.type, isFirst: json.isAtBeginning))
          continue
        }
        guard !value.isNull else { continue }
        json.key(quoted: member.quotedName)
        json.value(value, as: attribute.type)
      case .relationship(let relationship):
        try append(relationship, member.name, row, table)
      }
    }
    json.endObjectLine()
    return Line(
      bytes: first..<json.bytes.count, largeValues: firstLarge..<largeValues.count)
  }

  /// Writes a text straight from the column; returns false for any other value.
  private mutating func appendText(
    _ row: Int64, _ column: Int, _ member: LinePlan.Member, _ attribute: Attribute,
    _ table: TableView
  ) throws(AnnalsError) -> Bool {
    guard attribute.type == .string || attribute.type == .any else { return false }
    return try AnnalsError.translating {
      try table.withCell(row, column: column) { cell, arena in
        guard cell.tag == .string, !cell.isLarge else { return false }
        json.key(quoted: member.quotedName)
        json.string(utf8: UnsafeRawBufferPointer(rebasing: arena[cell.arenaRange]))
        return true
      }
    }
  }

  private func value(
    _ row: Int64, _ attribute: Attribute, _ column: Int?, _ table: TableView
  ) throws(AnnalsError) -> Value {
    let value = try value(row, column, table)
    if value.isNull, !attribute.isOptional { return attribute.defaultValue ?? .null }
    return value
  }

  private func value(
    _ row: Int64, _ column: Int?, _ table: TableView
  ) throws(AnnalsError) -> Value {
    guard let column else { return .null }
    return try AnnalsError.translating { try table.value(row, column: column) }
  }

  private mutating func append(
    _ relationship: Relationship, _ name: String, _ row: Int64, _ table: TableView
  ) throws(AnnalsError) {
    let value = try value(row, table.column(of: relationship.number), table)
    if value.isNull { return }
    json.key(name)
    try json.references(value, in: reader)
  }
}
