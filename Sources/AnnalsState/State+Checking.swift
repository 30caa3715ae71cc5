import AnnalsFormat
import AnnalsModel

// Checks for `verify` and tests: whether a state keeps its invariants, and where two states differ.

/// Where two states that should be equal differ.
package enum StateMismatch: Hashable, Sendable {
  /// An object exists in only one of them.
  case object(entity: EntityNumber, row: Int64, isInFirst: Bool)
  /// A value differs.
  case value(entity: EntityNumber, row: Int64, property: PropertyNumber)
}

extension State {
  /// What is wrong with the state in itself, in words: with its rows, with values that do not fit
  /// their properties, and with indexes that do not hold exactly what the columns say. Reads all
  /// chunks.
  package func invariantViolations() throws(StateFault) -> [String] {
    var result: [String] = []
    var copy = self
    _ = try copy.checkUniqueness()
    for table in copy.tables {
      try table.checkGroups(&result)
      try table.checkValues(&result)
      for index in table.indexes { try table.check(index, &result) }
    }
    return result
  }

  /// The first difference between two states, by entity, row and property; nil if they hold the
  /// same objects with the same values. Reads the chunks of both, and keeps none but what says
  /// which rows live.
  ///
  /// Rows never given, and properties that one of them does not know and the other has no values
  /// of, make no difference. Large values of one file are compared by their numbers, those of two
  /// by kind, length and crc32.
  package static func firstDifference(
    _ a: State, _ b: State, areOfOneFile: Bool = true
  ) throws(StateFault) -> StateMismatch? {
    let entities = Set(a.tables.map(\.number)).union(b.tables.map(\.number)).sorted()
    for entity in entities {
      let difference = try firstDifference(
        entity, a.findTable(entity), b.findTable(entity), areOfOneFile: areOfOneFile)
      if let difference { return difference }
    }
    return nil
  }

  private static func firstDifference(
    _ entity: EntityNumber, _ a: Table?, _ b: Table?, areOfOneFile: Bool
  ) throws(StateFault) -> StateMismatch? {
    var rowsA = RowCursor(a)
    var rowsB = RowCursor(b)
    var columns: [(property: PropertyNumber, a: Int?, b: Int?)] = []
    let properties = Set((a?.columns ?? []).map(\.property))
      .union((b?.columns ?? []).map(\.property)).sorted()
    for property in properties {
      columns.append((property, a?.position(of: property), b?.position(of: property)))
    }
    var group = -1
    var (groupA, groupB) = (a, b)
    while true {
      let rowA = try rowsA.next()
      let rowB = try rowsB.next()
      if rowA != rowB {
        let isInFirst = (rowA ?? .max) < (rowB ?? .max)
        let row = min(rowA ?? .max, rowB ?? .max)
        return .object(entity: entity, row: row, isInFirst: isInFirst)
      }
      guard let row = rowA else { return nil }
      if RowPosition(row).group != group {
        group = RowPosition(row).group
        (groupA, groupB) = Table.passing(a, b, group: group)
      }
      for (property, columnA, columnB) in columns {
        let foundA = try locate(groupA, row, column: columnA)
        let foundB = try locate(groupB, row, column: columnB)
        if let owner = foundA.owner, owner === foundB.owner { continue }
        let isEqual =
          ValueCell.areEqual(foundA.cell, in: foundA.arena, foundB.cell, in: foundB.arena)
          || !areOfOneFile && foundA.cell.isLarge && foundB.cell.isLarge
            && foundA.cell.value(in: foundA.arena) == foundB.cell.value(in: foundB.arena)
        foundA.keepAlive()
        foundB.keepAlive()
        if !isEqual { return .value(entity: entity, row: row, property: property) }
      }
    }
  }

  private static func locate(
    _ table: Table?, _ row: Int64, column: Int?
  ) throws(StateFault) -> LocatedCell {
    guard let table, let column else { return .null }
    return try table.locate(row, column: column)
  }
}

extension Table {
  /// Counts, and values of rows that do not live.
  fileprivate func checkGroups(_ result: inout [String]) throws(StateFault) {
    var count = 0
    var lastRow: Int64 = 0
    var next = groups.nextIndex(from: 0)
    while let index = next {
      next = groups.nextIndex(from: index + 1)
      guard let group = groups.group(index) else { continue }
      let live = try group.liveWords()
      let first = RowPosition.firstRow(ofGroup: index)
      let found = live.reduce(0) { $0 + $1.nonzeroBitCount }
      if found != group.liveCount {
        result.append(
          "entity \(number): \(found) objects from row \(first), not \(group.liveCount)")
      }
      count += found
      if let word = live.lastIndex(where: { $0 != 0 }) {
        lastRow = first + Int64(word * 64 + 63 - live[word].leadingZeroBitCount)
      }
      for column in columns.indices {
        for (place, leaf) in try group.leaves(column: column).enumerated() {
          guard let leaf else { continue }
          // In front of a stored leaf one may be empty.
          leaf.check(
            "entity \(number), property \(columns[column].property)",
            mayBeEmpty: group.isWritten(place, column: column) && group.storedColumn(column) != nil,
            &result)
          for word in 0..<Leaf.bitWords {
            let alive = live.isEmpty ? 0 : live[place * Leaf.bitWords + word]
            if leaf.words[word] & ~alive != 0 {
              result.append(
                "entity \(number): a value of property \(columns[column].property) without its "
                  + "object, from row \(first + Int64(place * 256 + word * 64))")
            }
          }
        }
      }
    }
    if count != liveCount { result.append("entity \(number): \(count) objects, not \(liveCount)") }
    if lastRow >= nextRow { result.append("entity \(number): row \(lastRow) was not given yet") }
  }

  /// That each value's kind is one that its property admits.
  fileprivate func checkValues(_ result: inout [String]) throws(StateFault) {
    var cursor = RowCursor(self)
    while let row = try cursor.next() {
      for column in columns.indices {
        let tag = try locate(row, column: column).cell.tag
        if tag != .null, !columns[column].kind.admits(tag) {
          result.append(
            "entity \(number), row \(row): property \(columns[column].property) is a \(tag)")
        }
      }
    }
  }
}

extension Leaf {
  /// Checks the leaf's own rules.
  fileprivate func check(_ name: String, mayBeEmpty: Bool, _ result: inout [String]) {
    let bits = (0..<Leaf.bitWords).reduce(0) { $0 + words[$1].nonzeroBitCount }
    let present = head.pointee.present
    if bits != present { result.append("\(name): \(bits) values, not \(present)") }
    if bits == 0, !mayBeEmpty { result.append("\(name): a leaf without values") }
    for slot in head.pointee.rows..<Leaf.rowCount where isPresent(slot) {
      result.append("\(name): a value after the last row")
      return
    }
    guard head.pointee.storage == .bytes else { return }
    var previous: UInt32 = 0
    var garbage = 0
    for slot in 0..<head.pointee.rows {
      if ends[slot] < previous { result.append("\(name): ends that fall") }
      if !isPresent(slot) { garbage += Int(ends[slot]) - Int(previous) }
      previous = ends[slot]
    }
    if Int(previous) != head.pointee.arenaCount || garbage != head.pointee.garbage {
      result.append("\(name): bytes that belong to no value")
    }
  }
}
