import AnnalsEngine
import AnnalsFormat
import AnnalsModel
import AnnalsState

/// A gap to be written, and what is known of it.
struct SalvageGap {
  var first: Int64
  var last: Int64
  var reason: String
  var before: Timestamp?
  var isExact = false
  var stale: [LostTransactions.StaleCount] = []
  /// The directory of a later checkpoint, which has the names and openings; nil if there is none.
  var directory: CheckpointDirectory?
  /// How many names and openings must exist behind the gap.
  var names: Int64 = 0
  var openings: Int64 = 0
  /// Large values before this offset are written before the gap.
  var largeValueLimit: UInt64 = .max

  /// The missing transactions, as text.
  var text: String { "transactions \(first) to \(last)" }
}

extension ChangeBatch {
  /// The changes from one state to another. The new state has all properties of the old one.
  init(from old: State, to new: State) throws(StateFault) {
    self.init()
    var net = NetChanges(from: old, to: new)
    for entity in new.schema.entities {
      var rows: Set<Int64> = []
      for state in [old, new] {
        var cursor = state.rows(of: entity.number)
        while let row = try cursor.next() { rows.insert(row) }
      }
      for row in rows.sorted() {
        _ = try net.append(ObjectReference(entity: entity.number, row: row), to: &self)
      }
    }
  }
}

extension State {
  /// Adds the entities and properties of an earlier schema that are missing here, as removed: their
  /// numbers must not be reused.
  mutating func addRemovedDefinitions(of before: Schema) {
    let change = before.entities.compactMap { old -> Entity? in
      guard var entity = schema.entity(numbered: old.number) else {
        var removed = old
        removed.isRemoved = true
        return removed
      }
      let known = Set(
        entity.attributes.map(\.number) + entity.relationships.map(\.number)
          + entity.indexes.map(\.number))
      for var attribute in old.attributes where !known.contains(attribute.number) {
        attribute.isRemoved = true
        entity.attributes.append(attribute)
      }
      for var relationship in old.relationships where !known.contains(relationship.number) {
        relationship.isRemoved = true
        entity.relationships.append(relationship)
      }
      entity.attributes.sort { $0.number < $1.number }
      entity.relationships.sort { $0.number < $1.number }
      entity.nextPropertyNumber = max(entity.nextPropertyNumber, old.nextPropertyNumber)
      return entity == schema.entity(numbered: old.number) ? nil : entity
    }
    if !change.isEmpty { changeSchema(change) }
  }
}
