import AnnalsEngine
import AnnalsFormat
import AnnalsModel
import AnnalsState

/// What is known of a gap that is to be written.
struct SalvageGap {
  var first: Int64
  var last: Int64
  var reason: String
  var before: Timestamp?
  var isExact = false
  var stale: [LostTransactions.StaleCount] = []
  /// A later checkpoint, which knows names and openings.
  var directory: CheckpointDirectory?
  /// How many names and openings must be known behind the gap.
  var names: Int64 = 0
  var openings: Int64 = 0
  /// Large values that stand before this offset come before the gap.
  var blobLimit: UInt64 = .max

  /// The missing transactions, as a message names them.
  var text: String { "transactions \(first) to \(last)" }
}

extension ChangeBatch {
  /// The changes that lead from one state to another, which has all its properties.
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
  /// Takes back what a schema of before defined and this state's does not, as removed: numbers of
  /// entities and properties stay given.
  mutating func keepWhatWasGiven(in before: Schema) {
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
