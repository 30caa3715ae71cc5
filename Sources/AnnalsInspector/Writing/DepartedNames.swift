import Annals
import AnnalsLog
import AnnalsModel

/// The names of objects that a state does not have: those that they had when they were deleted.
package final class DepartedNames {
  /// A name, and the display attribute.
  struct Departed {
    var name: ObjectName
    var label: String?
  }

  /// Where names are looked for that the shown change does not tell; nil for nowhere.
  private let version: StoreVersion?
  private let time: WorkTime
  private var found: [ObjectReference: Departed?] = [:]
  /// The change that is shown, and its transaction's deletes, once they were asked for.
  private var change: Change?
  private var deletes: [ObjectReference: Int]?
  /// The state before the change that is shown, where it is at hand.
  private(set) var earlier: StateReader?

  /// Knows the objects that the transaction of the shown change deletes; with a version, others
  /// too, as many as are found within the time.
  package init(in version: StoreVersion? = nil, for time: Duration = .milliseconds(300)) {
    self.version = version
    self.time = WorkTime(time)
  }

  /// Begins a change, perhaps with the state before it. O(1).
  func begin(_ change: Change, after earlier: StateReader? = nil) {
    if let last = self.change, last.page !== change.page || last.transaction != change.transaction {
      deletes = nil
    }
    (self.change, self.earlier) = (change, earlier)
  }

  /// The name of an object; nil if it is not known, or takes too long. O(changes of the
  /// transaction) the first time, otherwise O(history) for an object that another one deleted.
  func name(of object: ObjectReference) throws -> Departed? {
    if let change = deleted(object) { return Departed(change) }
    guard let version else { return nil }
    if let known = found[object] { return known }
    if time.isOver { return nil }
    let name = try version.lastChange(toExistenceOf: object, for: time).map { Departed($0) }
    found[object] = .some(name)
    return name
  }

  /// The change of the shown change's transaction that deletes the object.
  private func deleted(_ object: ObjectReference) -> Change? {
    guard let change else { return nil }
    let all = change.page.batch.transactions[change.transaction].changeRange
    if deletes == nil {
      deletes = [:]
      for index in all where change.page.batch.changes[index].kind == .delete {
        let entry = change.page.batch.changes[index]
        deletes?[ObjectReference(entity: entry.entity, row: entry.row)] = index
      }
    }
    return deletes?[object].map {
      Change(page: change.page, transaction: change.transaction, index: $0)
    }
  }
}

extension DepartedNames.Departed {
  /// As a delete or an insert names the object.
  init(_ change: Change) {
    // Such a change has the key; no state is asked.
    let entity = change.entity
    let difference = entity.keyAttribute.flatMap { change.difference(of: $0.number) }
    let key = change.kind == .insert ? difference?.after : difference?.before
    name = ObjectName(entity: entity.name, key: key ?? .null, row: change.entry.row)
    label = change.displayValue.shortLabel
  }
}

extension StoreVersion {
  /// The last insert or delete of an object; nil if the history has none, or the time ends before
  /// it is found.
  func lastChange(
    toExistenceOf object: ObjectReference, for time: WorkTime? = nil
  ) throws -> Change? {
    let id = ObjectID(store: token.store, entity: object.entity, row: object.row)
    let history = History(
      version: self, after: view.base, through: token.number, condition: .touches(id)
    ).reversed()
    var cursor = try history.makeCursor()
    while let transaction = try cursor.next() {
      for change in transaction.changes
      where ObjectReference(change.objectID) == object && change.kind != .update {
        return change
      }
      if time?.isOver == true { return nil }
    }
    return nil
  }
}
