import AnnalsFormat
import AnnalsModel

// The keys that rows have.

/// What a row has of an index's key.
enum KeyPresence {
  case key
  /// The row takes no part in the index: it does not live or, in a unique one, a value is missing.
  case none
  /// A value of a unique index is kept as a large one, whose bytes the state does not have.
  case tooLarge
}

extension TableIndex {
  /// Appends the key of a row that lives, whose values are in a slot of these leaves, one for each
  /// column; nothing if it has none.
  @inline(__always)
  func appendKey(
    _ row: Int64, in leaves: ContiguousArray<Leaf?>, _ slot: Int,
    to bytes: inout ContiguousArray<UInt8>
  ) -> KeyPresence {
    if shape.isUnique { return appendUniqueKey(in: leaves, slot, to: &bytes) }
    if shape.isBox { return appendBoxKey(row, in: leaves, slot, to: &bytes) }
    appendOrderedKey(row, in: leaves, slot, to: &bytes)
    return .key
  }

  @inline(__always)
  private func appendUniqueKey(
    in leaves: ContiguousArray<Leaf?>, _ slot: Int, to bytes: inout ContiguousArray<UInt8>
  ) -> KeyPresence {
    let start = bytes.count
    for index in columns.indices {
      var element = KeyElement.absent
      if let leaf = leaves[index] {
        element = bytes.append(
          uniqueElement: leaf.cell(slot), in: leaf.arenaBytes,
          isDescending: columns[index].isDescending)
      }
      if element != .whole {
        bytes.removeSubrange(start...)
        return element == .large ? .tooLarge : .none
      }
    }
    return .key
  }

  private func appendOrderedKey(
    _ row: Int64, in leaves: ContiguousArray<Leaf?>, _ slot: Int,
    to bytes: inout ContiguousArray<UInt8>
  ) {
    let start = bytes.count
    for index in columns.indices {
      var element = KeyElement.absent
      if let leaf = leaves[index] {
        element = bytes.append(
          element: leaf.cell(slot), in: leaf.arenaBytes, isDescending: columns[index].isDescending,
          limit: KeyBytes.textLimit)
      }
      if element == .absent {
        bytes.append(contentsOf: columns[index].null)
        if columns[index].isNullCut { element = .cut }
      } else if element == .large {
        bytes.removeSubrange(start...)
        bytes.append(KeyBytes.unordered)
        break
      }
      if element == .cut || bytes.count - start >= KeyBytes.lengthLimit { break }
    }
    bytes.append(row: row)
  }

  /// Whether a key of an ordered index, without its row, says less than the values do.
  func isCut(_ key: ArraySlice<UInt8>) -> Bool {
    // Nothing shorter is.
    guard key.count > KeyBytes.textLimit else { return false }
    var place = key.startIndex
    for index in columns.indices {
      if place - key.startIndex >= KeyBytes.lengthLimit { return true }
      guard place < key.endIndex else { return false }
      let isDescending = columns[index].isDescending
      let kind = isDescending ? KeyBytes.descending &- key[place] : key[place]
      place += 1
      switch ValueTag(rawValue: kind) {
      case .bool: place += 1
      case .int, .date, .double: place += 8
      case .uuid: place += 16
      case .object: place += 12
      case .string, .url, .data, .json:
        let (zero, cut) = isDescending ? (255, 254) : (0, 1) as (UInt8, UInt8)
        while place + 1 < key.endIndex {
          if key[place] != zero {
            place += 1
            continue
          }
          place += 2
          if key[place - 1] == cut { return true }
          if key[place - 1] == zero { break }
        }
      case .objects, .null, .erased, nil: break
      }
    }
    return false
  }

  /// Appends the elements of a row's values, however long, and the row: bytes whose order is that
  /// of objects whose keys are equal and cut.
  func appendFullKey(
    _ row: Int64, in leaves: ContiguousArray<Leaf?>, _ slot: Int,
    to bytes: inout ContiguousArray<UInt8>
  ) {
    for index in columns.indices {
      var element = KeyElement.absent
      if let leaf = leaves[index] {
        element = bytes.append(
          element: leaf.cell(slot), in: leaf.arenaBytes, isDescending: columns[index].isDescending)
      }
      if element != .whole { bytes.append(contentsOf: columns[index].fullNull) }
    }
    bytes.append(row: row)
  }
}

extension TableIndex {
  /// The key that objects with these values for the first columns have, or its beginning, and
  /// whether it says less than the values do, which it may if `isLimited`.
  func key(of values: [Value], isLimited: Bool) -> (bytes: ContiguousArray<UInt8>, isCut: Bool) {
    var bytes: ContiguousArray<UInt8> = []
    for (index, value) in values.prefix(columns.count).enumerated() {
      if isLimited, !shape.isUnique, bytes.count >= KeyBytes.lengthLimit { return (bytes, true) }
      let element = bytes.append(
        element: value, isDescending: columns[index].isDescending,
        limit: isLimited && !shape.isUnique ? KeyBytes.textLimit : .max)
      switch element {
      case .whole: break
      case .cut: return (bytes, true)
      case .absent, .large:
        bytes.append(contentsOf: isLimited ? columns[index].null : columns[index].fullNull)
        if isLimited, columns[index].isNullCut { return (bytes, true) }
      }
    }
    return (bytes, false)
  }
}

extension Table {
  /// Appends the key that a row has now; nothing if it has none.
  func appendKey(
    _ row: Int64, of index: TableIndex, to bytes: inout ContiguousArray<UInt8>
  ) throws(StateFault) -> KeyPresence {
    guard row >= 1, row <= RowPosition.maximumRow else { return .none }
    let place = RowPosition(row)
    guard let group = groups.group(place.group), try index.isOfRow(at: place, in: group) else {
      return .none
    }
    if index.shape.isUnique { return try appendUniqueKey(at: place, in: group, index, to: &bytes) }
    guard try group.isLive(place.offset) else { return .none }
    let leaves = try leaves(of: place, in: group, index)
    return index.appendKey(row, in: leaves, place.slot, to: &bytes)
  }

  /// As `appendKey` for a unique index, without an array of leaves: each look-up comes here.
  private func appendUniqueKey(
    at place: RowPosition, in group: RowGroup, _ index: TableIndex,
    to bytes: inout ContiguousArray<UInt8>
  ) throws(StateFault) -> KeyPresence {
    let start = bytes.count
    for column in index.columns.indices {
      var element = KeyElement.absent
      if let leaf = try group.leaf(place.leaf, column: index.columns[column].place) {
        element = bytes.append(
          uniqueElement: leaf.cell(place.slot), in: leaf.arenaBytes,
          isDescending: index.columns[column].isDescending)
      }
      if element != .whole {
        bytes.removeSubrange(start...)
        return element == .large ? .tooLarge : .none
      }
    }
    return .key
  }

  private func leaves(
    of place: RowPosition, in group: RowGroup, _ index: TableIndex
  ) throws(StateFault) -> ContiguousArray<Leaf?> {
    var leaves: ContiguousArray<Leaf?> = []
    leaves.reserveCapacity(index.columns.count)
    for column in index.columns {
      leaves.append(try group.leaf(place.leaf, column: column.place))
    }
    return leaves
  }

  /// The elements of a row's values, however long, and the row.
  func fullKey(
    _ row: Int64, of index: TableIndex
  ) throws(StateFault) -> ContiguousArray<UInt8> {
    let place = try place(row)
    guard let group = groups.group(place.group) else {
      throw invalid(row, "an index has no such row")
    }
    var key: ContiguousArray<UInt8> = []
    index.appendFullKey(
      row, in: try leaves(of: place, in: group, index), place.slot, to: &key)
    return key
  }

  /// The key of a row that an index has.
  func key(_ row: Int64, of index: TableIndex) throws(StateFault) -> ContiguousArray<UInt8> {
    var key: ContiguousArray<UInt8> = []
    guard try appendKey(row, of: index, to: &key) == .key else {
      throw invalid(row, "an index has a row that has no key")
    }
    return key
  }
}
