import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

// The public interface's view of a version.
extension StoreVersion {
  /// Names for the numbers in the records up to here.
  package func glossary() -> Glossary {
    Glossary(view, store: store, records: records)
  }

  /// As `glossary()`, also for transactions before the base, with the names as of the base.
  func glossaryOfDropped() -> Glossary {
    let known = glossary()
    return Glossary(
      store: known.store, names: known.nameTable, openings: known.openings,
      schemas: known.schemas.fromTheBeginning(), largeValues: known.largeValues,
      records: known.records)
  }

  /// The number of an entity's objects, even if the state holds no values. O(log entities).
  package func objectCount(of entity: EntityNumber) -> Int { state.count(of: entity) }

  /// The state as a snapshot.
  package var snapshot: Snapshot {
    precondition(holdsValues, "the store was opened without the values of the newest state")
    return Snapshot(reader: reader(of: state), position: position, bindings: records)
  }

  /// The snapshot just after the transaction with this number. With `objects`, only keys,
  /// relationships and the values of these objects are reliable.
  package func snapshot(
    at number: Int64, withOnly objects: Set<ObjectReference>? = nil
  ) throws(AnnalsError) -> Snapshot {
    if holdsValues, number == view.head.number { return snapshot }
    let state = try state(
      at: number, keeping: objects.map { NamingProperties(view, andAllOf: $0) })
    let position = try AnnalsError.translating { () throws(LogError) in
      try view.position(of: number)
    }
    return Snapshot(
      reader: StateReader(state: state, store: store, largeValues: LogLargeValues(view)),
      position: position, bindings: records)
  }
}

extension StoreVersion {
  /// The newest change of an object after a transaction, of those that meet the condition; nil if
  /// there is none. O(length of history since).
  func lastChange(
    of object: ObjectID, after number: Int64, where isWanted: (Change) -> Bool
  ) throws(AnnalsError) -> Change? {
    let later = History(
      version: self, after: number, through: view.head.number, condition: .touches(object))
    var cursor = try later.reversed().makeCursor()
    while let found = try cursor.next() {
      for change in found.changes where change.objectID == object && isWanted(change) {
        return change
      }
    }
    return nil
  }
}

extension Glossary {
  /// The glossary of a view's tables.
  package convenience init(_ view: LogView, store: RawUUID, records: BoundRecords) {
    self.init(
      store: store, names: view.names, openings: view.openings,
      schemas: SchemaVersions(view.schemaHistory, newest: view.schema),
      largeValues: LogLargeValues(view), records: records)
  }
}
