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
}

extension State {
  /// The row of the object that has these values for the properties of a unique rule, in the rule's
  /// order; nil if none has, if there is no such rule, or if a value is null.
  ///
  /// On a state whose changes were not yet checked, it first works on a copy that is.
  package func lookup(
    _ entity: EntityNumber, rule: PropertyNumber, key: [ValueCell],
    in arena: UnsafeRawBufferPointer
  ) throws(StateFault) -> Int64? {
    guard let table = findTable(entity) else { return nil }
    if table.isBehind {
      var copy = self
      return try copy.updatingLookup(entity, rule: rule, key: key, in: arena)
    }
    return try table.lookup(rule: rule, key: key, in: arena)
  }

  /// As `lookup`, bringing the indexes up to date first if they are behind, for good.
  package mutating func updatingLookup(
    _ entity: EntityNumber, rule: PropertyNumber, key: [ValueCell],
    in arena: UnsafeRawBufferPointer
  ) throws(StateFault) -> Int64? {
    guard let table = findTable(entity) else { return nil }
    if table.isBehind { try writableTable(entity, row: 0).updateIndexes() }
    return try findTable(entity)?.lookup(rule: rule, key: key, in: arena)
  }

  /// The row of the object that has this value for a unique attribute; see `lookup`.
  package func lookup(
    _ entity: EntityNumber, rule: PropertyNumber, value: Value
  ) throws(StateFault) -> Int64? {
    var bytes: ContiguousArray<UInt8> = []
    let cell = ValueCell(value, appendingTo: &bytes)
    let result = bytes.withUnsafeBytes { arena in
      Result { () throws(StateFault) in
        try lookup(entity, rule: rule, key: [cell], in: arena)
      }
    }
    return try result.get()
  }

  /// Brings all indexes up to date and returns what breaks a unique rule now.
  ///
  /// To be called at the end of each transaction, after a replay and after a schema change, before
  /// the state is copied for readers. Cost: that of the changes since the last call.
  package mutating func checkUniqueness() throws(StateFault) -> [UniqueViolation] {
    var violations: [UniqueViolation] = []
    for index in tables.indices {
      if tables[index].isBehind {
        try writableTable(tables[index].number, row: 0).updateIndexes()
      }
      for unique in tables[index].indexes {
        for conflict in unique.unplaced {
          violations.append(
            UniqueViolation(
              entity: tables[index].number, rule: unique.rule.number, row: conflict.row,
              otherRow: conflict.holder == 0 ? nil : conflict.holder))
        }
      }
    }
    return violations
  }
}

extension Table {
  /// Whether an index is not up to date.
  var isBehind: Bool { indexes.contains { $0.isBehind(self) } }

  /// Brings all indexes up to date.
  func updateIndexes() throws(StateFault) {
    for index in indexes.indices { try indexes[index].update(from: self) }
  }

  /// Notes a row of which anything is about to change.
  func noteAll(_ row: Int64) throws(StateFault) {
    for index in indexes.indices { try indexes[index].note(row, in: self) }
  }

  /// Notes a row of which a column is about to change.
  @inline(never)
  func note(_ row: Int64, column: Int) throws(StateFault) {
    for index in indexes.indices where indexes[index].columns.contains(column) {
      try indexes[index].note(row, in: self)
    }
  }

  /// Makes the indexes that the entity's rules ask for; those there stay as they are.
  func defineIndexes(_ entity: Entity) {
    var known: [UniqueRule: UniqueIndex] = [:]
    for index in indexes { known[index.rule] = index }
    indexes = ContiguousArray(
      entity.uniqueRules.compactMap { rule in
        if let index = known[rule] { return index }
        let columns = rule.properties.map { position(of: $0) ?? -1 }
        guard !columns.isEmpty, !columns.contains(-1) else { return nil }
        return UniqueIndex(rule, columns: ContiguousArray(columns))
      })
    for column in columns.indices { columns[column].isIndexed = false }
    for index in indexes {
      for column in index.columns { columns[column].isIndexed = true }
    }
  }

  func lookup(
    rule: PropertyNumber, key: [ValueCell], in arena: UnsafeRawBufferPointer
  ) throws(StateFault) -> Int64? {
    guard let index = indexes.first(where: { $0.rule.number == rule }),
      index.columns.count == key.count
    else { return nil }
    var bytes: ContiguousArray<UInt8> = []
    for cell in key where !bytes.append(keyOf: cell, in: arena) { return nil }
    let found = bytes.withUnsafeBytes { bytes in
      Result { () throws(StateFault) in try index.tree.find(bytes) }
    }
    guard let (row, isWhole) = try found.get() else { return nil }
    if isWhole { return row }
    var whole: ContiguousArray<UInt8> = []
    guard try appendKey(row, columns: index.columns, to: &whole) == .key else {
      throw invalid(row, "an index has a row that has no key")
    }
    return whole == bytes ? row : nil
  }
}
