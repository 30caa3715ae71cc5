import AnnalsFormat
import AnnalsModel

// The state: everything that is true after one transaction, as a value.
//
// - Copying a state is O(1). A copy and the original share all that neither has changed since:
//   tables, groups of 4,096 rows, leaves of 256 rows of one property.
// - A state is changed by whoever holds it, alone; copies may be read meanwhile from any thread.
// - A mutating call that throws leaves the state unspecified: it is thrown away, and whoever
//   needs the state before it keeps a copy.
// - Values come and go as cells (`ValueCell`) whose bytes lie in an arena; nothing is boxed.

/// All objects of all entities, as of one transaction.
package struct State: Sendable {
  /// What the state holds; its entities in the order of their numbers.
  package private(set) var schema: Schema
  /// By place of the entity in `schema`.
  var tables: ContiguousArray<Table>

  /// A state of nothing at all, to stand where another was taken from.
  package init() {
    schema = Schema()
    tables = []
  }

  /// The state without any object.
  package init(schema: Schema) {
    self.schema = Schema()
    tables = []
    setSchema(schema)
  }

  /// Puts these definitions in place of those with the same numbers: adds entities and properties,
  /// widens types, renames, hides what is removed. Values stay as they are.
  ///
  /// A unique rule that is new is built over the objects there are by the next `checkUniqueness`,
  /// which returns those that break it.
  package mutating func changeSchema(_ change: [Entity]) {
    setSchema(schema.applying(change))
    for entity in change {
      guard let index = index(of: entity.number) else { continue }
      if !isKnownUniquelyReferenced(&tables[index]) {
        tables[index] = Table(copying: tables[index])
      }
      tables[index].defineIndexes(entity)
    }
  }

  /// Takes over another schema of the same store: the one of the past, for a state in the past.
  ///
  /// Objects and values that this schema does not know stay, and are not shown. Unique rules stay
  /// as they are: a past state has the indexes of the present.
  package mutating func setSchema(_ schema: Schema) {
    var entities = schema.entities.sorted { $0.number < $1.number }
    // An entity unknown to the other schema keeps its table, behind a definition that hides it;
    // without objects it goes, so that the past looks the same whichever way led to it.
    for old in self.schema.entities
    where count(of: old.number) > 0 && !entities.contains(where: { $0.number == old.number }) {
      var hidden = old
      hidden.isRemoved = true
      entities.append(hidden)
    }
    entities.sort { $0.number < $1.number }
    tables = ContiguousArray(
      entities.map { entity in
        guard let index = self.index(of: entity.number) else { return Table(entity) }
        let table = Table(copying: tables[index])
        table.define(entity)
        return table
      })
    self.schema = Schema(entities: entities)
  }

  /// Takes over which rows new objects get from another state of the store: some may have been
  /// given to objects that came and went within one transaction.
  package mutating func adoptNextRows(of other: State) {
    for index in tables.indices {
      let row = other.nextRow(of: tables[index].number)
      guard tables[index].nextRow < row else { continue }
      if !isKnownUniquelyReferenced(&tables[index]) {
        tables[index] = Table(copying: tables[index])
      }
      tables[index].nextRow = row
    }
  }

  /// The place of the entity's table.
  @inline(__always)
  func index(of entity: EntityNumber) -> Int? {
    // Numbers are dense, so the first look finds it unless the caller is wrong.
    let guess = Int(entity) - 1
    if guess >= 0, guess < tables.count, tables[guess].number == entity { return guess }
    return tables.firstIndex { $0.number == entity }
  }

  /// The table of an entity that may not exist.
  func findTable(_ entity: EntityNumber) -> Table? {
    index(of: entity).map { tables[$0] }
  }

  /// The table for writing: nobody else holds it.
  @inline(__always)
  mutating func writableTable(_ entity: EntityNumber, row: Int64) throws(StateFault) -> Table {
    guard let index = index(of: entity) else {
      throw .invalid(entity: entity, row: row, reason: "no such entity")
    }
    if !isKnownUniquelyReferenced(&tables[index]) {
      tables[index] = Table(copying: tables[index])
    }
    return tables[index]
  }
}
