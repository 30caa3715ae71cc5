import Annals

/// Writes the objects of a state as CSV (RFC 4180, lines ending in LF) or as aligned tables, in the
/// order of their rows.
struct TableWriter {
  private let snapshot: Snapshot
  private let console: Console

  init(_ snapshot: Snapshot, _ console: Console) {
    self.snapshot = snapshot
    self.console = console
  }

  /// Writes one table: the columns `entity` and `id`, then every property of any of the entities.
  mutating func writeCSV(_ entities: [Entity]) throws {
    var names: [String] = []
    for entity in entities {
      for name in columns(of: entity)
      where !names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
        names.append(name)
      }
    }
    let table = try RowTable(["entity", "id"] + names, isCSV: true, console)
    for entity in entities {
      try snapshot.reader.forEachObject(inPassing: entity) { object in
        try table.write([entity.name] + cells(of: object, names))
      }
    }
  }

  /// Writes a table for each entity that has objects.
  mutating func writeTables(_ entities: [Entity]) throws {
    var isFirst = true
    for entity in entities {
      let count = try snapshot.count(of: entity.name)
      if count == 0 { continue }
      if !isFirst { try console.output.line() }
      isFirst = false
      try console.output.line(
        console.output.styled("\(entity.name)  \(Numerals.counted(count, "object"))", .bold))
      try writeTable(entity)
    }
  }

  private func writeTable(_ entity: Entity) throws {
    let names = columns(of: entity)
    let table = try RowTable(["id"] + names, isCSV: false, console)
    try snapshot.reader.forEachObject(inPassing: entity) { object in
      try table.write(cells(of: object, names))
    }
    try table.flush()
  }

  /// Writes one table of the objects in these rows of an entity, in their order.
  func write(_ rows: [Int64], of entity: Entity, isCSV: Bool) throws {
    let names = columns(of: entity)
    let table = try RowTable(["id"] + names, isCSV: isCSV, console)
    for row in rows {
      if let object = try snapshot.reader.object(row, of: entity) {
        try table.write(cells(of: object, names))
      }
    }
    try table.flush()
  }

  private func cells(of object: StoredObject, _ names: [String]) throws -> [String?] {
    [try id(of: object)] + (try names.map { try text(object[$0]) })
  }

  /// The names of the columns after the id.
  private func columns(of entity: Entity) -> [String] {
    let key = entity.keyAttribute
    return entity.readableProperties.filter { property in
      property.number != key?.number || property.name != "id"
    }.map(\.name)
  }

  private func id(of object: StoredObject) throws -> String {
    let id = object.objectID
    let name = try snapshot.reader.name(
      of: ObjectReference(entity: id.entity, row: id.row))
    return name.keyText ?? "#\(name.row)"
  }

  /// A value as a table shows it; nil for none.
  func text(_ value: Value) throws -> String? {
    switch value {
    case .null: nil
    case .object(let target): try name(target)
    case .objects(let targets): try targets.map(name).joined(separator: " ")
    default: value.plainText
    }
  }

  private func name(_ target: ObjectReference) throws -> String {
    let name = try snapshot.reader.name(of: target)
    return name.keyText ?? "#\(name.row)"
  }
}
