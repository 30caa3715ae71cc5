import Annals

extension ObjectArgument {
  /// The object in a state.
  ///
  /// - Throws: `CommandFailure` if there is none.
  func find(in snapshot: Snapshot) throws -> ObjectReference {
    try find(in: snapshot.reader, asOf: "as of transaction \(snapshot.number)")
  }

  /// As `find(in:)`, among what a transaction sees.
  func find(in transaction: WriteTransaction) throws -> ObjectReference {
    try find(in: transaction.reader, asOf: "now")
  }

  private func find(in reader: StateReader, asOf moment: String) throws -> ObjectReference {
    if let found = try lookUp(in: reader) { return found }
    throw CommandFailure(
      "there is no object \(text) \(moment). List what there is: "
        + "annals state FILE --entity \(entity)")
  }

  /// The object in the newest state; else the last one of this name that was deleted.
  func find(inHistoryOf store: Store) throws -> ObjectReference {
    if let found = try lookUp(in: store.snapshot().reader) { return found }
    if case .row(let name, let row) = self {
      if let entity = store.schema.entity(named: name) {
        return ObjectReference(entity: entity.number, row: row)
      }
    } else {
      let deletions = try store.history(where: .touches(entity) && .kind(.delete)).reversed()
      var cursor = try PartCursor(deletions)
      while let part = try cursor.next() {
        for index in part.selectedChanges {
          let change = Change(page: part.page, transaction: part.index, index: index)
          let name = try change.objectName { () throws(AnnalsError) in store.version.snapshot.reader
          }
          guard name.text.utf8.elementsEqual(text.utf8) else { continue }
          return ObjectReference(entity: change.entry.entity, row: change.entry.row)
        }
      }
    }
    throw CommandFailure(
      "there is no object \(text), and none was deleted since transaction \(store.base.number)")
  }

  /// The object in a state; nil if there is none.
  func lookUp(in reader: StateReader) throws -> ObjectReference? {
    let entity = try reader.entity(named: entity)
    switch self {
    case .row(_, let row):
      let object = ObjectReference(entity: entity.number, row: row)
      let id = ObjectID(store: reader.store, entity: entity.number, row: row)
      return try reader.object(id) == nil ? nil : object
    case .key(_, let text):
      guard let attribute = entity.keyAttribute else {
        throw CommandFailure(
          "\(entity.name) has no unique attribute; write \(entity.name)#ROW")
      }
      guard let key = attribute.type.value(fromText: text) else {
        throw CommandFailure(
          "`\(text)` is no key of \(entity.name): \(attribute.name) is of type \(attribute.type)")
      }
      let row = try reader.row(of: entity, where: attribute.name, is: key)
      return row.map { ObjectReference(entity: entity.number, row: $0) }
    }
  }
}

extension ObjectReference {
  /// The object's identity in the store.
  func id(in store: Store) -> ObjectID {
    ObjectID(store: store.token.store, entity: entity, row: row)
  }

  /// The object's identity in the snapshot's store.
  func id(in snapshot: Snapshot) -> ObjectID {
    ObjectID(store: snapshot.token.store, entity: entity, row: row)
  }
}
