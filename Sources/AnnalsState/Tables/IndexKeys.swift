import AnnalsFormat
import AnnalsModel

/// What the keys of an index are made of: columns, and tests that say which rows have one.
final class IndexKeys: Sendable {
  let shape: IndexShape
  /// Whether the keys are in the order of their values.
  let isOrdered: Bool
  /// The columns of the key.
  let columns: ContiguousArray<KeyColumn>
  /// The tests that a row must pass to have a key.
  let tests: ContiguousArray<RowTest>

  /// `place` gives each column's position; nil if there is no column, or not one of them.
  init?(_ shape: IndexShape, placing place: (PropertyNumber) -> Int?) {
    self.shape = shape
    isOrdered = shape.kind.givesOrder
    lengthOfMany = shape.kind == .references ? IndexKeys.referenceLength : nil
    columns = ContiguousArray(
      shape.columns.compactMap { column in
        place(column.property).map { KeyColumn(column, place: $0) }
      })
    tests = ContiguousArray(
      shape.tests.compactMap { test in place(test.property).map { RowTest(test, place: $0) } })
    guard !columns.isEmpty, columns.count == shape.columns.count, tests.count == shape.tests.count
    else { return nil }
  }

  /// How long each key is if a row may have several, all equally long; nil if it has at most one.
  let lengthOfMany: Int?

  /// The columns that say whether a row has a key, and which.
  var places: [Int] { columns.map(\.place) + tests.map(\.place) }

  /// Whether a row's key depends on this column.
  func uses(_ column: Int) -> Bool {
    columns.contains { $0.place == column } || tests.contains { $0.place == column }
  }
}

/// What a row has of an index's key.
enum KeyPresence {
  case key
  /// The row takes no part in the index: it does not live or, in a unique one, a value is missing.
  case none
  /// A value of a unique index is kept as a large one, whose bytes the state does not have.
  case tooLarge
}

extension IndexKeys {
  /// Appends the key of a row that lives, whose values are in a slot of these leaves, one for each
  /// column; nothing if it has none.
  @inline(__always)
  func appendKey(
    _ row: Int64, in leaves: ContiguousArray<Leaf?>, _ slot: Int,
    to bytes: inout ContiguousArray<UInt8>
  ) -> KeyPresence {
    if shape.isUnique { return appendUniqueKey(in: leaves, slot, to: &bytes) }
    switch shape.kind {
    case .ordered:
      appendOrderedKey(row, in: leaves, slot, to: &bytes)
      return .key
    case .box: return appendBoxKey(row, in: leaves, slot, to: &bytes)
    case .references: return appendReferenceKeys(row, leaves[0], slot, to: &bytes)
    }
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
    if appendNumberKey(row, leaves[0], slot, to: &bytes) { return }
    let start = bytes.count
    for index in columns.indices {
      if appendElement(index, leaves[index], slot, from: start, to: &bytes) { break }
    }
    bytes.append(row: row)
  }

  /// Appends the key of an ordered index of one column if the row's value is a number or a date;
  /// returns whether it is. The bytes are those of `appendElement` and the row.
  @inline(__always)
  func appendNumberKey(
    _ row: Int64, _ leaf: Leaf?, _ slot: Int, to bytes: inout ContiguousArray<UInt8>
  ) -> Bool {
    guard columns.count == 1, let leaf else { return false }
    let cell = leaf.cell(slot)
    // A day's element is a byte longer.
    guard !cell.isLarge, cell.tag != .day, let number = cell.orderedBits else { return false }
    bytes.append(numberKey: number, cell.tag, columns[0].isDescending, row: row)
    return true
  }

  /// Appends one column's element to the key of an ordered index that begins at `start`. Returns
  /// whether it is the last.
  @inline(__always)
  func appendElement(
    _ index: Int, _ leaf: Leaf?, _ slot: Int, from start: Int,
    to bytes: inout ContiguousArray<UInt8>
  ) -> Bool {
    var element = KeyElement.absent
    if let leaf {
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
      return true
    }
    return element == .cut || bytes.count - start >= KeyBytes.lengthLimit
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
      case .objects:
        // A decimal or a day: none of a decimal's bytes, nor the first one of a day, tells as the
        // end does.
        let end: UInt8 = isDescending ? 255 : 0
        guard place < key.endIndex else { return false }
        if key[place] == end {
          place += 9
        } else {
          while place < key.endIndex, key[place] != end { place += 1 }
          place += 1
        }
      case .decimal, .day, .null, .erased, nil: break
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
      if element != .whole { bytes.append(contentsOf: columns[index].uncutNull) }
    }
    bytes.append(row: row)
  }
}

extension IndexKeys {
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
        bytes.append(contentsOf: isLimited ? columns[index].null : columns[index].uncutNull)
        if isLimited, columns[index].isNullCut { return (bytes, true) }
      }
    }
    return (bytes, false)
  }
}
