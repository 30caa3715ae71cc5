import Annals
import AnnalsLog
import AnnalsModel
import AnnalsState

extension Asking {
  /// One object at a moment: its values, who set them, and who refers to it.
  package func object() throws -> ObjectDocument {
    let store = try opened()
    let snapshot = try snapshot(of: store)
    let reference = try object(in: snapshot, of: store)
    let reader = snapshot.reader
    let exists = try reader.exists(reference)
    let blame = try self.blame(reference, snapshot, store)
    let schema =
      snapshot.schema.entity(numbered: reference.entity) == nil
      ? store.store.schema : snapshot.schema
    guard let entity = schema.entity(numbered: reference.entity) else {
      throw RequestFault("the schema of then does not have that entity", .notFound)
    }
    let lines = Dictionary(
      (blame.map(Array.init) ?? []).map { ($0.property, $0) }, uniquingKeysWith: { $1 })
    let values = self.values(of: store, cut: try cut(2_000), reader.largeValues)
    var members: [ObjectDocument.Member] = []
    if exists || blame != nil {
      for property in entity.readableProperties {
        let line = lines[property.name]
        let value =
          exists ? try reader.stored(property, of: reference) : line?.value ?? .null
        var member = ObjectDocument.Member(
          name: property.name, type: "any",
          value: try values.shown(value, in: reader))
        member.describe(property.number, of: entity, in: schema)
        if let transaction = line?.transaction {
          member.setBy = ObjectDocument.Origin(transaction)
        } else {
          member.isOfBase = line != nil && !value.isNull && store.version.view.base > 0
        }
        members.append(member)
        try cancellation.check()
      }
    }
    return ObjectDocument(
      moment: try store.moment(snapshot.number),
      object: try shown(reference, in: snapshot, of: store), exists: exists, entity: entity.name,
      properties: members,
      referrers: exists ? try referring(to: reference, entity, snapshot) : [],
      deleted: blame?.deletion.map {
        ShownHeader($0, changes: $0.changes.count, cut: ValueShowing.usualCut)
      },
      command: command("blame").adding(try parameters.required("object"))
        .option("at", parameters["at"]).text)
  }

  /// Who last set each property; nil if nothing is known of the object by then, and if it is not
  /// wanted.
  private func blame(
    _ object: ObjectReference, _ snapshot: Snapshot, _ store: OpenedStore
  ) throws -> Blame? {
    guard parameters["blame"] != "0" else { return nil }
    do throws(AnnalsError) {
      return try store.version.blame(object.id(in: snapshot), at: snapshot.number)
    } catch {
      guard error.code == .noSuchObject else { throw error }
      return nil
    }
  }

  /// Who last set each property of an object.
  package func blame() throws -> BlameDocument {
    let store = try opened()
    let snapshot = try snapshot(of: store)
    let reference = try object(in: snapshot, of: store)
    let blame = try store.version.blame(
      reference.id(in: snapshot), at: snapshot.number, readingLargeValues: false)
    return try BlameDocument(
      blame, of: try shown(reference, in: snapshot, of: store),
      at: try store.moment(snapshot.number), in: snapshot.reader,
      values(of: store, cut: try cut(2_000), snapshot.reader.largeValues),
      command: command("blame").adding(try parameters.required("object"))
        .option("at", parameters["at"]))
  }

  private func referring(
    to object: ObjectReference, _ entity: Entity, _ snapshot: Snapshot
  ) throws -> [ObjectDocument.Referring] {
    let found = try ReferrerCounts(to: [object.row], of: entity, in: snapshot, cancellation)
    return found.sources.map { source in
      ObjectDocument.Referring(
        entity: source.entity.name, property: source.relationship.name,
        inverse: source.relationship.inverseName, count: source.counts[object.row] ?? 0)
    }
  }

  /// The objects that refer to one by a relationship.
  package func referrers() throws -> ReferrersDocument {
    let store = try opened()
    let snapshot = try snapshot(of: store)
    let reference = try object(in: snapshot, of: store)
    let text = try parameters.required("property")
    let parts = text.split(separator: ".", maxSplits: 1).map(String.init)
    guard parts.count == 2, let entity = snapshot.schema.entity(named: parts[0]),
      let relationship = entity.relationship(named: parts[1]),
      relationship.destination == reference.entity
    else {
      throw RequestFault(
        "`\(text)` is no relationship to that object; write Entity.property", .usage,
        parameter: "property")
    }
    let rows = try AnnalsError.translating {
      try snapshot.reader.state.referringRows(
        to: reference.row, from: entity.number, by: relationship.number, cancellation)
    }
    let (offset, limit) = (try offset(), try limit())
    let object = try shown(reference, in: snapshot, of: store)
    return ReferrersDocument(
      moment: try store.moment(snapshot.number), object: object, property: text,
      objects: try rows.dropFirst(offset).prefix(limit).map {
        try ShownObject(
          ObjectReference(entity: entity.number, row: $0), in: snapshot.reader, labelled: true)
      }, offset: offset, total: rows.count,
      command: command("query").adding(entity.name).option("at", parameters["at"])
        .option(
          "where",
          "\(relationship.name) \(relationship.isToMany ? "CONTAINS" : "==") \(object.id)"
        )
        .text)
  }
}

extension StateReader {
  /// The value of a property of an object that exists, a large one without its bytes.
  func stored(
    _ property: ReadableProperty, of object: ObjectReference
  ) throws(AnnalsError) -> Value {
    let stored = try AnnalsError.translating {
      try state.value(object.entity, object.row, property.number)
    }
    return stored.isNull ? property.impliedDefault ?? .null : stored
  }
}

extension ObjectDocument.Member {
  /// Says what the schema says of the property.
  fileprivate mutating func describe(
    _ number: PropertyNumber, of entity: Entity, in schema: Schema
  ) {
    if let attribute = entity.attributes.first(where: { $0.number == number }) {
      type = "\(attribute.type)"
      isKey = entity.keyAttribute?.number == number
    } else if let relationship = entity.relationships.first(where: { $0.number == number }) {
      type = relationship.isToMany ? "objects" : "object"
      isRelationship = true
      isToMany = relationship.isToMany
      destination = schema.entity(numbered: relationship.destination)?.name
      inverse = relationship.inverseName
    }
  }
}
