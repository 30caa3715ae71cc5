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
  func writeCSV(_ entities: [Entity]) throws {
    let names = ["entity", "id"]
    let columns = entities.map { Columns(of: $0, besides: names) }
    var all = names
    var places = NameIndex(names)
    for name in columns.flatMap(\.names) where places.insert(name, at: all.count) {
      all.append(name)
    }
    let table = try RowTable(all, isCSV: true, console)
    for (entity, columns) in zip(entities, columns) {
      let indices = columns.names.map { places[$0] ?? 0 }
      try snapshot.reader.forEachObject(inPassing: entity) { object in
        var row = [String?](repeating: nil, count: all.count)
        row[0] = entity.name
        row[1] = try id(of: object)
        for (index, property) in zip(indices, columns.properties) {
          row[index] = try text(object[property])
        }
        try table.write(row)
      }
    }
  }

  /// Writes a table for each entity that has objects.
  func writeTables(_ entities: [Entity]) throws {
    var isFirst = true
    for entity in entities {
      let count = try snapshot.count(of: entity.name)
      if count == 0 { continue }
      if !isFirst { try console.output.line() }
      isFirst = false
      try console.output.line("\(entity.name)  \(Numerals.counted(count, "object"))", .bold)
      try writeTable(entity)
    }
  }

  private func writeTable(_ entity: Entity) throws {
    let columns = Columns(of: entity, besides: ["id"])
    let table = try RowTable(["id"] + columns.names, isCSV: false, console)
    try snapshot.reader.forEachObject(inPassing: entity) { object in
      try table.write(cells(of: object, columns))
    }
    try table.flush()
  }

  /// Writes one table of the objects in these rows of an entity, in their order.
  func write(_ rows: [Int64], of entity: Entity, isCSV: Bool) throws {
    let columns = Columns(of: entity, besides: ["id"])
    let table = try RowTable(["id"] + columns.names, isCSV: isCSV, console)
    for row in rows {
      if let object = try snapshot.reader.object(row, of: entity) {
        try table.write(cells(of: object, columns))
      }
    }
    try table.flush()
  }

  private func cells(of object: DynamicObject, _ columns: Columns) throws -> [String?] {
    [try id(of: object)] + (try columns.properties.map { try text(object[$0]) })
  }

  /// The columns of an entity's properties. As in the lines of a state, a key named `id` has none,
  /// and a name that is taken gets `_` appended.
  private struct Columns {
    var names: [String] = []
    let properties: [String]

    init(of entity: Entity, besides taken: [String]) {
      let key = entity.keyAttribute
      properties = entity.readableProperties.filter { property in
        property.number != key?.number || property.name != "id"
      }.map(\.name)
      var all = NameIndex(taken)
      for property in properties {
        var name = property
        while !all.insert(name, at: 0) { name += "_" }
        names.append(name)
      }
    }
  }

  private func id(of object: DynamicObject) throws -> String {
    try name(ObjectReference(object.objectID))
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
    try snapshot.reader.name(of: target).shortText
  }
}
