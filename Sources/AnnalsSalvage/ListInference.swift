import AnnalsModel
import AnnalsState

/// Reconstructs a to-many list behind a gap, of which only later edits are known.
///
/// Each edit says which references were at some positions. If a later transaction holds the whole
/// list, undoing the edits proves the one sought. Otherwise the list from before the gap is used if
/// the edits fit it. Otherwise a list is made up that the edits fit: with the references that they
/// name, and in the other positions those of the old list, or references to no object.
struct ListInference {
  private var steps: [(removed: [ListEdit], inserted: [ListEdit])] = []
  private var whole: [ObjectReference]?

  /// Adds the next edits.
  mutating func add(_ property: PropertyChange, in arena: UnsafeRawBufferPointer) {
    steps.append(
      (
        ListEdit.list(in: property.before.bytes(in: arena)),
        ListEdit.list(in: property.after.bytes(in: arena))
      ))
  }

  /// Sets the whole list after all edits.
  mutating func end(with cell: ValueCell, in arena: UnsafeRawBufferPointer) {
    if case .objects(let list) = cell.value(in: arena) { whole = list } else { whole = [] }
  }

  /// Records that the list was empty after all edits.
  mutating func endEmpty() { whole = [] }

  /// The list before all edits, and whether a later whole list proves it. `old` is the list before
  /// the gap, `destination` the relationship's entity. Nil if more than `limit` references would
  /// have to be made up.
  func list(
    old: [ObjectReference], destination: EntityNumber, limit: Int
  ) -> (references: [ObjectReference], isProven: Bool)? {
    if var list = whole {
      var fits = true
      for step in steps.reversed() {
        guard let before = ListInference.apply(step.inserted, step.removed, to: list) else {
          fits = false
          break
        }
        list = before
      }
      if fits { return (list, true) }
    }
    var list: [ObjectReference]? = old
    for step in steps {
      list = list.flatMap { ListInference.apply(step.removed, step.inserted, to: $0) }
    }
    if list != nil { return (old, false) }
    return madeUp(old: old, destination: destination, limit: limit).map { ($0, false) }
  }

  private static func apply(
    _ removed: [ListEdit], _ inserted: [ListEdit], to list: [ObjectReference]
  ) -> [ObjectReference]? {
    var result = list
    for edit in removed.reversed() {
      let place = Int(edit.position)
      guard place < result.count, result[place] == edit.reference else { return nil }
      result.remove(at: place)
    }
    for edit in inserted {
      guard edit.position <= result.count else { return nil }
      result.insert(edit.reference, at: Int(edit.position))
    }
    return result
  }

  private func madeUp(
    old: [ObjectReference], destination: EntityNumber, limit: Int
  ) -> [ObjectReference]? {
    // For each place: an index in the list sought, or nil for a reference that an edit inserted.
    var places: [Int?] = []
    var found: [Int: ObjectReference] = [:]
    var count = 0
    func extend(to length: Int) {
      while places.count < length {
        places.append(count)
        count += 1
      }
    }
    for step in steps {
      let end = Int(max(step.removed.last?.position ?? 0, step.inserted.last?.position ?? 0))
      guard end <= limit else { return nil }
      if let last = step.removed.last { extend(to: Int(last.position) + 1) }
      for edit in step.removed.reversed() {
        if let place = places.remove(at: Int(edit.position)) { found[place] = edit.reference }
      }
      for edit in step.inserted {
        extend(to: Int(edit.position))
        places.insert(nil, at: Int(edit.position))
      }
    }
    let taken = Set(found.values)
    var spare = old.filter { !taken.contains($0) }.makeIterator()
    var nobody = Int64(1) << 40
    return (0..<count).map { place in
      if let reference = found[place] ?? spare.next() { return reference }
      nobody -= 1
      return ObjectReference(entity: destination, row: nobody)
    }
  }
}
