import AnnalsFormat
import AnnalsModel

// A change of a to-many list is recorded as two edit lists: the references removed, with their
// positions in the old list, and those inserted, with their positions in the new list. Both rise by
// position, so that applying either way walks the list once.

/// The list that results from removing and inserting references; nil if the edits do not fit it:
/// a position outside, out of order, or another reference where one is removed.
func applyEdits(
  to list: UnsafeRawBufferPointer, removing removals: UnsafeRawBufferPointer,
  inserting insertions: UnsafeRawBufferPointer
) -> ContiguousArray<UInt8>? {
  let width = ObjectReference.byteCount
  let editWidth = PropertyChange.editByteCount
  let oldCount = list.count / width
  let removed = removals.count / editWidth
  let inserted = insertions.count / editWidth
  guard removed <= oldCount else { return nil }
  let newCount = oldCount - removed + inserted
  var result: ContiguousArray<UInt8> = []
  result.reserveCapacity(newCount * width)
  var old = 0
  var removal = 0
  var insertion = 0
  for position in 0..<newCount {
    if insertion < inserted {
      let edit = ListEdit(bytes: insertions, at: insertion * editWidth)
      if Int(edit.position) == position {
        edit.reference.append(to: &result)
        insertion += 1
        continue
      }
    }
    while removal < removed {
      let edit = ListEdit(bytes: removals, at: removal * editWidth)
      guard Int(edit.position) == old else { break }
      guard old < oldCount, ObjectReference(bytes: list, at: old * width) == edit.reference else {
        return nil
      }
      old += 1
      removal += 1
    }
    guard old < oldCount else { return nil }
    result.append(contentsOf: list[old * width..<(old + 1) * width])
    old += 1
  }
  while removal < removed {
    let edit = ListEdit(bytes: removals, at: removal * editWidth)
    guard Int(edit.position) == old, old < oldCount,
      ObjectReference(bytes: list, at: old * width) == edit.reference
    else { return nil }
    old += 1
    removal += 1
  }
  return old == oldCount && insertion == inserted ? result : nil
}

/// Appends to `arena` the removals, then the insertions, that turn one list into the other, and
/// returns their counts: as few as can be where no reference occurs twice in a list.
///
/// Cost: O(n log n) in the length of the part that differs.
func appendEdits(
  from old: [ObjectReference], to new: [ObjectReference],
  arena: inout ContiguousArray<UInt8>
) -> (removals: Int, insertions: Int) {
  var prefix = 0
  while prefix < old.count, prefix < new.count, old[prefix] == new[prefix] { prefix += 1 }
  var oldEnd = old.count
  var newEnd = new.count
  while oldEnd > prefix, newEnd > prefix, old[oldEnd - 1] == new[newEnd - 1] {
    oldEnd -= 1
    newEnd -= 1
  }
  let kept = longestKept(old[prefix..<oldEnd], new[prefix..<newEnd])
  var removals = 0
  var next = 0
  for position in prefix..<oldEnd {
    if next < kept.count, kept[next].old == position {
      next += 1
    } else {
      ListEdit.append(position: position, reference: old[position], to: &arena)
      removals += 1
    }
  }
  var insertions = 0
  next = 0
  for position in prefix..<newEnd {
    if next < kept.count, kept[next].new == position {
      next += 1
    } else {
      ListEdit.append(position: position, reference: new[position], to: &arena)
      insertions += 1
    }
  }
  return (removals, insertions)
}

/// The longest common run of two lists in which the nth occurrence of a reference matches the nth:
/// the longest rising sequence of the old positions of what is in both.
private func longestKept(
  _ old: ArraySlice<ObjectReference>, _ new: ArraySlice<ObjectReference>
) -> [(old: Int, new: Int)] {
  guard !old.isEmpty, !new.isEmpty else { return [] }
  var places: [ObjectReference: [Int]] = [:]
  for position in old.indices.reversed() { places[old[position], default: []].append(position) }
  var pairs: [(old: Int, new: Int)] = []
  for position in new.indices {
    if let match = places[new[position]]?.popLast() { pairs.append((match, position)) }
  }
  return pairs.map(\.old).placesOfLongestRise.map { pairs[$0] }
}

extension Table {
  /// Applies a change of a to-many list.
  func edit(
    _ row: Int64, place: RowPosition, group: RowGroup, column: Int, removing: ValueCell,
    inserting: ValueCell, in arena: UnsafeRawBufferPointer
  ) throws(StateFault) {
    guard columns[column].kind == .objects else { throw invalid(row, "edits of a single value") }
    let current = try locate(row, column: column)
    guard current.cell.tag != .erased else { throw invalid(row, "edits of an erased list") }
    let list = UnsafeRawBufferPointer(rebasing: current.arena[current.cell.arenaRange])
    let edited = applyEdits(
      to: list, removing: UnsafeRawBufferPointer(rebasing: arena[removing.arenaRange]),
      inserting: UnsafeRawBufferPointer(rebasing: arena[inserting.arenaRange]))
    current.keepAlive()
    guard let edited else { throw invalid(row, "edits that do not fit the list") }
    try edited.withBytes { bytes throws(StateFault) in
      let cell =
        bytes.isEmpty
        ? ValueCell.null : ValueCell(tag: .objects, bits: 0, length: UInt32(bytes.count))
      try put(cell, in: bytes, row: row, place: place, group: group, column: column)
    }
  }
}
