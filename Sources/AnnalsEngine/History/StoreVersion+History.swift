import AnnalsLog
import AnnalsModel
import AnnalsState

extension StoreVersion {
  /// Names for the numbers in the records up to here; with schemas, large values or records that
  /// the store may not have.
  package func glossary(
    _ schemas: SchemaVersions? = nil, reading largeValues: (any LargeValueSource)? = nil,
    as records: BoundRecords? = nil
  ) -> Glossary {
    Glossary(
      store: store, names: view.names, openings: view.openings,
      schemas: schemas ?? SchemaVersions(view.schemaHistory, newest: view.schema),
      largeValues: largeValues ?? LogLargeValues(view), records: records ?? self.records)
  }

  /// As `glossary()`, also for transactions before the base, with the names as of the base.
  package func glossaryOfDropped() -> Glossary {
    glossary(SchemaVersions(view.schemaHistory, newest: view.schema).fromTheBeginning())
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
