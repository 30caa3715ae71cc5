import AnnalsFormat
import AnnalsInspection
import AnnalsModel

/// Adds up the bytes of each property of each entity.
struct ShareTable {
  private struct Cell {
    var history = 0.0
    var state: UInt64 = 0
    var largeValues: UInt64 = 0
    var changes: Int64 = 0
  }

  private var cells: ContiguousArray<Cell> = []
  private var keys: ContiguousArray<UInt64> = []
  /// The index in `cells` by entity and property; property 0 stands for bytes of no property.
  private var places: [UInt64: Int32] = [:]
  /// A cache of indices by the low bits of their keys: changes come in runs of the same kind.
  private var recent = ContiguousArray<Int32>(repeating: -1, count: 256)

  /// Divides the length of a frame among the changes and values in it.
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
      let place = place(change.entity, 0)
      cells[place].history += 3 * scale
      cells[place].changes += 1
      for property in batch.properties[change.propertyRange] {
        let place = self.place(change.entity, property.property)
        let weight = ShareTable.weight(property.before) + ShareTable.weight(property.after)
        cells[place].history += weight * scale
        cells[place].changes += 1
      }
    }
  }

  mutating func add(state length: UInt64, entity: EntityNumber, property: PropertyNumber?) {
    cells[place(entity, property ?? 0)].state &+= length
  }

  mutating func add(largeValue length: UInt64, entity: EntityNumber, property: PropertyNumber) {
    cells[place(entity, property)].largeValues &+= length
  }

  private mutating func place(_ entity: EntityNumber, _ property: PropertyNumber) -> Int {
    let key = UInt64(entity) << 32 | UInt64(property)
    let slot = Int(truncatingIfNeeded: (key ^ key >> 27) & 255)
    let guess = Int(recent[slot])
    if guess >= 0, keys[guess] == key { return guess }
    let place: Int32
    if let known = places[key] {
      place = known
    } else {
      place = Int32(truncatingIfNeeded: cells.count)
      places[key] = place
      keys.append(key)
      cells.append(Cell())
    }
    recent[slot] = place
    return Int(place)
  }

  /// The approximate size of a value by row.
  static func weight(_ cell: ValueCell) -> Double {
    switch cell.tag {
    case .null, .erased: 0
    case .bool: 2
    case .int, .date, .day: 1 + Double(VarInt.length(VarInt.zigzag(Int64(bitPattern: cell.bits))))
    case .double: 9
    case .object: 4
    case .objects: 2 + Double(cell.length) / 3
    case .string, .url, .data, .json, .uuid, .decimal: 2 + Double(cell.length)
    }
  }

  /// The shares, most bytes first.
  func ranked(_ vocabulary: Vocabulary) -> [FileStatistics.Share] {
    let result = zip(keys, cells).map { key, cell in
      let entity = EntityNumber(truncatingIfNeeded: key >> 32)
      let number = PropertyNumber(truncatingIfNeeded: key)
      let property = number == 0 ? nil : number
      return FileStatistics.Share(
        entity: entity, property: property, entityName: vocabulary.entityText(entity),
        propertyName: property.map { vocabulary.propertyText($0, of: entity) },
        historyBytes: UInt64(cell.history.rounded()), stateBytes: cell.state,
        largeValueBytes: cell.largeValues, changes: cell.changes)
    }
    return result.sorted {
      if $0.totalBytes != $1.totalBytes { return $0.totalBytes > $1.totalBytes }
      if $0.entity != $1.entity { return $0.entity < $1.entity }
      return $0.property ?? 0 < $1.property ?? 0
    }
  }
}
