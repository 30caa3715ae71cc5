import AnnalsFormat

extension State {
  /// Reads every column that was edited without being read, as the undoing of changes does. Returns
  /// the offsets of the chunks that were decoded for that.
  package func readEdited() throws(StateFault) -> Set<UInt64> {
    var offsets: Set<UInt64> = []
    for table in tables {
      var next = table.groups.nextIndex(from: 0)
      while let index = next {
        next = table.groups.nextIndex(from: index + 1)
        guard let group = table.groups.group(index) else { continue }
        for column in table.columns.indices {
          guard let part = group.storedColumn(column), let origin = part.origin else { continue }
          let isNew = origin.isUnread
          _ = try part.leaves()
          if isNew { offsets.formUnion(origin.references.map(\.offset)) }
        }
      }
    }
    return offsets
  }
}
