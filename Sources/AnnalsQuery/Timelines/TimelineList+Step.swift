import AnnalsModel
import AnnalsState

extension TimelineList {
  /// A row that is removed from the list or inserted.
  private struct Moved {
    var entry: ListEntry
    var properties: PropertySet
    var position = 0
    /// Its index on the other side.
    var partner: Int?
  }

  /// Where the row at a position is. O(log sections).
  func place(_ position: Int) -> ListDiff.Place {
    let section = sections.rank { $0.positions.upperBound <= position }
    guard section < sections.count else {
      return ListDiff.Place(position: position, section: 0, item: position)
    }
    return ListDiff.Place(
      position: position, section: section,
      item: position - sections[section].positions.lowerBound)
  }

  /// Whether a row that was at one place of another list is in the same section at one of this.
  private func isSameSection(
    _ old: TimelineList, _ from: ListDiff.Place, _ to: ListDiff.Place
  ) -> Bool {
    guard division != nil else { return true }
    return order.isDescending == old.order.isDescending
      && TimelineList.isSame(old.sections[from.section], sections[to.section])
  }

  private static func isSame(_ a: TimelineSection, _ b: TimelineSection) -> Bool {
    a.isOngoing == b.isOngoing && a.bucket?.range.lowerBound == b.bucket?.range.lowerBound
  }

  /// Finds the deleted and inserted sections; those of the same time stay.
  private func compareSections(_ old: TimelineList, _ diff: inout ListDiff) {
    guard division != nil else { return }
    let isTurned = order.isDescending != old.order.isDescending
    for (index, section) in old.sections.enumerated()
    where isTurned || !contains(section) {
      diff.deletedSections.append(index)
    }
    for (index, section) in sections.enumerated() where isTurned || !old.contains(section) {
      diff.insertedSections.append(index)
    }
  }

  /// Whether there is a section of the same time. O(log sections).
  private func contains(_ section: TimelineSection) -> Bool {
    let isDescending = order.isDescending
    /// Ongoing rows are after every date.
    func time(_ section: TimelineSection) -> (Int, Timestamp) {
      section.bucket.map { (0, $0.range.lowerBound) } ?? (1, .min)
    }
    let wanted = time(section)
    let place = sections.rank {
      isDescending ? time($0) > wanted : time($0) < wanted
    }
    return place < sections.count && TimelineList.isSame(sections[place], section)
  }

  /// Advances to another state, which differs in these objects alone, and to another time. Returns
  /// the difference.
  package mutating func advance(
    to state: State, _ changes: ListChanges, _ sources: ConditionSources, now: Timestamp
  ) throws(QueryPlan.Failure) -> ListDiff {
    let old = self
    let others = old.otherEntities
    if changes.elements.contains(where: { others.contains($0.object.entity) }) {
      self = try TimelineList(
        definition, order, of: entity, in: state, sources, now: now, division: division)
      return try diff(fromOther: old, changes)
    }
    try rebind(to: state, sources, now: now)
    do throws(ConditionFault) {
      return try step(from: old, changes)
    } catch {
      throw .evaluation(error)
    }
  }

  private mutating func step(
    from old: TimelineList, _ changes: ListChanges
  ) throws(ConditionFault) -> ListDiff {
    var out: [Moved] = []
    var into: [Moved] = []
    var updated: [Moved] = []
    for (row, properties) in try affected(old, changes) {
      let (before, oldEntries) = try old.standing(of: row)
      let (after, newEntries) = try standing(of: row)
      for entry in oldEntries {
        let moved = Moved(entry: entry, properties: properties)
        if !newEntries.contains(entry) {
          out.append(moved)
        } else if !properties.isEmpty {
          updated.append(moved)
        }
      }
      for entry in newEntries where !oldEntries.contains(entry) {
        into.append(Moved(entry: entry, properties: properties))
      }
      try setAbsence(of: row, before, after)
    }
    for index in out.indices { out[index].position = try old.position(of: out[index].entry) }
    for index in updated.indices {
      updated[index].position = try old.position(of: updated[index].entry)
    }
    out.sort { $0.position < $1.position }
    updated.sort { $0.position < $1.position }
    for moved in out.reversed() { list.remove(at: moved.position) }
    let order = entryOrder
    into.sort { order.precedes($0.entry, $1.entry) }
    for index in into.indices {
      into[index].position = try list.rank(of: into[index].entry, by: order)
      list.insert(into[index].entry, at: into[index].position)
    }
    TimelineList.pair(&out, &into)
    try divide()
    return diff(from: old, out, into, updated)
  }

  private func position(of entry: ListEntry) throws(ConditionFault) -> Int {
    guard let position = try list.position(of: entry, by: entryOrder) else {
      preconditionFailure("a row of a timeline is not at its place")
    }
    return position
  }

  /// The rows of objects that may have another place now, with their changed properties, rising:
  /// changed objects, and ongoing ones placed at the present time.
  private func affected(
    _ old: TimelineList, _ changes: ListChanges
  ) throws(ConditionFault) -> [(Int64, PropertySet)] {
    var rows: [Int64: PropertySet] = [:]
    for change in changes.elements where change.object.entity == entity {
      rows[change.object.row] = change.properties
    }
    if order.ongoing == .atNow, !order.hidesOngoing, now != old.now {
      let low = TimelineList.word(min(now, old.now).microseconds)
      let high = TimelineList.word(max(now, old.now).microseconds)
      let isDescending = order.isDescending
      let first = try old.list.rank { isDescending ? $0.word > high : $0.word < low }
      let last = try old.list.rank { isDescending ? $0.word >= low : $0.word <= high }
      old.list.forEach(in: first..<max(first, last)) { entry in
        if TimelineList.role(entry) == .ongoing, rows[entry.row] == nil {
          rows[entry.row] = PropertySet()
        }
      }
    }
    return rows.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private mutating func setAbsence(
    of row: Int64, _ before: TimelineReading.Standing, _ after: TimelineReading.Standing
  ) throws(ConditionFault) {
    let position = try absent.rank { $0.row < row }
    if case .absent = before { absent.remove(at: position) }
    if case .absent(let reason) = after {
      absent.insert(ListEntry(word: 0, row: row, role: reason.rawValue), at: position)
    }
  }

  /// Pairs rows that are removed and inserted again: those of one object that show the same.
  private static func pair(_ out: inout [Moved], _ into: inout [Moved]) {
    var places: [UInt64: Int] = [:]
    for (index, moved) in out.enumerated() { places[identity(moved.entry)] = index }
    for index in into.indices {
      guard let partner = places[identity(into[index].entry)] else { continue }
      into[index].partner = partner
      out[partner].partner = index
    }
  }

  /// The identity of a row, wherever it is.
  static func identity(_ entry: ListEntry) -> UInt64 {
    UInt64(bitPattern: entry.row) << 8 | UInt64(role(entry).rawValue)
  }

  /// The difference, of rows whose positions are known on both sides.
  private func diff(
    from old: TimelineList, _ out: [Moved], _ into: [Moved], _ updated: [Moved]
  ) -> ListDiff {
    var diff = ListDiff()
    for moved in out where moved.partner == nil { diff.deletes.append(old.place(moved.position)) }
    // Which are where they were among the rows that stay: as many of those before them, in order.
    var last = -1
    for (index, moved) in into.enumerated() {
      let to = place(moved.position)
      guard let partner = moved.partner else {
        diff.inserts.append(to)
        continue
      }
      let before = out[partner]
      let step = ListDiff.Step(
        from: old.place(before.position), to: to, changed: moved.properties)
      if before.position - partner == moved.position - index, before.position > last,
        isSameSection(old, step.from, to)
      {
        last = before.position
        if !moved.properties.isEmpty { diff.updates.append(step) }
      } else {
        diff.moves.append(step)
      }
    }
    // Rows that stay have as many before them that stay as they had.
    let gone = out.map(\.position)
    let came = into.enumerated().map { $1.position - $0 }
    for moved in updated {
      let stays = moved.position - gone.rank { $0 < moved.position }
      let new = stays + came.rank { $0 <= stays }
      diff.updates.append(
        ListDiff.Step(
          from: old.place(moved.position), to: place(new), changed: moved.properties))
    }
    diff.updates.sort { $0.to.position < $1.to.position }
    compareSections(old, &diff)
    return diff
  }
}

extension TimelineList {
  /// The entities whose objects matter to the rows.
  package var entities: Set<EntityNumber> { otherEntities.union([entity]) }

  /// The entities to whose objects a date, a kind or a condition leads.
  var otherEntities: Set<EntityNumber> {
    var paths: [PropertyPath] = [definition.start]
    if let end = definition.end { paths.append(end) }
    switch definition.openEnd {
    case .never, .whenEndIsNil: break
    case .flag(let path), .kind(let path, _): paths.append(path)
    }
    for condition in [definition.endCondition, definition.condition] {
      paths += condition?.dependencies.map(\.path) ?? []
    }
    var result: Set<EntityNumber> = []
    for path in paths {
      var place = state.schema.entity(numbered: entity)
      for name in path.names {
        guard let relationship = place?.relationship(named: name) else { break }
        result.insert(relationship.destination)
        place = state.schema.entity(numbered: relationship.destination)
      }
    }
    return result
  }

  /// What makes these rows of those of another list, with the fewest moves. O(n log n).
  package func diff(
    fromOther old: TimelineList, _ changes: ListChanges
  ) throws(QueryPlan.Failure) -> ListDiff {
    var diff = ListDiff()
    var places: [UInt64: Int] = [:]
    let before = old.list.entries(in: 0..<old.count)
    let after = list.entries(in: 0..<count)
    for (position, entry) in before.enumerated() {
      places[TimelineList.identity(entry)] = position
    }
    /// Positions now, and then, of the rows that are in both.
    var common: [(now: Int, then: Int)] = []
    for (position, entry) in after.enumerated() {
      if let then = places.removeValue(forKey: TimelineList.identity(entry)) {
        common.append((position, then))
      } else {
        diff.inserts.append(place(position))
      }
    }
    diff.deletes = places.values.sorted().map(old.place)
    var staying = [Bool](repeating: false, count: common.count)
    for place in common.map(\.then).placesOfLongestRise { staying[place] = true }
    for (index, pair) in common.enumerated() {
      let object = ObjectReference(entity: entity, row: after[pair.now].row)
      let step = ListDiff.Step(
        from: old.place(pair.then), to: place(pair.now),
        changed: changes.properties(of: object) ?? PropertySet())
      // A date may come from another object.
      let isNew =
        before[pair.then].word != after[pair.now].word
        && TimelineList.role(after[pair.now]) != .ongoing
      if !staying[index] || !isSameSection(old, step.from, step.to) {
        diff.moves.append(step)
      } else if isNew || !step.changed.isEmpty {
        diff.updates.append(step)
      } else if try showsOtherwise(object.row, than: old) {
        diff.updates.append(step)
      }
    }
    compareSections(old, &diff)
    return diff
  }

  /// Whether the rows of an object show something else than in another list: kind, dates, label or
  /// group by another definition, or dates of an object that it leads to.
  private func showsOtherwise(
    _ row: Int64, than old: TimelineList
  ) throws(QueryPlan.Failure) -> Bool {
    guard definition.label == old.definition.label, definition.group == old.definition.group
    else { return true }
    // A date of another object may have changed.
    if definition == old.definition, otherEntities.isEmpty { return false }
    return try QueryPlan.Failure.evaluating { () throws(ConditionFault) in
      try standing(of: row).0 != old.standing(of: row).0
    }
  }

  /// The diff that makes these rows of none.
  package var initialDiff: ListDiff {
    var diff = ListDiff()
    diff.inserts = (0..<count).map(place)
    diff.insertedSections = division == nil ? [0] : Array(sections.indices)
    return diff
  }
}
