import AnnalsModel
import AnnalsState

// Differences of whole lists: of windows, and after a change of the order itself.

extension QueryList {
  /// The difference of two windows of one query, between which only these rows may have moved.
  mutating func windowDiff(
    from old: QueryList, _ moves: ListMoves
  ) throws(StateFault) -> ListDiff {
    var changed: [Int64: PropertySet] = [:]
    for row in moves.updated + moves.into { changed[row.entry.row] = moves.properties(row) }
    let moving = Set(moves.into.lazy.map(\.entry.row))
    return try wholeDiff(
      from: old, sections: try commonSections(old), moving, changed: { changed[$0] })
  }

  /// The difference from a list of another query, of this state or another, between which these
  /// objects changed. O(n log n).
  package mutating func diff(
    fromOther old: QueryList, _ changes: ListChanges
  ) throws(StateFault) -> ListDiff {
    let entity = query.rows.entity
    var diff =
      old.query.rows.entity == entity
      ? try wholeDiff(
        from: old, sections: try equalSections(old),
        changed: { changes.properties(of: ObjectReference(entity: entity, row: $0)) })
      : try wholeDiff(from: old, sections: [], changed: { _ in nil })
    diff.entity = state.schema.entity(numbered: entity)
    return diff
  }

  /// The first difference: from no rows to all.
  package func initialDiff() -> ListDiff {
    var diff = ListDiff()
    diff.inserts = places()
    diff.insertedSections = query.sections == nil ? [0] : Array(0..<sectionCount)
    diff.entity = state.schema.entity(numbered: query.rows.entity)
    return diff
  }

  /// The places of all positions. O(n).
  private func places() -> [ListDiff.Place] {
    guard query.sections != nil else {
      return (0..<count).map { ListDiff.Place(position: $0, section: 0, item: $0) }
    }
    var result: [ListDiff.Place] = []
    result.reserveCapacity(count)
    for section in 0..<sectionCount {
      let range = range(ofSection: section)
      for position in range {
        result.append(
          ListDiff.Place(
            position: position, section: section, item: position - range.lowerBound))
      }
    }
    return result
  }

  /// `moving` are the objects whose rows may move; nil for all.
  private func wholeDiff(
    from old: QueryList, sections: [(old: Int, new: Int)], _ moving: Set<Int64>? = nil,
    changed: (Int64) -> PropertySet?
  ) throws(StateFault) -> ListDiff {
    var diff = ListDiff()
    let (oldRows, newRows) = (old.found.entries(in: old.window), found.entries(in: window))
    let (oldPlaces, newPlaces) = (old.places(), places())
    let isSameEntity = old.query.rows.entity == query.rows.entity
    var was: [UInt64: Int] = [:]
    was.reserveCapacity(oldRows.count)
    if isSameEntity {
      for (position, entry) in oldRows.enumerated() { was[entry.identity] = position }
    }
    var hasPartner = ContiguousArray(repeating: false, count: oldRows.count)
    /// The rows in both, by position in the new list.
    var common: [(old: Int, new: Int)] = []
    for (position, entry) in newRows.enumerated() {
      if let before = was[entry.identity] {
        hasPartner[before] = true
        common.append((before, position))
      } else {
        diff.inserts.append(newPlaces[position])
      }
    }
    for position in oldRows.indices where !hasPartner[position] {
      diff.deletes.append(oldPlaces[position])
    }
    let newSections = Dictionary(uniqueKeysWithValues: sections.map { ($0.old, $0.new) })
    let hasSections = query.sections != nil || old.query.sections != nil
    let stays = QueryList.staying(common) { pair in
      if let moving, !moving.contains(newRows[pair.new].row) { return .always }
      guard hasSections else { return .perhaps }
      return newSections[oldPlaces[pair.old].section] == newPlaces[pair.new].section
        ? .perhaps : .never
    }
    for (index, pair) in common.enumerated() {
      let row = newRows[pair.new].row
      let properties = changed(row) ?? PropertySet()
      let step = ListDiff.Step(
        from: oldPlaces[pair.old], to: newPlaces[pair.new], changed: properties)
      if !stays[index] {
        diff.moves.append(step)
      } else if !properties.isEmpty {
        diff.updates.append(step)
      } else if try showsOtherwise(row, than: old) {
        diff.updates.append(step)
      }
    }
    if hasSections {
      // A list without sections is one section of its own.
      let oldCount = old.query.sections == nil ? 1 : old.sectionCount
      let newCount = query.sections == nil ? 1 : sectionCount
      let (kept, made) = (Set(sections.map(\.old)), Set(sections.map(\.new)))
      diff.deletedSections = (0..<oldCount).filter { !kept.contains($0) }
      diff.insertedSections = (0..<newCount).filter { !made.contains($0) }
    }
    return diff
  }

  private enum Staying { case always, perhaps, never }

  /// Which of the pairs, by rising new positions, do not move: those that may not, and as many
  /// others as possible, so that old positions rise too. O(n log n).
  private static func staying(
    _ pairs: [(old: Int, new: Int)], _ staying: ((old: Int, new: Int)) -> Staying
  ) -> ContiguousArray<Bool> {
    var result = ContiguousArray(repeating: false, count: pairs.count)
    let kinds = pairs.map(staying)
    // A pair between two staying ones must lie between them in the old list too.
    var segment: [Int] = []
    var low = -1
    func close(_ high: Int, _ segment: [Int]) {
      let inside = segment.filter { pairs[$0].old > low && pairs[$0].old < high }
      let rising = inside.map { pairs[$0].old }.placesOfLongestRise
      for place in rising { result[inside[place]] = true }
    }
    for index in pairs.indices {
      switch kinds[index] {
      case .never: break
      case .perhaps: segment.append(index)
      case .always:
        close(pairs[index].old, segment)
        segment = []
        result[index] = true
        low = pairs[index].old
      }
    }
    close(.max, segment)
    return result
  }

  /// The sections that are in both lists of one query.
  private mutating func commonSections(
    _ old: QueryList
  ) throws(StateFault) -> [(old: Int, new: Int)] {
    guard query.sections != nil else { return [] }
    var old = old
    var result: [(old: Int, new: Int)] = []
    var (a, b) = (0, 0)
    while a < old.sectionCount, b < sectionCount {
      let entry = entry(at: range(ofSection: b).lowerBound)
      let before = old.entry(at: old.range(ofSection: a).lowerBound)
      let outcome = try old.sectionOutcome(before, entry, in: order)
      if outcome == .equal { result.append((a, b)) }
      if outcome != .greater { a += 1 }
      if outcome != .less { b += 1 }
    }
    return result
  }

  /// The sections with equal keys that need not pass each other.
  private mutating func equalSections(
    _ old: QueryList
  ) throws(StateFault) -> [(old: Int, new: Int)] {
    guard let rule = query.sections, rule == old.query.sections,
      query.rows.keys.first?.path == old.query.rows.keys.first?.path
    else { return [] }
    var old = old
    var was: [SectionKey: Int] = [:]
    for section in 0..<old.sectionCount { was[try old.key(ofSection: section)] = section }
    var pairs: [(old: Int, new: Int)] = []
    for section in 0..<sectionCount {
      if let before = was[try key(ofSection: section)] { pairs.append((before, section)) }
    }
    return pairs.map(\.old).placesOfLongestRise.map { pairs[$0] }
  }
}
