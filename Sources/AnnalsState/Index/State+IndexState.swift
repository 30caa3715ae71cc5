import AnnalsModel

extension State {
  /// Whether the index of this number is built, except perhaps for the latest changes. An index
  /// without entries is built when it is first used.
  package func isIndexBuilt(_ entity: EntityNumber, _ number: PropertyNumber) -> Bool {
    guard let table = findTable(entity),
      let index = table.indexes.first(where: { $0.shape.number == number })
    else { return false }
    return index.tree.count > 0 || !index.isBehind(table)
  }
}
