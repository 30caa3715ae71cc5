import AnnalsLog
import AnnalsModel
import AnnalsState

// The conflicts of a merge by names, with the transactions of the others.

extension Preconditions {
  /// The conflicts of a merge, for the caller. Throws them with `.error`, and without a policy.
  /// Reads the history since the base if there are any. Those of an undo name no transaction of its
  /// own author.
  func resolved(
    _ conflicts: [MergeConflict], on version: StoreVersion, besides step: UndoStep? = nil
  ) throws(AnnalsError) -> [PropertyConflict] {
    guard !conflicts.isEmpty, let basedOn else { return [] }
    let changes = try LastChanges(
      of: Set(conflicts.map(\.object)), in: version, after: basedOn.number,
      among: step.map { !HistoryCondition(.author($0.author)) } ?? .always)
    let result = conflicts.map { PropertyConflict($0, in: version, changes) }
    guard let policy, policy != .error else { throw refusal(basedOn, result) }
    return result
  }
}

extension PropertyConflict {
  fileprivate init(_ conflict: MergeConflict, in version: StoreVersion, _ changes: LastChanges) {
    let object = conflict.object
    let entity = version.state.schema.entity(numbered: object.entity)
    let id = { ObjectID(store: version.store, entity: object.entity, row: $0) }
    let change = changes.last(of: object, conflict.property)
    self.init(
      object: id(object.row),
      objectName: version.state.schema.nameText(
        of: object, key: version.state.keyText(of: object) ?? changes.keyText(of: object)),
      property: conflict.property.map { entity?.propertyName($0) ?? "#\($0)" },
      changedBy: change?.number, isDeletion: change?.isDeletion ?? false)
    base = conflict.base
    stored = conflict.stored
    own = conflict.own
    insertedAs = conflict.insertedAs.map { id($0.row) }
  }
}

/// The last transactions that changed given objects and their properties.
private struct LastChanges {
  struct Last {
    var number: Int64
    var isDeletion: Bool
  }

  private struct Place: Hashable {
    let object: ObjectReference
    let property: PropertyNumber?
  }

  private var changes: [Place: Last] = [:]
  private var keys: [ObjectReference: String] = [:]

  /// Reads the transactions after this number that meet the condition.
  init(
    of objects: Set<ObjectReference>, in version: StoreVersion, after number: Int64,
    among condition: HistoryCondition
  ) throws(AnnalsError) {
    let later = History(
      version: version, after: number, through: version.head.number, condition: condition)
    try AnnalsError.translating {
      try later.reversed().forEachChange { change in
        let entry = change.entry
        let object = ObjectReference(entity: entry.entity, row: entry.row)
        guard objects.contains(object) else { return }
        note(change, of: object)
      }
    }
  }

  /// Notes a change that is older than those before.
  private mutating func note(_ change: Change, of object: ObjectReference) {
    let isDeletion = change.kind == .delete
    let whole = Place(object: object, property: nil)
    if changes[whole] == nil {
      changes[whole] = Last(number: change.transactionNumber, isDeletion: isDeletion)
    }
    if isDeletion, keys[object] == nil {
      keys[object] = change.entity.keyAttribute.flatMap {
        change.difference(of: $0.number)?.before.keyText
      }
    }
    for position in change.entry.propertyRange {
      let property = change.page.batch.properties[position].property
      let place = Place(object: object, property: property)
      if changes[place] == nil {
        changes[place] = Last(number: change.transactionNumber, isDeletion: isDeletion)
      }
    }
  }

  /// The last change of a property; of the object if none was of the property.
  func last(of object: ObjectReference, _ property: PropertyNumber?) -> Last? {
    let whole = changes[Place(object: object, property: nil)]
    guard let property, whole?.isDeletion != true else { return whole }
    return changes[Place(object: object, property: property)] ?? whole
  }

  /// The key that an object had when it was deleted.
  func keyText(of object: ObjectReference) -> String? { keys[object] }
}
