import Annals
import AnnalsExchange

extension ObjectArgument {
  /// The object in a state.
  ///
  /// - Throws: `RequestFault` if there is none.
  package func find(in snapshot: Snapshot) throws -> ObjectReference {
    try find(in: snapshot.reader, asOf: "as of transaction \(snapshot.number)")
  }

  /// The object in a transaction.
  package func find(in transaction: WriteTransaction) throws -> ObjectReference {
    try find(in: transaction.reader, asOf: "now")
  }

  private func find(in reader: StateReader, asOf moment: String) throws -> ObjectReference {
    if let found = try lookUp(in: reader) { return found }
    throw RequestFault(
      "there is no object \(text) \(moment). List what there is: "
        + "annals state FILE --entity \(entity)")
  }

  /// Every object that has or had this name in the history: first the one that has it now, then
  /// deleted or renamed ones, the last first.
  ///
  /// O(history), except for a row.
  package func findAll(inHistoryOf store: Store) throws -> [ObjectReference] {
    var found: [ObjectReference] = []
    let newest = try store.version.snapshot(at: store.token.number, withOnly: [])
    let now = try lookUp(in: newest.reader)
    if let now { found.append(now) }
    var seen = Set(found)
    switch self {
    case .row(let name, let row):
      guard now == nil, let entity = store.schema.entity(named: name) else { break }
      let object = ObjectReference(entity: entity.number, row: row)
      let history = try store.history(where: .touches(object.id(in: store)))
      if try !history.objectIDs().isEmpty { found.append(object) }
    case .key(let name, let text):
      guard let entity = store.schema.entity(named: name), let attribute = entity.keyAttribute
      else { break }
      let keys = attribute.type.keys(fromText: text)
      let history = try store.history(
        where: .touches(name, attribute.name) && !.kind(.insert)
      ).reversed()
      try history.forEachChange { change in
        guard let before = change.difference(of: attribute.number)?.before else { return }
        // A key of an earlier type matches by its text.
        guard
          keys.contains(before)
            || (!before.isNull && before.plainText.hasSameBytes(as: text))
        else { return }
        let object = ObjectReference(entity: change.entry.entity, row: change.entry.row)
        if seen.insert(object).inserted { found.append(object) }
      }
    }
    if found.isEmpty {
      let base = store.base.number
      throw RequestFault(
        "there is no object \(self.text), and "
          + (base == 0
            ? "there never was one" : "none was deleted since transaction \(base)"))
    }
    return found
  }

  /// The object in a state; nil if there is none.
  package func lookUp(in reader: StateReader) throws -> ObjectReference? {
    let entity = try reader.entity(named: entity)
    switch self {
    case .row(_, let row):
      let object = ObjectReference(entity: entity.number, row: row)
      let id = ObjectID(store: reader.store, entity: entity.number, row: row)
      return try reader.object(id, readingLargeValues: false) == nil ? nil : object
    case .key(_, let text):
      guard let attribute = entity.keyAttribute else {
        throw RequestFault(
          "\(entity.name) has no unique attribute; write \(entity.name)#ROW")
      }
      let keys = attribute.type.keys(fromText: text)
      guard !keys.isEmpty else {
        throw RequestFault(
          "`\(text)` is no key of \(entity.name): \(attribute.name) is of type \(attribute.type)"
            + attribute.type.form(for: text))
      }
      var found: [(row: Int64, key: Value)] = []
      for key in keys {
        guard let row = try reader.row(of: entity, where: attribute.name, is: key) else { continue }
        found.append((row, key))
      }
      if found.count > 1 {
        let list = found.map { "\(entity.name)#\($0.row) (\($0.key.tag))" }
        throw RequestFault(
          "\(self.text) names \(found.count) objects, as \(attribute.name) is of type any: write "
            + list.joined(separator: " or "))
      }
      return found.first.map { ObjectReference(entity: entity.number, row: $0.row) }
    }
  }
}

extension ObjectReference {
  /// The object's identity in the store.
  package func id(in store: Store) -> ObjectID {
    ObjectID(store: store.token.store, entity: entity, row: row)
  }

  /// The object's identity in the snapshot's store.
  package func id(in snapshot: Snapshot) -> ObjectID {
    ObjectID(store: snapshot.token.store, entity: entity, row: row)
  }
}
