import AnnalsFormat
import AnnalsModel

/// The objects of one entity.
///
/// Columns have dense positions, in the order in which their properties were added; a position
/// never changes its property. Read from any thread; written only by the holder of the one
/// reference, which `State` ensures.
final class Table: @unchecked Sendable {
  let number: EntityNumber
  // Exclusive access follows from the rule above, and checking it took a quarter of a replay.
  /// The row that the next new object gets.
  @exclusivity(unchecked) var nextRow: Int64 = 1
  /// How many objects there are.
  @exclusivity(unchecked) var liveCount = 0
  @exclusivity(unchecked) var columns: ContiguousArray<Column> = []
  @exclusivity(unchecked) var groups = GroupTree()
  @exclusivity(unchecked) var indexes: ContiguousArray<TableIndex> = []
  /// The table with its indexes up to date, once somebody has read one; nil unless
  /// `State.deferIndexes` was called since the last change.
  @exclusivity(unchecked) var current: Once<Table>?
  /// Whether some index is not unique: it may contain a row whatever its values.
  @exclusivity(unchecked) var hasNonUniqueIndex = false
  /// The positions of the columns, by rising property number.
  @exclusivity(unchecked) private(set) var columnsByProperty: ContiguousArray<Int> = []
  /// The position of each property with a low number, or -1.
  @exclusivity(unchecked) private var positions: ContiguousArray<Int32> = []

  init(_ entity: Entity) {
    number = entity.number
    define(entity)
    defineIndexes(entity)
  }

  init(copying other: Table) {
    number = other.number
    nextRow = other.nextRow
    liveCount = other.liveCount
    columns = other.columns
    groups = other.groups
    indexes = other.indexes
    hasNonUniqueIndex = other.hasNonUniqueIndex
    positions = other.positions
    columnsByProperty = other.columnsByProperty
  }

  /// Adopts an entity's definition: adds missing columns, and sets the kinds.
  func define(_ entity: Entity) {
    DefinitionProbe.count(entity.attributes.count + entity.relationships.count)
    for attribute in entity.attributes { define(attribute) }
    for relationship in entity.relationships {
      define(relationship.number, kind: relationship.isToMany ? .objects : .object)
    }
  }

  /// Adopts the definition of one attribute without unique rules.
  func define(_ attribute: Attribute) {
    define(attribute.number, kind: ColumnKind(attribute.type))
  }

  private func define(_ property: PropertyNumber, kind: ColumnKind) {
    if let position = position(of: property) {
      columns[position].kind = kind
      return
    }
    if property <= Table.directPositions {
      let index = Int(property)
      if index >= positions.count {
        positions.append(contentsOf: repeatElement(-1, count: index + 1 - positions.count))
      }
      positions[index] = Int32(columns.count)
    }
    columnsByProperty.insert(columns.count, at: place(ofProperty: property))
    columns.append(Column(property: property, kind: kind))
  }

  /// Properties up to this number are found by looking, the rest by searching.
  private static let directPositions: PropertyNumber = 1024

  /// The position of the property's column; nil if there is none.
  @inline(__always)
  func position(of property: PropertyNumber) -> Int? {
    if Int(property) < positions.count {
      let position = positions[Int(property)]
      return position < 0 ? nil : Int(position)
    }
    guard property > Table.directPositions else { return nil }
    let place = place(ofProperty: property)
    guard place < columnsByProperty.count else { return nil }
    let position = columnsByProperty[place]
    return columns[position].property == property ? position : nil
  }

  /// Where in `columnsByProperty` the property is, or would be.
  private func place(ofProperty property: PropertyNumber) -> Int {
    // New properties have the greatest numbers.
    if let last = columnsByProperty.last, columns[last].property < property {
      return columnsByProperty.count
    }
    return columnsByProperty.rank { columns[$0].property < property }
  }

  /// A fault that names a row of this table.
  func invalid(_ row: Int64, _ reason: StaticString) -> StateFault {
    .invalid(entity: number, row: row, reason: reason)
  }
}

// Reading.
extension Table {
  /// Whether the row lives.
  func contains(_ row: Int64) throws(StateFault) -> Bool {
    guard row >= 1, row <= RowPosition.maximumRow else { return false }
    let place = RowPosition(row)
    return try groups.group(place.group)?.isLive(place.offset) ?? false
  }

  /// The leaf that holds the row's value of a column, if any of its rows has one.
  func leaf(_ place: RowPosition, column: Int) throws(StateFault) -> Leaf? {
    try groups.group(place.group)?.leaf(place.leaf, column: column)
  }
}

// Writing.
extension Table {
  /// The place of a row for writing.
  @inline(__always)
  func place(_ row: Int64) throws(StateFault) -> RowPosition {
    guard row >= 1, row <= RowPosition.maximumRow else { throw invalid(row, "row out of range") }
    return RowPosition(row)
  }

  /// Makes a row live.
  func insert(_ row: Int64) throws(StateFault) {
    let place = try place(row)
    if hasNonUniqueIndex { try noteAll(row) }
    let group = groups.writableGroup(place.group)
    guard try !group.isLive(place.offset) else { throw invalid(row, "inserted, but it is there") }
    try group.markLive(place.offset)
    liveCount += 1
    if row >= nextRow { nextRow = row + 1 }
  }

  /// Ends the life of a row and clears its values.
  func delete(_ row: Int64) throws(StateFault) {
    let place = try place(row)
    guard try contains(row) else { throw invalid(row, "deleted, but it is not there") }
    try noteAll(row)
    let group = groups.writableGroup(place.group)
    for column in columns.indices {
      try clear(place: place, group: group, column: column)
    }
    try group.markDead(place.offset)
    liveCount -= 1
  }

  /// Sets one value of a row that lives; null clears it.
  func set(
    _ row: Int64, column: Int, to cell: ValueCell, in arena: UnsafeRawBufferPointer
  ) throws(StateFault) {
    let place = try place(row)
    let group = groups.writableGroup(place.group)
    guard try group.isLive(place.offset) else { throw invalid(row, "changed, but it is not there") }
    try put(cell, in: arena, row: row, place: place, group: group, column: column)
  }

  /// Sets or clears one value in a group that nobody else holds.
  @inline(__always)
  func put(
    _ cell: ValueCell, in arena: UnsafeRawBufferPointer, row: Int64, place: RowPosition,
    group: RowGroup, column: Int
  ) throws(StateFault) {
    if columns[column].isIndexed { try note(row, column: column) }
    if cell.isAbsence {
      try clear(place: place, group: group, column: column)
      return
    }
    try group.prepareToWrite(leaf: place.leaf, column: column, width: columns.count)
    let isSet = Leaf.set(
      &group.blocks[place.leaf][column], slot: place.slot, to: cell, in: arena,
      declared: columns[column].kind)
    guard isSet else { throw invalid(row, "a value that its property does not admit") }
  }

  /// Clears one value, if there is one.
  func clear(place: RowPosition, group: RowGroup, column: Int) throws(StateFault) {
    guard try group.leaf(place.leaf, column: column)?.isPresent(place.slot) ?? false else {
      return
    }
    try group.prepareToWrite(leaf: place.leaf, column: column, width: columns.count)
    group.clear(leaf: place.leaf, column: column, slot: place.slot)
  }
}
