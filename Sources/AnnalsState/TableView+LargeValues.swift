import AnnalsModel

extension TableView {
  /// Calls `body` with each large value of some columns, by row, with its row and which of the
  /// columns it is in. Looks at no value of a group that has no large one.
  package func forEachLargeValue(
    of columns: [Int], _ body: (_ row: Int64, _ index: Int, LargeValue) -> Void
  ) throws(StateFault) {
    var next = table.groups.nextIndex(from: 0)
    while let group = next {
      next = table.groups.nextIndex(from: group + 1)
      try forEachLargeValue(of: columns, inGroup: group, body)
    }
  }

  private func forEachLargeValue(
    of columns: [Int], inGroup index: Int,
    _ body: (_ row: Int64, _ index: Int, LargeValue) -> Void
  ) throws(StateFault) {
    guard let group = table.groups.group(index), group.liveCount > 0 else { return }
    var found: [(index: Int, leaves: ContiguousArray<Leaf?>)] = []
    for (index, column) in columns.enumerated() {
      let leaves = try group.leaves(column: column)
      if leaves.contains(where: { $0?.head.pointee.hasLarge == true }) {
        found.append((index, leaves))
      }
    }
    guard !found.isEmpty else { return }
    let firstRow = RowPosition.firstRow(ofGroup: index)
    for offset in 0..<Int(RowPosition.groupRows) {
      for (index, leaves) in found {
        guard let leaf = leaves[offset >> 8], leaf.head.pointee.hasLarge else { continue }
        let cell = leaf.cell(offset & 255)
        guard cell.isLarge, case .large(let value) = cell.value(in: leaf.arenaBytes) else {
          continue
        }
        body(firstRow + Int64(offset), index, value)
      }
    }
  }
}
