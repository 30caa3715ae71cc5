// Reading many rows, group by group, without keeping chunks in memory: a state read from a
// checkpoint stays as small as it was.

/// A table whose rows are read in order: the chunks of a group of them are released with it.
package struct PassingTable {
  private let table: TableView
  private var part: TableView
  private var group = -1

  package init(_ table: TableView) { (self.table, part) = (table, table) }

  /// The table, to read a row of it. O(columns) for the first row of a group.
  package mutating func part(of row: Int64) -> TableView {
    let group = RowPosition(row).group
    if group != self.group {
      self.group = group
      part = TableView(Table.passing(table.table, nil, group: group).0 ?? table.table)
    }
    return part
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
