import Annals
import AnnalsModel

/// What a store does differently from the naive model.
struct Mismatch: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) {
    self.description = description
  }
}

/// Throws a mismatch unless the condition holds.
func demand(_ condition: Bool, _ text: @autoclosure () -> String) throws {
  guard condition else { throw Mismatch(text()) }
}

extension NaiveState {
  /// Throws what the snapshot has otherwise.
  func compare(with snapshot: Snapshot) throws {
    let place = "as of \(snapshot.number)"
    try demand(snapshot.schema == schema, "\(place): the schema is \(snapshot.schema)")
    for entity in entities {
      let wanted = objects(of: entity.number)
      let found = try snapshot.objects(of: entity.name)
      try demand(
        found.map(\.objectID.row) == wanted.map(\.row),
        "\(place): \(entity.name) has rows \(found.map(\.objectID.row)), not \(wanted.map(\.row))")
      let count = try snapshot.count(of: entity.name)
      try demand(count == wanted.count, "\(place): \(entity.name) counts \(count)")
      for (object, reference) in zip(found, wanted) {
        try compare(object, reference, "\(place): \(entity.name)#\(reference.row)")
      }
      try compareKeys(of: entity, with: snapshot)
    }
  }

  /// Throws what the object has otherwise.
  func compare(_ object: DynamicObject, _ reference: ObjectReference, _ place: String) throws {
    let wanted = visible(reference)
    let found = Dictionary(uniqueKeysWithValues: object.values.map { ($0.property, $0.value) })
    for property in Set(wanted.keys).union(found.keys).sorted()
    where wanted[property] != found[property] {
      let name = object.entity.propertyName(property) ?? "#\(property)"
      throw Mismatch(
        "\(place).\(name) is \(found[property]?.shortDescription ?? "nothing"), not "
          + (wanted[property]?.shortDescription ?? "nothing"))
    }
  }

  /// Looks some objects up by their unique attributes.
  private func compareKeys(of entity: Entity, with snapshot: Snapshot) throws {
    for attribute in entity.attributes where attribute.isUnique && !attribute.isRemoved {
      for object in objects(of: entity.number).suffix(5) {
        guard let value = rows[object]?[attribute.number], !value.isErased else { continue }
        let found = try snapshot.object(of: entity.name, where: attribute.name, is: value)
        try demand(
          found?.objectID.row == object.row,
          "as of \(snapshot.number): \(entity.name).\(attribute.name) = "
            + "\(value.shortDescription) finds \(String(describing: found?.objectID.row)), not "
            + "\(object.row)")
      }
    }
  }

  /// Throws unless the changes are those that lead from this state to `other`, named as in
  /// `schema`.
  func compare(
    _ changes: [Change], leadingTo other: NaiveState, in schema: Schema, of store: Store,
    _ place: String
  ) throws {
    var wanted = self.changes(to: other)
    for change in changes {
      let object = ObjectReference(entity: change.objectID.entity, row: change.objectID.row)
      let place = "\(place): \(change.kind) of \(object.entity)#\(object.row)"
      if change.kind == .update, change.isErased, wanted[object] == nil { continue }
      guard let expected = wanted.removeValue(forKey: object) else {
        throw Mismatch("\(place) is not expected, or there twice")
      }
      try expected.compare(change, in: schema, of: store, place)
    }
    try demand(wanted.isEmpty, "\(place): changes of \(wanted.keys.sorted()) are missing")
  }
}

extension NaiveChange {
  fileprivate func compare(
    _ change: Change, in schema: Schema, of store: Store, _ place: String
  ) throws {
    try demand(change.kind == kind, "\(place) should be \(kind)")
    // What was erased on both sides is no net change.
    let differences = change.properties.filter {
      !($0.before.isErased && $0.after.isErased)
    }
    let numbers = differences.map(\.number).sorted()
    let expected = properties.sorted()
    try demand(numbers == expected, "\(place) touches \(numbers), not \(expected)")
    for difference in differences {
      let place = "\(place): \(difference.name)"
      if let edits = difference.edits {
        let list = try edits.applied(to: before[difference.number]?.targets ?? [], place)
        try demand(
          list == (after[difference.number]?.targets ?? []), "\(place): edits give \(list)")
        continue
      }
      let entity = schema.entity(numbered: change.objectID.entity)
      let attribute = entity?.attributes.first { $0.number == difference.number }
      let isRequired = attribute?.isOptional == false && attribute?.isRemoved == false
      let unwritten = isRequired ? attribute?.defaultValue ?? .null : .null
      let old = before[difference.number] ?? (kind == .insert ? .null : unwritten)
      let new = after[difference.number] ?? (kind == .delete ? .null : unwritten)
      let found = try (store.complete(difference.before), store.complete(difference.after))
      try demand(found == (old, new), "\(place): \(found), not \((old, new))")
    }
  }
}

extension Change {
  /// Whether all that it says was erased.
  fileprivate var isErased: Bool {
    properties.allSatisfy { $0.before.isErased && $0.after.isErased }
  }
}

extension Store {
  /// The value with its bytes.
  func complete(_ value: Value) throws -> Value {
    guard case .large(let large) = value else { return value }
    return Value(bytes: ContiguousArray(try bytes(of: large)), tag: large.tag)
  }
}

extension RelationshipEdits {
  /// The list after the edits.
  fileprivate func applied(
    to list: [ObjectReference], _ place: String
  ) throws -> [ObjectReference] {
    var result = list
    for edit in removed.reversed() {
      try demand(
        result.indices.contains(edit.position) && result[edit.position] == edit.object,
        "\(place): what is removed was not there")
      result.remove(at: edit.position)
    }
    for edit in inserted {
      try demand(edit.position <= result.count, "\(place): something is inserted past the end")
      result.insert(edit.object, at: edit.position)
    }
    return result
  }
}
