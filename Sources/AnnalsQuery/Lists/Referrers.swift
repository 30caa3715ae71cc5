import AnnalsModel
import AnnalsState

/// The rows that refer to an object by the relationships on a list's paths, to-one and to-many:
/// when an object changes, these rows must be read again.
///
/// Asks the reference index of a relationship, which the state has. Where there is none (of `.keep`
/// without an inverse) it keeps a table of its own, of 16 bytes per reference. A value.
struct Referrers: Sendable {
  /// One relationship on a path.
  private struct Hop: Hashable {
    var entity: EntityNumber
    var relationship: PropertyNumber
    var target: EntityNumber
    var isToMany: Bool
    /// Whether the path goes the other way: from what is referred to, at `entity`, to the objects
    /// of `target` that refer to it.
    var isInverse = false
  }

  /// The relationships of a path, and its final property; 0 for the object itself. A to-many
  /// relationship of which only the ids count is a final property.
  private struct Way: Hashable {
    var hops: [Hop]
    var end: PropertyNumber
  }

  private var ways: [Way] = []
  /// For each relationship without an index, entries whose words are the targets' rows.
  private var lists: [Hop: SortedList] = [:]
  /// The properties of the list's own entity on which conditions and keys depend.
  private(set) var ownProperties = PropertySet()

  /// Of all paths that lead from an entity's objects. O(objects of the entities on the way).
  init(
    _ dependencies: [PathDependency], from entity: EntityNumber, in state: State
  ) throws(StateFault) {
    for dependency in dependencies {
      guard let way = Referrers.way(dependency, entity, state.schema) else { continue }
      if let first = way.hops.first {
        if !first.isInverse { ownProperties.insert(first.relationship) }
        if !ways.contains(way) { ways.append(way) }
      } else {
        ownProperties.insert(way.end)
      }
    }
    for hop in Set(ways.flatMap(\.hops)) where !hop.isInverse {
      if try state.index(hop.entity, hop.relationship) != nil { continue }
      lists[hop] = try Referrers.list(hop, in: state)
    }
  }

  var isEmpty: Bool { ways.isEmpty }

  /// The entities to which the paths lead.
  var targets: Set<EntityNumber> { Set(ways.lazy.flatMap { $0.hops.map(\.target) }) }

  private static func way(
    _ dependency: PathDependency, _ number: EntityNumber, _ schema: Schema
  ) -> Way? {
    var way = Way(hops: [], end: 0)
    var entity = schema.entity(numbered: number)
    let names = dependency.path.names
    for (place, name) in names.enumerated() {
      guard let current = entity else { return nil }
      // A function of all objects depends on the value of each.
      if let last = way.hops.last, last.isToMany || last.isInverse, place < names.count - 1,
        dependency.path.isFunction(at: place)
      {
        continue
      }
      if let attribute = current.attribute(named: name) {
        way.end = attribute.number
        return way
      }
      guard let relationship = current.relationship(named: name) else {
        guard let (source, relationship) = schema.inverse(named: name, of: current.number) else {
          return way
        }
        way.hops.append(
          Hop(
            entity: current.number, relationship: relationship.number, target: source.number,
            isToMany: relationship.isToMany, isInverse: true))
        entity = source
        continue
      }
      if dependency.isListed, place == names.count - 1 {
        way.end = relationship.number
        return way
      }
      way.hops.append(
        Hop(
          entity: current.number, relationship: relationship.number,
          target: relationship.destination, isToMany: relationship.isToMany))
      entity = schema.entity(numbered: relationship.destination)
    }
    return way
  }

  private static func list(_ hop: Hop, in state: State) throws(StateFault) -> SortedList {
    guard let table = state.table(hop.entity), let column = table.column(of: hop.relationship)
    else { return SortedList() }
    var entries: ContiguousArray<(word: UInt64, index: Int)> = []
    var rows = table.rows
    while let row = try rows.next() {
      try forEachTarget(row, column, table) { entries.append((UInt64($0), Int(row))) }
    }
    // Keeps the rows of a target in order.
    radixSort(&entries)
    var list: ContiguousArray<ListEntry> = []
    list.reserveCapacity(entries.count)
    for (word, index) in entries {
      let entry = ListEntry(word: word, row: Int64(index))
      if list.last != entry { list.append(entry) }
    }
    return SortedList(list)
  }

  /// Calls `body` with the rows that a row's references lead to.
  @inline(__always)
  private static func forEachTarget(
    _ row: Int64, _ column: Int, _ table: TableView, _ body: (Int64) -> Void
  ) throws(StateFault) {
    try table.withCell(row, column: column) { cell, arena in
      switch cell.tag {
      case .object: body(Int64(bitPattern: cell.bits))
      case .objects:
        for object in ObjectReference.list(in: cell.bytes(in: arena)) { body(object.row) }
      default: break
      }
    }
  }

  /// The rows that a row's references lead to, each once, rising.
  private static func targets(
    _ row: Int64, _ column: Int?, _ table: TableView
  ) throws(StateFault) -> [Int64] {
    guard let column else { return [] }
    var targets: [Int64] = []
    try forEachTarget(row, column, table) { targets.append($0) }
    targets.sort()
    var distinct: [Int64] = []
    for target in targets where target != distinct.last { distinct.append(target) }
    return distinct
  }
}

extension Referrers {
  /// Calls `body` with the rows whose values at the end of a path may have changed because of
  /// changes to other objects; may repeat rows. O(log n) for each.
  func forEachAffected(
    by changes: ListChanges, from old: State, to new: State, _ body: (Int64) -> Void
  ) throws(StateFault) {
    for way in ways {
      for level in way.hops.indices {
        let target = way.hops[level].target
        let relevant = level + 1 < way.hops.count ? way.hops[level + 1].relationship : way.end
        let hop = way.hops[level]
        for change in changes.elements where change.object.entity == target {
          let isMoved = hop.isInverse && change.properties.contains(hop.relationship)
          if !isMoved, relevant == 0 || !change.properties.contains(relevant) {
            // The insert or delete of an object also concerns the rows that refer to it.
            let was = try old.contains(target, change.object.row)
            if was == (try new.contains(target, change.object.row)) { continue }
          }
          try walkBack(change.object.row, way.hops[...level], (old, new), body)
        }
      }
    }
  }

  private func walkBack(
    _ target: Int64, _ hops: ArraySlice<Hop>, _ states: (old: State, new: State),
    _ body: (Int64) -> Void
  ) throws(StateFault) {
    guard let hop = hops.last else { return body(target) }
    let rows =
      hop.isInverse
      ? Array(try owners(of: target, hop, states)) : try referrers(to: target, hop, states.old)
    for row in rows { try walkBack(row, hops.dropLast(), states, body) }
  }

  /// What referred to an object before the step. What refers to it since has changed itself.
  private func referrers(
    to target: Int64, _ hop: Hop, _ old: State
  ) throws(StateFault) -> [Int64] {
    guard let list = lists[hop] else {
      return try old.referrers(to: target, from: hop.entity, by: hop.relationship) ?? []
    }
    let word = UInt64(target)
    let start = list.rank { $0.word < word }
    var rows: [Int64] = []
    list.forEach(in: start..<list.rank { $0.word <= word }) { rows.append($0.row) }
    return rows
  }

  /// What an object at the far end of an inverse refers to, or did.
  private func owners(
    of row: Int64, _ hop: Hop, _ states: (old: State, new: State)
  ) throws(StateFault) -> Set<Int64> {
    var owners: Set<Int64> = []
    for state in [states.old, states.new] {
      guard let table = state.table(hop.target) else { continue }
      owners.formUnion(try Referrers.targets(row, table.column(of: hop.relationship), table))
    }
    return owners
  }

  /// Adopts the targets of changed references.
  mutating func advance(
    by changes: ListChanges, from old: State, to new: State
  ) throws(StateFault) {
    for hop in Array(lists.keys) {
      guard var list = lists[hop].take(), let before = old.table(hop.entity),
        let after = new.table(hop.entity)
      else { continue }
      lists[hop] = SortedList()
      defer { lists[hop] = list }
      for change in changes.elements where change.object.entity == hop.entity {
        let row = change.object.row
        let was = try Referrers.targets(row, before.column(of: hop.relationship), before)
        let becomes = try Referrers.targets(row, after.column(of: hop.relationship), after)
        guard was != becomes else { continue }
        for target in was where !becomes.isListed(target) {
          let entry = ListEntry(word: UInt64(target), row: row)
          let rank = list.rank { $0.isBefore(entry) }
          if rank < list.count, list[rank] == entry { list.remove(at: rank) }
        }
        for target in becomes where !was.isListed(target) {
          let entry = ListEntry(word: UInt64(target), row: row)
          list.insert(entry, at: list.rank { $0.isBefore(entry) })
        }
      }
    }
  }
}

extension [Int64] {
  /// Whether the rising numbers have this one. O(log n).
  fileprivate func isListed(_ number: Int64) -> Bool {
    let place = rank { $0 < number }
    return place < count && self[place] == number
  }
}
