// Reading many rows, group by group, without keeping chunks in memory: a state read from a
// checkpoint stays as small as it was.

extension TableView {
  /// Which group a row is in: those of one group follow one another.
  package static func group(of row: Int64) -> Int { RowPosition(row).group }

  /// The same objects; unread chunks of this group are read into this view alone, and released with
  /// it. O(columns).
  package func passing(group: Int) -> TableView {
    TableView(Table.passing(table, nil, group: group).0 ?? table)
  }
}

extension Table {
  /// Copies of two tables of one entity that read a group for themselves; the tables themselves if
  /// they do not have the group. The copies share what the two share of it.
  static func passing(_ first: Table?, _ second: Table?, group: Int) -> (Table?, Table?) {
    let groups = RowGroup.passing(first?.groups.group(group), second?.groups.group(group))
    return (first?.replacing(group, with: groups.0), second?.replacing(group, with: groups.1))
  }

  private func replacing(_ group: Int, with other: RowGroup?) -> Table {
    guard let other else { return self }
    let copy = Table(copying: self)
    copy.groups.replaceGroup(group, with: other)
    return copy
  }
}
