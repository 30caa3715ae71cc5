import Annals
import AnnalsModel
import AnnalsQuery
import AnnalsState

extension Asking {
  /// A page of a table of objects.
  package func table() throws -> TableDocument {
    let store = try opened()
    let query = try QueryAsking(self, store)
    let (offset, limit) = (try offset(), try limit())
    let moment = try store.moment(query.snapshot.number)
    let plan = PlanDocument(
      try query.plan(), of: query.entity.name, in: file.shownPath, at: moment,
      command: queryCommand(query.entity.name))
    try cancellation.check()
    let counts = try query.counts()
    let columns = try TableColumns(parameters["columns"], of: query.entity, in: query.snapshot)
    let rows = try query.rows(offset: offset, limit: limit, counts.total)
    try cancellation.check()
    let reader = query.snapshot.reader
    let values = self.values(of: store, cut: try cut(), reader.largeValues)
    var shown = try rows.map { row in
      let object = ObjectReference(entity: query.entity.number, row: row)
      return TableDocument.Row(
        object: try ShownObject(object, in: reader, labelled: true), values: [])
    }
    for path in columns.paths {
      let cells = try cells(at: path, of: rows, query)
      for (index, value) in cells.enumerated() {
        shown[index].values.append(try values.shown(value, in: reader))
      }
      try cancellation.check()
    }
    if parameters.flag("referrers") {
      let found = try ReferrerCounts(to: rows, of: query.entity, in: query.snapshot, cancellation)
      for index in shown.indices { shown[index].referrers = found.total(rows[index]) }
    }
    let widths = columns.columns.indices.map { column in
      shown.map { min(60, $0.values[column].text.unicodeScalars.count) }.max() ?? 0
    }
    return TableDocument(
      moment: moment, entity: query.entity.name, columns: columns.columns, rows: shown,
      widths: widths, offset: offset, total: counts.total, all: counts.all, plan: plan.plan,
      planRemedy: plan.planRemedy,
      command: queryCommand(
        query.entity.name, hasLists: columns.columns.contains(where: \.isToMany)
      )
      .option("offset", offset > 0 ? "\(offset)" : nil).option("limit", "\(limit)")
      .option("format", "table").text)
  }

  /// The values of a column. One that is stored is as it was stored: a query takes a reference to
  /// an object that is gone for none.
  private func cells(
    at path: PropertyPath, of rows: ContiguousArray<Int64>, _ query: QueryAsking
  ) throws -> [Value] {
    let (entity, reader) = (query.entity, query.snapshot.reader)
    let relationship = path.names.count == 1 ? entity.relationship(named: path.names[0]) : nil
    let property = entity.readableProperties.first { $0.number == relationship?.number }
    guard let property else { return try reader.values(of: rows, of: entity.number, at: path) }
    return try rows.map {
      try reader.stored(property, of: ObjectReference(entity: entity.number, row: $0))
    }
  }

  /// How a query is executed, and how many objects it finds.
  package func plan() throws -> PlanDocument {
    let store = try opened()
    let query = try QueryAsking(self, store)
    var document = PlanDocument(
      try query.plan(), of: query.entity.name, in: file.shownPath,
      at: try store.moment(query.snapshot.number),
      command: queryCommand(query.entity.name).flag("explain", true))
    try cancellation.check()
    let counts = try query.counts()
    (document.total, document.all) = (counts.total, counts.all)
    return document
  }

  /// `annals query` with the parameters; it has no column for a list of objects.
  func queryCommand(_ entity: String, hasLists: Bool = true) -> CommandWords {
    command("query").adding(entity).option("at", parameters["at"])
      .option("where", parameters["where"]).option("sort", parameters["sort"])
      .option("properties", hasLists ? nil : parameters["columns"])
  }
}

/// The columns of a table.
private struct TableColumns {
  private(set) var columns: [TableDocument.Column] = []
  private(set) var paths: [PropertyPath] = []

  /// As many columns are shown.
  private static let most = 200

  init(_ text: String?, of entity: Entity, in snapshot: Snapshot) throws {
    if let text {
      paths = try OptionTexts(over: entity, in: snapshot).paths(text, of: "columns")
    } else {
      let first = [entity.keyAttribute?.name, entity.displayName].compactMap { $0 }
      let names = entity.readableProperties.map(\.name)
      paths = (first.unique + names.filter { !first.contains($0) }).map { PropertyPath($0) }
    }
    paths = Array(paths.prefix(TableColumns.most))
    columns = paths.map { TableColumns.column($0, of: entity, in: snapshot.schema) }
  }

  private static func column(
    _ path: PropertyPath, of entity: Entity, in schema: Schema
  ) -> TableDocument.Column {
    var column = TableDocument.Column(name: "\(path)", type: "any")
    var current = entity
    for (place, name) in path.names.enumerated() {
      if let attribute = current.attribute(named: name) {
        column.type = "\(attribute.type)"
        guard path.names.count == 1 else { break }
        column.isKey = entity.keyAttribute?.number == attribute.number
        column.isDisplayName = entity.displayName?.hasSameBytes(as: name) == true
        column.isIndexed = entity.isIndexed(attribute)
      } else if let relationship = current.relationship(named: name),
        let next = schema.entity(numbered: relationship.destination)
      {
        current = next
        guard place == path.names.count - 1 else { continue }
        column.type = relationship.isToMany ? "objects" : "object"
        column.isRelationship = true
        column.isToMany = relationship.isToMany
        column.destination = next.name
      }
    }
    return column
  }
}

extension [String] {
  /// Each once, in the order in which they come first.
  fileprivate var unique: [String] {
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}

extension Entity {
  /// Whether an index begins with the attribute.
  func isIndexed(_ attribute: Attribute) -> Bool {
    attribute.isUnique || indexes.contains { $0.elements.first?.property == attribute.number }
  }
}

extension StateReader {
  /// The values at a path of objects in these rows; large values without their bytes.
  func values(
    of rows: ContiguousArray<Int64>, of entity: EntityNumber, at path: PropertyPath
  ) throws(AnnalsError) -> [Value] {
    guard let table = state.table(entity) else { return [] }
    return try AnnalsError.translating {
      if path.names.count == 1, let name = path.names.first,
        let list = state.schema.entity(numbered: entity)?.relationship(named: name), list.isToMany
      {
        guard let column = table.column(of: list.number) else { return rows.map { _ in .null } }
        return try rows.map { try table.value($0, column: column) }
      }
      let bound = try BoundPath(path, from: entity, in: state)
      var batch = CellBatch()
      try batch.read(bound, of: rows, in: table)
      return rows.indices.map { batch.value($0) }
    }
  }
}
