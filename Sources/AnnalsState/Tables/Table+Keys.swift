import AnnalsFormat
import AnnalsModel

// The keys that rows have.

extension Table {
  /// Appends the key that a row has now, or the keys; nothing if it has none.
  func appendKey(
    _ row: Int64, of keys: IndexKeys, to bytes: inout ContiguousArray<UInt8>
  ) throws(StateFault) -> KeyPresence {
    guard row >= 1, row <= RowPosition.maximumRow else { return .none }
    let place = RowPosition(row)
    guard let group = groups.group(place.group), try keys.isOfRow(at: place, in: group) else {
      return .none
    }
    if keys.shape.isUnique { return try appendUniqueKey(at: place, in: group, keys, to: &bytes) }
    guard try group.isLive(place.offset) else { return .none }
    if keys.lengthOfMany != nil {
      let leaf = try group.leaf(place.leaf, column: keys.columns[0].place)
      return keys.appendReferenceKeys(row, leaf, place.slot, to: &bytes)
    }
    guard keys.isOrdered else {
      let leaves = try leaves(of: place, in: group, keys)
      return keys.appendKey(row, in: leaves, place.slot, to: &bytes)
    }
    // Each commit comes here: without an array of leaves.
    let start = bytes.count
    for column in keys.columns.indices {
      let leaf = try group.leaf(place.leaf, column: keys.columns[column].place)
      if keys.appendNumberKey(row, leaf, place.slot, to: &bytes) { return .key }
      if keys.appendElement(column, leaf, place.slot, from: start, to: &bytes) { break }
    }
    bytes.append(row: row)
    return .key
  }

  /// As `appendKey` for a unique index, without an array of leaves: each look-up comes here.
  private func appendUniqueKey(
    at place: RowPosition, in group: RowGroup, _ keys: IndexKeys,
    to bytes: inout ContiguousArray<UInt8>
  ) throws(StateFault) -> KeyPresence {
    let start = bytes.count
    for column in keys.columns.indices {
      var element = KeyElement.absent
      if let leaf = try group.leaf(place.leaf, column: keys.columns[column].place) {
        element = bytes.append(
          uniqueElement: leaf.cell(place.slot), in: leaf.arenaBytes,
          isDescending: keys.columns[column].isDescending)
      }
      if element != .whole {
        bytes.removeSubrange(start...)
        return element == .large ? .tooLarge : .none
      }
    }
    return .key
  }

  private func leaves(
    of place: RowPosition, in group: RowGroup, _ keys: IndexKeys
  ) throws(StateFault) -> ContiguousArray<Leaf?> {
    var leaves: ContiguousArray<Leaf?> = []
    leaves.reserveCapacity(keys.columns.count)
    for column in keys.columns {
      leaves.append(try group.leaf(place.leaf, column: column.place))
    }
    return leaves
  }

  /// The elements of a row's values, however long, and the row.
  func fullKey(
    _ row: Int64, of keys: IndexKeys
  ) throws(StateFault) -> ContiguousArray<UInt8> {
    let place = try place(row)
    guard let group = groups.group(place.group) else {
      throw invalid(row, "an index has no such row")
    }
    var key: ContiguousArray<UInt8> = []
    keys.appendFullKey(
      row, in: try leaves(of: place, in: group, keys), place.slot, to: &key)
    return key
  }

  /// The key of a row that an index has.
  func key(_ row: Int64, of keys: IndexKeys) throws(StateFault) -> ContiguousArray<UInt8> {
    var key: ContiguousArray<UInt8> = []
    guard try appendKey(row, of: keys, to: &key) == .key else {
      throw invalid(row, "an index has a row that has no key")
    }
    return key
  }
}
