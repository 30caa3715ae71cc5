import AnnalsModel
import AnnalsState

extension State {
  /// The large values that the state holds, by number. O(size of the state).
  func largeValues() throws(StateFault) -> [UInt64: LargeValue] {
    var values: [UInt64: LargeValue] = [:]
    for entity in schema.entities {
      guard let table = table(entity.number) else { continue }
      let columns = entity.attributes.filter { $0.type.tag?.isBytes ?? true }
        .compactMap { table.column(of: $0.number) }
      guard !columns.isEmpty else { continue }
      var rows = table.rows
      while let row = try rows.next() {
        for column in columns {
          let value = try table.withCell(row, column: column) { cell, arena -> LargeValue? in
            guard cell.isLarge, case .large(let value) = cell.value(in: arena) else { return nil }
            return value
          }
          if let value { values[value.number] = value }
        }
      }
    }
    return values
  }
}
