import AnnalsModel
import AnnalsState
import Testing

/// The state as dictionaries: what the real one is compared with.
struct NaiveState {
  struct Key: Hashable {
    var entity: EntityNumber
    var row: Int64
  }

  var objects: [Key: [PropertyNumber: Value]] = [:]
  /// The keys of `objects` in an order that depends on the operations alone.
  private(set) var live: [Key] = []
  private var places: [Key: Int] = [:]
  var nextRow: [EntityNumber: Int64] = [1: 1, 2: 1]

  mutating func insert(_ key: Key) {
    objects[key] = [:]
    places[key] = live.count
    live.append(key)
  }

  mutating func remove(_ key: Key) {
    objects[key] = nil
    guard let place = places.removeValue(forKey: key) else { return }
    let last = live.removeLast()
    if last != key {
      live[place] = last
      places[last] = place
    }
  }

  /// Compares everything that can be read.
  func expectEqual(
    _ state: State, _ comment: Comment, location: SourceLocation = #_sourceLocation
  ) throws {
    for entity: EntityNumber in [1, 2] {
      let rows = objects.keys.filter { $0.entity == entity }.map(\.row).sorted()
      #expect(state.count(of: entity) == rows.count, comment, sourceLocation: location)
      var cursor = state.rows(of: entity)
      var found: [Int64] = []
      while let row = try cursor.next() { found.append(row) }
      #expect(found == rows, comment, sourceLocation: location)
      for row in rows {
        let object = objects[Key(entity: entity, row: row)] ?? [:]
        for property in ModelSchema.properties {
          let value = try state.value(entity, row, property)
          let expected = object[property] ?? .null
          if value != expected {
            Issue.record(
              "\(comment): \(entity)#\(row).\(property) is \(value), not \(expected)",
              sourceLocation: location)
            return
          }
        }
      }
    }
  }
}
