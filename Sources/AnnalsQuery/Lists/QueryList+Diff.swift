import AnnalsModel
import AnnalsState

extension QueryList {
  /// The difference that these moves made in a list without a window. `before` is the list before
  /// them, if there are sections.
  mutating func diff(
    _ moves: ListMoves, from before: QueryList?
  ) throws(StateFault) -> ListDiff {
    var before = before
    var diff = ListDiff()
    func oldPlace(_ position: Int) -> ListDiff.Place {
      before?.place(of: position)
        ?? ListDiff.Place(position: position, section: 0, item: position)
    }
    for row in moves.out where !row.stays { diff.deletes.append(oldPlace(row.position)) }
    // The last row taken out that kept its place among staying rows: its keys changed, but no
    // staying row was passed.
    var last = -1
    for (index, row) in moves.into.enumerated() {
      guard row.stays else {
        diff.inserts.append(place(of: row.position))
        continue
      }
      let old = moves.out[Int(row.partner)]
      let was = old.position
      let step = ListDiff.Step(
        from: oldPlace(was), to: place(of: row.position), changed: moves.properties(row))
      if was - Int(row.partner) == row.position - index, was > last,
        try before?.sectionOutcome(old.entry, row.entry, in: order) ?? .equal == .equal
      {
        last = was
        if moves.isUpdate(row.index) { diff.updates.append(step) }
      } else {
        diff.moves.append(step)
      }
    }
    if !moves.updated.isEmpty {
      // Rows that stay keep the number of staying rows before them.
      let isSorted = diff.updates.isEmpty
      for row in moves.updated {
        let position = moves.leavesAll ? row.position : moves.newPosition(of: row.position)
        diff.updates.append(
          ListDiff.Step(
            from: oldPlace(row.position), to: place(of: position),
            changed: moves.properties(row)))
      }
      if !isSorted { diff.updates.sort { $0.to.position < $1.to.position } }
    }
    if let before { try compareSections(before, moves, &diff) }
    return diff
  }

  /// Finds the deleted and inserted sections.
  private mutating func compareSections(
    _ old: QueryList, _ moves: ListMoves, _ diff: inout ListDiff
  ) throws(StateFault) {
    var old = old
    var gone = old.whole(moves.out)[...]
    var came = whole(moves.into)[...]
    // Both in the order of their keys: a section in both was emptied and filled again.
    while let a = gone.first, let b = came.first {
      let outcome = try old.sectionOutcome(a.entry, b.entry, in: order)
      if outcome != .greater { gone.removeFirst() }
      if outcome != .less { came.removeFirst() }
      if outcome == .less { diff.deletedSections.append(a.section) }
      if outcome == .greater { diff.insertedSections.append(b.section) }
    }
    diff.deletedSections += gone.map(\.section)
    diff.insertedSections += came.map(\.section)
  }

  /// The sections of which all rows are among these, each with one of them.
  private func whole(
    _ rows: ContiguousArray<ListMoves.Row>
  ) -> [(section: Int, entry: ListEntry)] {
    var result: [(section: Int, entry: ListEntry)] = []
    var (section, start) = (-1, 0)
    for (index, row) in rows.enumerated() {
      let here = found.section(at: row.position)
      if here != section { (section, start) = (here, index) }
      if index + 1 - start == found.range(ofSection: section).count {
        result.append((section, row.entry))
      }
    }
    return result
  }
}
