import AnnalsFormat
import AnnalsModel
import AnnalsStorage

// What the tables of a directory say, compared with the transactions before it: a past state, or an
// opening that goes back to this checkpoint, takes names and definitions from them.
extension CheckpointChecks {
  mutating func compareTables(
    _ directory: CheckpointDirectory, at place: Place, behind transactions: TransactionChecks,
    in walk: inout FileWalk, _ log: inout FindingLog
  ) throws(StorageError) {
    guard transactions.isComplete, !place.isBase, directory.number == transactions.head else {
      return
    }
    func report(_ what: String) {
      place.report("has another \(what) than the log", of: directory, to: &log)
    }
    let vocabulary = transactions.vocabulary
    let name = try firstDifference(in: directory.names, &walk) { place, name in
      vocabulary.names[NameNumber(truncatingIfNeeded: place + 1)].map { name.hasSameBytes(as: $0) }
    }
    if let name { report("name \(name + 1)") }
    let opening = try firstDifference(in: directory.openings, &walk) { place, opening in
      place < vocabulary.openings.count ? opening == vocabulary.openings[place] : nil
    }
    if let opening { report("opening \(opening + 1)") }
    let history = transactions.schemaHistory
    let change = try firstDifference(in: directory.schemaHistory, &walk) { place, change in
      place < history.count && change == history[place]
    }
    if let change {
      report("schema change \(change + 1)")
    } else if directory.schemaHistory.count != UInt64(history.count) {
      report("count of schema changes")
    }
  }

  /// The place of the first entry that `isRight` refuses; nil if there is none. It returns nil for
  /// one that it cannot judge. A chunk is compared once, however many directories name it.
  private mutating func firstDifference<Entry: TableEntry>(
    in table: TableDirectory<Entry>, _ walk: inout FileWalk, isRight: (Int, Entry) -> Bool?
  ) throws(StorageError) -> Int? {
    var start = 0
    for reference in table.chunks {
      if comparedTables.insert(reference.offset).inserted,
        let payload = try walk.frames?.chunk(reference),
        let entries = try? payload.withUnsafeBytes({ try TableCodec<Entry>.decode($0) }),
        let place = entries.indices.first(where: { isRight(start + $0, entries[$0]) == false })
      {
        return start + place
      }
      start += Int(reference.count)
    }
    return table.entries.indices.first { isRight(start + $0, table.entries[$0]) == false }
      .map { start + $0 }
  }
}
