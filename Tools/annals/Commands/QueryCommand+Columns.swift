import Annals
import AnnalsExchange
import AnnalsInspector
import AnnalsQuery

// Output of groups and of selected properties, as rows.

extension QueryCommand {
  /// Writes the groups of a fetch.
  func writeGroups(
    _ fetch: DynamicFetch, _ entity: Entity, _ snapshot: Snapshot, _ console: Console
  ) throws {
    let (key, aggregates) = try grouping(fetch, entity, snapshot.schema, console)
    var columns: [Column] = []
    if let key {
      let name = key.unit.map { "\($0.rawValue):\(key.path)" } ?? "\(key.path)"
      // The name `count` is that of the column of counts.
      columns.append(
        Column(name: name == "count" ? "count_" : name, type: type(of: key.path, entity, snapshot)))
    }
    columns.append(Column(name: "count", type: .int64))
    for aggregate in aggregates {
      columns.append(
        Column(
          name: aggregate.description,
          type: resultType(of: aggregate, entity, snapshot)))
    }
    let groups = try snapshot.groups(fetch, by: key, aggregates)
    if let key { try reportTextsWithoutDate(fetch, key, groups, entity, snapshot, console) }
    try write(
      columns,
      groups.map { group in
        let values = [.int(Int64(group.count))] + group.values
        guard key != nil else { return values }
        switch group.key {
        case .value(let value): return [value] + values
        case .bucket(let bucket): return [.string(bucket.label)] + values
        }
      }, snapshot, console)
  }

  /// What groups are made by, and what is computed of each.
  func grouping(
    _ fetch: DynamicFetch, _ entity: Entity, _ schema: Schema, _ console: Console
  ) throws -> (key: GroupKey?, aggregates: [Aggregate]) {
    let key = try request.groupKey(entity, in: schema, zone: console.zone)
    let aggregates = try request.aggregates(entity, in: schema)
    if let first = fetch.sortKeys.first, fetch.sortKeys.count > 1 || first.path != key?.path {
      throw CommandFailure(
        key.map { "groups are sorted by their key: --sort \($0.path), or --sort -\($0.path)" }
          ?? "without --group-by there is one group: leave --sort out", status: .usage)
    }
    return (key, aggregates)
  }

  /// Reports texts that were to be grouped by a calendar unit, if none of them is a date.
  private func reportTextsWithoutDate(
    _ fetch: DynamicFetch, _ key: GroupKey, _ groups: [DynamicGroup], _ entity: Entity,
    _ snapshot: Snapshot, _ console: Console
  ) throws {
    guard let unit = key.unit, ![.date, .day].contains(type(of: key.path, entity, snapshot)),
      groups.allSatisfy({ $0.key == .value(.null) })
    else { return }
    // The limit and the offset of the output count groups.
    let all = DynamicFetch(entity.name).where(fetch.condition)
    let texts = try snapshot.count(all.where(Condition.isNil(key.path).negated))
    guard texts > 0, try snapshot.groups(all, by: key, []).count == 1 else { return }
    console.report(
      "note: not one of the \(Numerals.counted(texts, "value")) of \(key.path) is a date, so "
        + "--group-by \(unit.rawValue): makes one group of them")
  }

  /// Writes selected properties of the objects of a fetch.
  func writeValues(
    _ names: String, _ fetch: DynamicFetch, _ entity: Entity, _ snapshot: Snapshot,
    _ console: Console
  ) throws {
    let paths = try OptionTexts(over: entity, in: snapshot).paths(names, of: "--properties")
    try write(
      paths.map { Column(name: $0.description, type: type(of: $0, entity, snapshot)) },
      try snapshot.values(fetch, paths), snapshot, console)
  }

  /// A column of the output.
  private struct Column {
    var name: String
    var type: AttributeType
  }

  private func write(
    _ columns: [Column], _ rows: [[Value]], _ snapshot: Snapshot, _ console: Console
  ) throws {
    guard format == .jsonl else {
      let writer = TableWriter(snapshot, console)
      let table = try RowTable(columns.map(\.name), isCSV: format == .csv, console)
      for row in rows { try table.write(row.map { try writer.text($0) }) }
      return try table.flush()
    }
    var json = JSONWriter()
    for row in rows {
      json.beginObject()
      for (column, value) in zip(columns, row) {
        json.key(column.name)
        if case .double(let number) = value, !number.isFinite {
          // JSON has no infinities, which a sum may be.
          json.null()
        } else {
          try json.value(value, as: column.type, in: snapshot.reader)
        }
      }
      json.endObjectLine()
      try console.output.drain(&json)
    }
  }

  /// The type of an aggregate's results.
  private func resultType(
    of aggregate: Aggregate, _ entity: Entity, _ snapshot: Snapshot
  ) -> AttributeType {
    let type = type(of: aggregate.path, entity, snapshot)
    return aggregate.function == .average && type != .decimal ? .double : type
  }

  /// The type of the attribute at a path; any for an object.
  private func type(of path: PropertyPath, _ entity: Entity, _ snapshot: Snapshot) -> AttributeType
  {
    var entity = entity
    for name in path.names {
      if let attribute = entity.attribute(named: name) { return attribute.type }
      guard let relationship = entity.relationship(named: name),
        let next = snapshot.schema.entity(numbered: relationship.destination)
      else { break }
      entity = next
    }
    return .any
  }
}
