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
      try table.forEachLargeValue(of: columns.map(\.place)) { row, index, value in
        body(ObjectReference(entity: entity.number, row: row), columns[index].number, value)
      }
    }
  }
}
