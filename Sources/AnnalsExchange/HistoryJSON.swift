import Annals
import AnnalsModel
import AnnalsState

// Transactions as JSON Lines: written by `export`, read by `import`, and printed by
// `log --format jsonl`.
//
//     {"n":42,"author":"Ann","context":"share","timestamp":"2019-10-22T18:15:04Z","message":"…",
//      "changes":[{"op":"insert","entity":"Post","id":"a","set":{"title":"Fog"}},
//                 {"op":"update","entity":"Event","id":17,"set":{"title":null}},
//                 {"op":"delete","entity":"Event","id":9}]}
//
// - `group` is the group of undo, `undoes` is what the transaction undoes: a number, or the first
//   and the last of a group; `redoes` is the undo that it undoes.
// - `migration` is the migration that it is: its name, or a list of names.
// - Metadata are members of the line. Those with a reserved name are in `metadata`.
// - `id` is the key. An object without a key has `row` instead. An insert has `row`, too, if the
//   object is not in the row after the last one of its entity.
// - `set` has the values after the change; null for a value that was cleared.
// - `was` has the values before; only `log`, `show` and `diff` print it.
// - Neither has the key of an object that is inserted or deleted: that is its `id`.

/// The names of the members that a line has of its own.
package enum TransactionMember {
  /// Metadata with these names go into the member `metadata`.
  package static let reserved: Set<String> = [
    "n", "author", "context", "timestamp", "timestamp_us", "changes", "metadata", "schema", "base",
    "schemaChange", "token", "process", "pid", "lost", "erased", "group", "undoes", "redoes",
    "migration",
  ]
}

extension JSONWriter {
  /// Begins a line: number, author, context, timestamp and metadata of a transaction.
  package mutating func beginTransaction(_ transaction: Transaction) {
    let record = transaction.page.batch.transactions[transaction.index]
    beginObject()
    member("n", transaction.number)
    if let author = transaction.author { member("author", author) }
    if let context = transaction.context { member("context", context) }
    member("timestamp", record.timestamp.description)
    if let lost = record.lost { member(lost: lost) }
    if let erasure = transaction.erasure { member(erased: erasure, transaction.schema) }
    members(of: transaction.undo)
    member(migrations: transaction.migrations)
    let hidden = record.metadata.filter { TransactionMember.reserved.contains($0.key) }
    for entry in record.metadata where !TransactionMember.reserved.contains(entry.key) {
      key(entry.key)
      metadata(entry.value)
    }
    if hidden.isEmpty { return }
    beginObject("metadata")
    for entry in hidden {
      key(entry.key)
      metadata(entry.value)
    }
    endObject()
  }

  /// Writes the member `lost` of a gap.
  package mutating func member(lost: LostTransactions) {
    beginObject("lost")
    member("first", lost.first)
    member("last", lost.last)
    member("after", lost.after.description)
    if let before = lost.before { member("before", before.description) }
    member("reason", lost.reason)
    endObject()
  }

  /// Writes the member `erased`. An import into a new file restores it. An import into a store with
  /// transactions keeps it as metadata, since rows differ there.
  private mutating func member(erased erasure: Erasure, _ schema: Schema) {
    beginObject("erased")
    member("reason", erasure.reason)
    beginArray("objects")
    for target in erasure.targets {
      let entity = schema.entity(numbered: target.object.entity)
      beginObject()
      member("entity", entity?.name ?? "#\(target.object.entity)")
      member("row", target.object.row)
      if !target.properties.isEmpty {
        beginArray("properties")
        for property in target.properties {
          string(entity?.propertyName(property) ?? "#\(property)")
        }
        endArray()
      }
      endObject()
    }
    endArray()
    endObject()
  }

  /// Writes the members `group`, `undoes` (a number, or the first and the last of a group) and
  /// `redoes`.
  private mutating func members(of undo: UndoRecord) {
    if let group = undo.group { member("group", group) }
    switch undo.act {
    case .undoes(let numbers) where numbers.count == 1: member("undoes", numbers.lowerBound)
    case .undoes(let numbers):
      beginArray("undoes")
      int(numbers.lowerBound)
      int(numbers.upperBound)
      endArray()
    case .redoes(let number): member("redoes", number)
    case nil: break
    }
  }

  /// Writes the member `migration`, if there is any.
  private mutating func member(migrations names: [String]) {
    if names.count == 1 { return member("migration", names[0]) }
    if names.isEmpty { return }
    beginArray("migration")
    for name in names { string(name) }
    endArray()
  }

  /// Writes a value of metadata. JSON text is written as nested JSON, and read back as JSON text.
  private mutating func metadata(_ value: Value) {
    if case .json(let text) = value, JSONText.firstError(in: text) == nil,
      !text.utf8.contains(0x0A)
    {
      return json(text)
    }
    if case .object = value { return null() }
    if case .objects = value { return null() }
    if case .large = value { return null() }
    self.value(value, as: .any)
  }

  /// Writes one change, with its row if `explicitRow`, and with the values before if
  /// `includesBefore`. `state` returns the state after the transaction; it is called only where the
  /// change itself is not enough. `flush` may take the bytes written so far, between the pieces of
  /// large values.
  package mutating func change(
    _ change: Change, explicitRow: Bool, includesBefore: Bool,
    _ state: () throws(AnnalsError) -> StateReader,
    flush: (inout JSONWriter) throws -> Void = { _ in }
  ) throws {
    let entity = change.entity
    beginChange(change.kind, of: entity, try change.objectName(state), explicitRow: explicitRow)
    if change.kind != .delete {
      key("set")
      try values(of: change, entity, isBefore: false, flush, state)
    }
    if includesBefore, change.kind != .insert {
      key("was")
      try values(of: change, entity, isBefore: true, flush, state)
    }
    endObject()
  }

  /// Begins a change: what is done to the object of this name.
  mutating func beginChange(
    _ kind: ChangeKind, of entity: Entity, _ name: ObjectName, explicitRow: Bool
  ) {
    beginObject()
    member("op", "\(kind)")
    member("entity", entity.name)
    if let attribute = entity.keyAttribute, !name.key.isNull {
      member("id", name.key, as: attribute.type)
    }
    if name.key.isNull || explicitRow { member("row", name.row) }
  }

  private mutating func values(
    of change: Change, _ entity: Entity, isBefore: Bool,
    _ flush: (inout JSONWriter) throws -> Void,
    _ state: () throws(AnnalsError) -> StateReader
  ) throws {
    let keyNumber = entity.keyAttribute?.number
    beginObject()
    for difference in change.properties {
      if change.properties.isOtherOne(of: difference, in: entity, isBefore) { continue }
      // The key of an insert or a delete is its `id`.
      let found = isBefore ? difference.before : difference.after
      if change.kind != .update, difference.number == keyNumber, !found.isErased { continue }
      key(difference.name)
      if let attribute = entity.attribute(numbered: difference.number) {
        try value(found, as: attribute.type, from: change.page.glossary.largeValues, flush)
      } else if difference.edits != nil {
        let object = ObjectReference(entity: change.entry.entity, row: change.entry.row)
        let now = try state()
        let list = try now.relationshipValue(of: object, difference.number)
        let before = difference.listBefore(list)
        try references(isBefore ? before : list, in: now)
      } else {
        try references(found, in: state())
      }
    }
    endObject()
  }
}

extension Change.Properties {
  /// Whether another touched property has the name of this one, and the value on this side. Of two,
  /// one was removed: it has the value where it is not empty.
  fileprivate func isOtherOne(
    of difference: PropertyDifference, in entity: Entity, _ isBefore: Bool
  ) -> Bool {
    guard entity.hasRemovedProperties,
      let other = first(where: {
        $0.number != difference.number && $0.name.hasSameBytes(as: difference.name)
      })
    else { return false }
    let isRemoved = entity.isRemoved(difference.number)
    return (isRemoved ? difference : other).isEmpty(isBefore) == isRemoved
  }
}

extension PropertyDifference {
  /// Whether there is no value before or after the change, of a property that had none on one side.
  fileprivate func isEmpty(_ isBefore: Bool) -> Bool {
    guard let edits else { return (isBefore ? before : after).isNull }
    return (isBefore ? edits.removed : edits.inserted).isEmpty
  }
}

extension PropertyDifference {
  /// The whole list before an update of a to-many relationship, from the list after it.
  package func listBefore(_ after: Value) -> Value {
    guard let edits, case .objects(var list) = after else { return before }
    for edit in edits.inserted.reversed() where list.indices.contains(edit.position) {
      list.remove(at: edit.position)
    }
    for edit in edits.removed where edit.position <= list.count {
      list.insert(edit.object, at: edit.position)
    }
    return .objects(list)
  }
}

extension StateReader {
  /// The value of a relationship of the object in this state.
  package func relationshipValue(
    of object: ObjectReference, _ property: PropertyNumber
  ) throws(AnnalsError) -> Value {
    let value = try AnnalsError.translating { try state.value(object.entity, object.row, property) }
    return value.isNull ? .objects([]) : value
  }
}
