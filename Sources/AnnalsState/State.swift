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
  /// The schema, its entities ordered by number.
  package internal(set) var schema: Schema
  /// The tables, in the order of the entities in `schema`.
  var tables: ContiguousArray<Table>

  /// Creates a state of nothing, to replace one that was moved out.
  package init() {
    schema = Schema()
    tables = []
  }

  /// Creates a state without objects.
  package init(schema: Schema) {
    self.schema = Schema()
    tables = []
    setSchema(schema)
  }

  /// Adopts the next rows for new objects from another state of the store: some rows may have been
  /// given to objects that were inserted and deleted within one transaction.
  package mutating func adoptNextRows(of other: State) {
    for index in tables.indices {
      let row = other.nextRow(of: tables[index].number)
      if tables[index].nextRow < row { writableTable(at: index).nextRow = row }
    }
  }

  /// The place of the entity's table.
  @inline(__always)
  func index(of entity: EntityNumber) -> Int? {
    // Numbers are dense, so the first look finds it unless the caller is wrong.
    let guess = Int(entity) - 1
    if guess >= 0, guess < tables.count, tables[guess].number == entity { return guess }
    let place = place(for: entity)
    return place < tables.count && tables[place].number == entity ? place : nil
  }

  /// Where the entity's table is, or would be: the first with this number or a greater one.
  func place(for entity: EntityNumber) -> Int {
    tables.rank { $0.number < entity }
  }

  /// The table of an entity that may not exist.
  func findTable(_ entity: EntityNumber) -> Table? {
    index(of: entity).map { tables[$0] }
  }

  /// The table of an entity; an empty one if the state is from before the entity existed.
  func tableOrEmpty(of entity: EntityNumber) -> Table {
    if let table = findTable(entity) { return table }
    var definition = Entity("")
    definition.number = entity
    return Table(definition)
  }

  /// The table for writing: nobody else holds it.
  @inline(__always)
  mutating func writableTable(_ entity: EntityNumber, row: Int64) throws(StateFault) -> Table {
    guard let index = index(of: entity) else {
      throw .invalid(entity: entity, row: row, reason: "no such entity")
    }
    return writableTable(at: index)
  }

  /// The table at this place for writing.
  @inline(__always)
  mutating func writableTable(at index: Int) -> Table {
    if !isKnownUniquelyReferenced(&tables[index]) {
      tables[index] = Table(copying: tables[index])
    }
    if tables[index].current != nil { tables[index].current = nil }
    return tables[index]
  }
}
