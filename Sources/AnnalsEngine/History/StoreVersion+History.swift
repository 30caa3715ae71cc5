import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

extension StoreVersion {
  /// Names for the numbers in the records up to here.
  package func glossary() -> Glossary {
    Glossary(view, store: store, records: records)
  }

  /// As `glossary()`, with large values that the store may not have.
  func glossary(reading largeValues: any LargeValueSource) -> Glossary {
    let known = glossary()
    return Glossary(
      store: known.store, names: known.nameTable, openings: known.openings,
      schemas: known.schemas, largeValues: largeValues, records: known.records)
  }

  /// As `glossary()`, also for transactions before the base, with the names as of the base.
  package func glossaryOfDropped() -> Glossary {
    let known = glossary()
    return Glossary(
      store: known.store, names: known.nameTable, openings: known.openings,
      schemas: known.schemas.fromTheBeginning(), largeValues: known.largeValues,
      records: known.records)
  }

  /// The number of an entity's objects, even if the state holds no values. O(log entities).
  package func objectCount(of entity: EntityNumber) -> Int { state.count(of: entity) }
}

extension StoreVersion {
  /// The newest change of an object after a transaction, of those that meet the conditions; nil if
  /// there is none. O(length of history since).
  package func lastChange(
    of object: ObjectID, after number: Int64, among condition: HistoryCondition = .always,
    where isWanted: (Change) -> Bool
  ) throws(AnnalsError) -> Change? {
    let later = History(
      version: self, after: number, through: view.head.number,
      condition: .touches(object) && condition)
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
