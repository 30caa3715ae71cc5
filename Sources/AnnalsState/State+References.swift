import AnnalsModel

// Who refers to an object.
extension State {
  /// The rows that refer to the object in this row by a relationship, rising; nil if that has no
  /// index. As `IndexView.referrers` of its index, for who asks once: no view is made.
  package func referrers(
    to row: Int64, from entity: EntityNumber, by relationship: PropertyNumber
  ) throws(StateFault) -> [Int64]? {
    guard let table = try currentTable(entity, rule: relationship),
      let place = table.place(ofIndex: relationship)
    else { return nil }
    return try table.indexes[place].tree.referrers(to: row)
  }

  /// How many rows refer to the object in this row by a relationship; nil if that has no index.
  /// O(log n).
  package func countOfReferrers(
    to row: Int64, from entity: EntityNumber, by relationship: PropertyNumber
  ) throws(StateFault) -> Int? {
    guard let table = try currentTable(entity, rule: relationship),
      let place = table.place(ofIndex: relationship)
    else { return nil }
    return try table.indexes[place].tree.countOfReferrers(to: row)
  }
}
