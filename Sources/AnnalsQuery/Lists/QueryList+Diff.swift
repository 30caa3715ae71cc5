import AnnalsModel
import AnnalsState

extension QueryList {
  /// The difference of lists without a window; the rows are located in both.
  mutating func diff(
    from old: QueryList, _ rows: inout Rows
  ) throws(ConditionFault) -> ListDiff {
    var diff = ListDiff()
    pair(&rows)
    var kept = try keptInPlace(from: old, rows)[...]
    for moved in rows.out where !moved.stays { diff.deletes.append(moved.place) }
    for (index, moved) in rows.into.enumerated() {
      guard moved.stays else {
        diff.inserts.append(moved.place)
        continue
      }
      let step = ListDiff.Step(
        from: rows.out[moved.partner].place, to: moved.place, changed: moved.properties)
      if kept.first != index {
        diff.moves.append(step)
      } else {
        kept.removeFirst()
        if !moved.properties.isEmpty { diff.updates.append(step) }
      }
    }
    // Rows that stay keep the number of staying rows before them.
    if !rows.updated.isEmpty {
      let shift = Shift(rows)
      let isSorted = diff.updates.isEmpty
      for moved in rows.updated {
        diff.updates.append(
          ListDiff.Step(
            from: moved.place, to: place(of: shift.newPosition(of: moved.position)),
            changed: moved.properties))
      }
      if !isSorted { diff.updates.sort { $0.to.position < $1.to.position } }
    }
    if query.sections != nil { try compareSections(old, rows, &diff) }
    return diff
  }

  /// Pairs rows that are removed and inserted again.
  private func pair(_ rows: inout Rows) {
    guard rows.stayCount > 0 else { return }
    var out = ContiguousArray(repeating: 0, count: rows.stayCount)
    for index in rows.out.indices where rows.out[index].stays {
      out[rows.out[index].partner] = index
    }
    for index in rows.into.indices where rows.into[index].stays {
      let partner = out[rows.into[index].partner]
      rows.into[index].partner = partner
      rows.out[partner].partner = index
    }
  }

  /// The inserted rows that keep their place among staying rows, rising: their keys changed, but no
  /// staying row was passed.
  private mutating func keptInPlace(
    from old: QueryList, _ rows: Rows
  ) throws(ConditionFault) -> ContiguousArray<Int> {
    var kept: ContiguousArray<Int> = []
    var last = -1
    for (index, moved) in rows.into.enumerated() where moved.stays {
      let before = rows.out[moved.partner]
      guard before.position - moved.partner == moved.position - index, before.position > last
      else { continue }
      if query.sections != nil {
        var old = old
        guard try old.sectionOutcome(moved.row, moved.row, in: order) == .equal else { continue }
      }
      kept.append(index)
      last = before.position
    }
    return kept
  }

  /// Finds the deleted and inserted sections.
  private mutating func compareSections(
    _ old: QueryList, _ rows: Rows, _ diff: inout ListDiff
  ) throws(ConditionFault) {
    var old = old
    var gone = QueryList.whole(rows.out, in: old)[...]
    var came = QueryList.whole(rows.into, in: self)[...]
    // Both in the order of their keys: a section in both was emptied and filled again.
    while let a = gone.first, let b = came.first {
      let outcome = try old.sectionOutcome(a.row, b.row, in: order)
      if outcome != .greater { gone.removeFirst() }
      if outcome != .less { came.removeFirst() }
      if outcome == .less { diff.deletedSections.append(a.section) }
      if outcome == .greater { diff.insertedSections.append(b.section) }
    }
    diff.deletedSections += gone.map(\.section)
    diff.insertedSections += came.map(\.section)
  }

  /// The sections of which all rows are among these, each with one of them.
  private static func whole(
    _ rows: [Moved], in list: QueryList
  ) -> [(section: Int, row: Int64)] {
    var result: [(section: Int, row: Int64)] = []
    var start = 0
    for index in rows.indices {
      let section = rows[index].section
      if rows[start].section != section { start = index }
      if index + 1 - start == list.found.range(ofSection: section).count {
        result.append((section, rows[index].row))
      }
    }
    return result
  }
}

/// Maps old positions of staying rows to new ones.
private struct Shift {
  /// Positions taken out, rising, each less their number before it.
  private let out: [Int]
  private let into: [Int]

  init(_ rows: QueryList.Rows) {
    out = rows.out.map(\.position)
    into = rows.into.enumerated().map { $1.position - $0 }
  }

  func newPosition(of position: Int) -> Int {
    let stays = position - out.rank { $0 < position }
    return stays + into.rank { $0 <= stays }
  }
}
