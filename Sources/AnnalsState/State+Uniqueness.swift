import AnnalsFormat
import AnnalsModel

/// Two objects that may not both be, by a unique rule.
package struct UniqueViolation: Hashable, Sendable {
  package var entity: EntityNumber
  /// The number of the attribute or of the index that states the rule.
  package var rule: PropertyNumber
  /// The object whose values are taken.
  package var row: Int64
  /// The object that has them; nil if `row` has a value over 4 KiB, which cannot be unique.
  package var otherRow: Int64?

  package init(entity: EntityNumber, rule: PropertyNumber, row: Int64, otherRow: Int64?) {
    self.entity = entity
    self.rule = rule
    self.row = row
    self.otherRow = otherRow
  }
}

extension State {
  /// The row of the object that has these values for the properties of a unique rule, in the rule's
  /// order; nil if none has, if there is no such rule, or if a value is null.
  ///
  /// On a state whose changes were not yet checked, it first works on a copy that is. O(log n); in
  /// a past state whose rule the newest schema no longer has O(n), since there is no index of it.
  package func lookup(
    _ entity: EntityNumber, rule: PropertyNumber, key: [ValueCell],
    in arena: UnsafeRawBufferPointer
  ) throws(StateFault) -> Int64? {
    guard let table = findTable(entity) else { return nil }
    if table.place(ofIndex: rule) == nil {
      let shapes = schema.entity(numbered: entity)?.indexShapes
      guard let shape = shapes?.first(where: { $0.number == rule }) else { return nil }
      return try table.search(shape, key: key, in: arena)
    }
    return try currentTable(entity, rule: rule)?.lookup(rule: rule, key: key, in: arena)
  }

  /// Brings the unique indexes of an entity up to date, for good. Costs what the changes since the
  /// last time do: whoever looks up between changes calls it before each look-up, which would
  /// otherwise work on a copy of its own, and the next on another.
  package mutating func updateUniqueIndexes(of entity: EntityNumber) throws(StateFault) {
    guard let table = findTable(entity), table.isStale(.unique) else { return }
    try writableTable(entity, row: 0).updateIndexes(.unique)
  }

  /// Brings all indexes up to date, for good, as `updateUniqueIndexes` does with some.
  package mutating func updateIndexes() throws(StateFault) {
    for index in tables.indices where tables[index].isStale(.all) {
      try writableTable(at: index).updateIndexes(.all)
    }
  }

  /// The row of the object that has this value for a unique attribute; see `lookup`.
  package func lookup(
    _ entity: EntityNumber, rule: PropertyNumber, value: Value
  ) throws(StateFault) -> Int64? {
    var bytes: ContiguousArray<UInt8> = []
    let cell = ValueCell(value, appendingTo: &bytes)
    return try bytes.withBytes { arena throws(StateFault) in
      try lookup(entity, rule: rule, key: [cell], in: arena)
    }
  }

  /// Brings all indexes up to date and returns what breaks a unique rule now.
  ///
  /// To be called at the end of each transaction, after a replay and after a schema change, before
  /// the state is copied for readers. Cost: that of the changes since the last call.
  package mutating func checkUniqueness() throws(StateFault) -> [UniqueViolation] {
    var violations: [UniqueViolation] = []
    try updateIndexes()
    for table in tables {
      for place in table.indexes.indices {
        for conflict in table.indexes[place].unplaced {
          violations.append(
            UniqueViolation(
              entity: table.number, rule: table.indexes[place].shape.number, row: conflict.row,
              otherRow: conflict.holder == 0 ? nil : conflict.holder))
        }
      }
    }
    return violations
  }
}

extension Table {
  func lookup(
    rule: PropertyNumber, key: [ValueCell], in arena: UnsafeRawBufferPointer
  ) throws(StateFault) -> Int64? {
    guard let place = place(ofIndex: rule) else { return nil }
    let keys = indexes[place].keys
    guard let bytes = keys.uniqueKey(of: key, in: arena) else { return nil }
    let found = try bytes.withBytes { bytes throws(StateFault) in
      try indexes[place].tree.find(bytes)
    }
    guard let (row, isWhole) = found else { return nil }
    if isWhole { return row }
    return try self.key(row, of: keys) == bytes ? row : nil
  }
}

extension Table {
  /// As `lookup`, for a rule of which there is no index. O(n).
  fileprivate func search(
    _ shape: IndexShape, key: [ValueCell], in arena: UnsafeRawBufferPointer
  ) throws(StateFault) -> Int64? {
    guard let keys = IndexKeys(shape, placing: { position(of: $0) }),
      let wanted = keys.uniqueKey(of: key, in: arena)
    else { return nil }
    var rows = RowCursor(self)
    var found: ContiguousArray<UInt8> = []
    while let row = try rows.next() {
      found.removeAll(keepingCapacity: true)
      if try appendKey(row, of: keys, to: &found) == .key, found == wanted { return row }
    }
    return nil
  }
}

extension IndexKeys {
  /// The whole key of these values; nil if the index is not unique, or an object with them has no
  /// key in it.
  fileprivate func uniqueKey(
    of values: [ValueCell], in arena: UnsafeRawBufferPointer
  ) -> ContiguousArray<UInt8>? {
    guard shape.isUnique, columns.count == values.count else { return nil }
    var bytes: ContiguousArray<UInt8> = []
    for (cell, column) in zip(values, columns) {
      let element = bytes.append(
        uniqueElement: cell, in: arena, isDescending: column.isDescending)
      guard element == .whole else { return nil }
    }
    return bytes
  }
}
