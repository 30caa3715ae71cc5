import AnnalsFormat
import AnnalsModel

/// How many bytes each property of each entity takes, in tables by number so that counting a value
/// costs no look-up of a name.
struct ShareTable {
  private struct Cell {
    var history = 0.0
    var state: UInt64 = 0
    var blobs: UInt64 = 0
    var changes: Int64 = 0
  }

  /// By entity and property; property 0 stands for what belongs to none.
  private var cells: [[Cell]] = []
  /// Numbers beyond what a sound schema has are counted as these.
  private static let maximumEntity = 1 << 16
  private static let maximumProperty = 1 << 10

  /// Shares the length of a frame out among what its transactions hold.
  mutating func add(_ batch: ChangeBatch, length: UInt64) {
    var total = 12.0 * Double(max(1, batch.transactions.count))
    for change in batch.changes {
      total += 3
      for property in batch.properties[change.propertyRange] {
        total += ShareTable.weight(property.before) + ShareTable.weight(property.after)
      }
    }
    let scale = Double(length) / total
    for change in batch.changes {
      let entity = row(change.entity)
      cells[entity][0].history += 3 * scale
      cells[entity][0].changes += 1
      for property in batch.properties[change.propertyRange] {
        let column = column(property.property, in: entity)
        let weight = ShareTable.weight(property.before) + ShareTable.weight(property.after)
        cells[entity][column].history += weight * scale
        cells[entity][column].changes += 1
      }
    }
  }

  mutating func add(state length: UInt64, entity: EntityNumber, property: PropertyNumber?) {
    let row = row(entity)
    cells[row][column(property ?? 0, in: row)].state += length
  }

  mutating func add(blob length: UInt64, entity: EntityNumber, property: PropertyNumber) {
    let row = row(entity)
    cells[row][column(property, in: row)].blobs &+= length
  }

  /// What a value takes by row, nearly.
  private static func weight(_ cell: ValueCell) -> Double {
    switch cell.tag {
    case .null: 0
    case .bool: 2
    case .int, .date: 1 + Double(VarInt.length(VarInt.zigzag(Int64(bitPattern: cell.bits))))
    case .double: 9
    case .object: 4
    case .objects: 2 + Double(cell.length) / 3
    case .string, .url, .data, .json, .uuid: 2 + Double(cell.length)
    }
  }

  private mutating func row(_ entity: EntityNumber) -> Int {
    let row = min(Int(entity), ShareTable.maximumEntity)
    while cells.count <= row { cells.append([Cell()]) }
    return row
  }

  private mutating func column(_ property: PropertyNumber, in row: Int) -> Int {
    let column = min(Int(property), ShareTable.maximumProperty)
    while cells[row].count <= column { cells[row].append(Cell()) }
    return column
  }

  /// The shares, most bytes first.
  func ranked(_ vocabulary: Vocabulary) -> [FileStatistics.Share] {
    var result: [FileStatistics.Share] = []
    for (row, columns) in cells.enumerated() {
      let entity = EntityNumber(row)
      for (column, cell) in columns.enumerated()
      where cell.changes > 0 || cell.state > 0 || cell.blobs > 0 {
        let property = column == 0 ? nil : PropertyNumber(column)
        result.append(
          FileStatistics.Share(
            entity: entity, property: property, entityName: vocabulary.entityText(entity),
            propertyName: property.map { vocabulary.propertyText($0, of: entity) },
            historyBytes: UInt64(cell.history.rounded()), stateBytes: cell.state,
            blobBytes: cell.blobs, changes: cell.changes))
      }
    }
    return result.sorted {
      if $0.totalBytes != $1.totalBytes { return $0.totalBytes > $1.totalBytes }
      if $0.entity != $1.entity { return $0.entity < $1.entity }
      return $0.property ?? 0 < $1.property ?? 0
    }
  }
}
