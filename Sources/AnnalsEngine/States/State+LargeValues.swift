import AnnalsModel
import AnnalsState

extension State {
  /// The large values that the state refers to, by number. O(size of the state).
  package func largeValues() throws(StateFault) -> [UInt64: LargeValue] {
    var values: [UInt64: LargeValue] = [:]
    try forEachLargeValue { _, _, value in values[value.number] = value }
    return values
  }

  /// Calls `body` with each large value that the state refers to, with its object and property.
  /// O(size of the state).
  package func forEachLargeValue(
    _ body: (ObjectReference, PropertyNumber, LargeValue) -> Void
  ) throws(StateFault) {
    for entity in schema.entities {
      guard let table = table(entity.number) else { continue }
      let columns = entity.attributes.filter { $0.type.tag?.isBytes ?? true }
        .compactMap { attribute in
          table.column(of: attribute.number).map { (number: attribute.number, place: $0) }
        }
      guard !columns.isEmpty else { continue }
      var rows = table.rows
      while let row = try rows.next() {
        for column in columns {
          let value = try table.withCell(row, column: column.place) { cell, arena -> LargeValue? in
            guard cell.isLarge, case .large(let value) = cell.value(in: arena) else { return nil }
            return value
          }
          guard let value else { continue }
          body(ObjectReference(entity: entity.number, row: row), column.number, value)
        }
      }
    }
  }
}
