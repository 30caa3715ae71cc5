import Annals

/// Writes the objects of a state as CSV (RFC 4180, lines ending in LF) or as aligned tables, in the
/// order of their rows.
struct TableWriter {
  private let snapshot: Snapshot
  private let console: Console
  /// Column widths of a table are taken from this many objects; longer cells are cut.
  private static let sampleSize = 1000
  private static let widestCell = 40

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
    try console.output.line(
      (["entity", "id"] + names).map(TableWriter.quoted).joined(separator: ","))
    for entity in entities {
      try snapshot.reader.forEachObject(inPassing: entity) { object in
        var cells = [TableWriter.quoted(entity.name), TableWriter.quoted(try id(of: object))]
        for name in names {
          let value = object[name]
          let cell = value.isNull ? "" : try text(value)
          // An empty text is quoted, so that it differs from no value.
          cells.append(cell.isEmpty && !value.isNull ? "\"\"" : TableWriter.quoted(cell))
        }
        try console.output.line(cells.joined(separator: ","))
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
    let names = ["id"] + columns(of: entity)
    var sample: [[String]] = [names]
    var widths: [Int]?
    func flush() throws {
      let found = names.indices.map { column in
        min(sample.map { $0[column].count }.max() ?? 0, TableWriter.widestCell)
      }
      widths = found
      for row in sample { try writeRow(row, found) }
      sample.removeAll()
    }
    try snapshot.reader.forEachObject(inPassing: entity) { object in
      var row = [ValueText.plain(try id(of: object))]
      for name in names.dropFirst() {
        let value = object[name]
        row.append(value.isNull ? "" : ValueText.plain(try text(value)))
      }
      if let widths { return try writeRow(row, widths) }
      sample.append(row)
      if sample.count > TableWriter.sampleSize { try flush() }
    }
    if widths == nil { try flush() }
  }

  private func writeRow(_ row: [String], _ widths: [Int]) throws {
    let cells = zip(row, widths).map { cell, width in
      (cell.count > width ? cell.prefix(max(width - 1, 0)) + "…" : cell).padded(right: width)
    }
    var line = cells.joined(separator: "  ")
    while line.last == " " { line.removeLast() }
    if console.terminal.isOutput, let width = console.terminal.width, line.count > width {
      line = line.prefix(width - 1) + "…"
    }
    try console.output.line(line)
  }

  /// The names of the columns behind the id.
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

  private func text(_ value: Value) throws -> String {
    switch value {
    case .object(let target): try name(target)
    case .objects(let targets): try targets.map(name).joined(separator: " ")
    default: value.plainText
    }
  }

  private func name(_ target: ObjectReference) throws -> String {
    let name = try snapshot.reader.name(of: target)
    return name.keyText ?? "#\(name.row)"
  }

  /// A cell in quotes where it needs them.
  private static func quoted(_ text: String) -> String {
    let needsQuotes = text.utf8.contains {
      $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") || $0 == 0x0A || $0 == 0x0D
    }
    guard needsQuotes else { return text }
    // By scalars: a quote and an accent behind it are one character.
    var result = "\"".unicodeScalars
    for scalar in text.unicodeScalars {
      if scalar == "\"" { result.append(scalar) }
      result.append(scalar)
    }
    return String(result) + "\""
  }
}
