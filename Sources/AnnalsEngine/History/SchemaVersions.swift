import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// The schemas that a store has had, from the first of its history to the newest.
///
/// Keeps the changes, and makes the schema of a transaction when somebody asks for it: going
/// forward costs what changed, going backward the changes from the first. Any thread may use it.
package final class SchemaVersions: Sendable {
  /// What each transaction defined; the first is the whole schema at the base.
  package let changes: [SchemaHistoryEntry]
  /// The schema in force now.
  package let newest: Schema
  /// The schema made last, and how many changes it has.
  private let made = Locked<(count: Int, schema: Schema)>((0, Schema()))

  /// The schemas that these changes lead to; `newest` is the last of them.
  package init(_ changes: [SchemaHistoryEntry], newest: Schema) {
    self.changes = changes
    self.newest = newest
  }

  /// The same schemas, the first one in force from the beginning.
  func fromTheBeginning() -> SchemaVersions {
    var changes = changes
    if !changes.isEmpty { changes[0].number = 0 }
    return SchemaVersions(changes, newest: newest)
  }

  /// How many schemas there were up to this transaction. O(log changes).
  func count(asOf number: Int64) -> Int {
    changes.rank { $0.number <= number }
  }

  /// The schema just after this transaction; empty before the first.
  package func schema(asOf number: Int64) -> Schema {
    schema(numbered: count(asOf: number))
  }

  /// The schema that so many changes lead to.
  func schema(numbered count: Int) -> Schema {
    if count == changes.count { return newest }
    return made.withLock { made in
      if made.count > count { made = (0, Schema()) }
      for entry in changes[made.count..<count] { made.schema.apply(entry.change) }
      made.count = count
      return made.schema
    }
  }

  /// The entities that ever had this name. O(changes).
  package func entities(everNamed name: String) -> Set<EntityNumber> {
    var numbers: Set<EntityNumber> = []
    for entry in changes {
      for change in entry.change where change.definition.name.hasSameBytes(as: name) {
        numbers.insert(change.number)
      }
    }
    return numbers
  }

  /// The properties of the wanted entities that ever had this name, some more than once.
  /// O(changes).
  package func properties(
    everNamed name: String, of wanted: (EntityNumber) -> Bool
  ) -> [(entity: EntityNumber, property: PropertyNumber)] {
    var found: [(entity: EntityNumber, property: PropertyNumber)] = []
    for entry in changes {
      for entity in entry.change.lazy.map(\.definition) where wanted(entity.number) {
        for attribute in entity.attributes where attribute.name.hasSameBytes(as: name) {
          found.append((entity.number, attribute.number))
        }
        for relationship in entity.relationships where relationship.name.hasSameBytes(as: name) {
          found.append((entity.number, relationship.number))
        }
      }
    }
    return found
  }
}
