import AnnalsFormat
import AnnalsModel

/// Everything that can be read of a log as of one transaction: it stays as it is whatever is
/// written or rewritten afterwards.
///
/// Any method may be called on any thread, also after the log was closed.
package final class LogView: Sendable {
  /// The generation of the file that everything is read from.
  package let file: LogGeneration
  let tables: LogTables
  /// Where the log ends.
  package let end: UInt64

  init(file: LogGeneration, tables: LogTables, end: UInt64) {
    self.file = file
    self.tables = tables
    self.end = end
  }

  /// The position of the last transaction.
  package var head: LogPosition { tables.head }
  /// The base: the file holds the state as of this transaction and all later ones.
  package var base: Int64 { file.header.base }
  /// The first transaction that the file may hold.
  package var floor: Int64 { file.header.base + 1 }
  /// The features of the file: those of its header, and those announced since.
  package var features: Features { file.header.features.union(tables.announced) }
  /// How many changes the file holds.
  package var changeCount: Int64 { tables.changeCount }
  /// How many bytes of log lie behind the newest checkpoint, or behind the base.
  package var bytesSinceCheckpoint: UInt64 { end - min(tables.checkpointEnd, end) }
  /// How many transactions say that their clock had jumped back.
  package var clockJumps: Int64 { tables.clockJumps }

  /// How many transactions up to one say that their clock had jumped back. Reads the history behind
  /// it if any do.
  func clockJumps(upTo number: Int64) throws(LogError) -> Int64 {
    var count = clockJumps
    if count == 0 || number == head.number { return count }
    var cursor = try history(after: number, through: head.number)
    var batch = ChangeBatch()
    while try cursor.next(into: &batch) {
      for record in batch.transactions where record.part == 0 {
        if ExtensionArea.has(ExtensionArea.clockJump, in: record.extensions) { count -= 1 }
      }
    }
    return max(count, 0)
  }

  /// The gaps that a salvage left in the history, rising; those before the base among them.
  package var gaps: [LostTransactions] { tables.gaps }

  /// The gap that a transaction's number lies in. O(number of gaps).
  package func gap(at number: Int64) -> LostTransactions? {
    tables.gaps.first { $0.numbers.contains(number) }
  }

  /// The interned names; the one with number 1 is first.
  package var names: [String] { tables.names.list }

  /// The name with this number; nil for 0 and for numbers never given.
  package func name(_ number: NameNumber) -> String? {
    let index = Int(number) - 1
    return tables.names.list.indices.contains(index) ? tables.names.list[index] : nil
  }

  /// The number of a name; nil if it was never recorded. O(names).
  package func nameNumber(of name: String) -> NameNumber? {
    tables.names.list.firstIndex { $0.hasSameBytes(as: name) }.map { NameNumber($0 + 1) }
  }

  /// The openings; the one with number 1 is first.
  package var openings: [Opening] { tables.openings.list }

  /// The opening with this number; nil for 0 and for numbers never given.
  package func opening(_ number: OpeningNumber) -> Opening? {
    let index = Int(number) - 1
    return tables.openings.list.indices.contains(index) ? tables.openings.list[index] : nil
  }

  /// The schema at the head.
  package var schema: Schema { tables.schema }

  /// The changes of the schema; the first is the whole schema at the base, unless that is empty.
  package var schemaHistory: [SchemaHistoryEntry] { tables.schemaHistory.list }

  /// The last transaction that changed the schema; the base if none did.
  package var schemaVersion: Int64 { tables.schemaHistory.list.last?.number ?? base }

  /// The schema as of a transaction. O(changes of the schema).
  package func schema(at number: Int64) -> Schema {
    var schema = Schema()
    for step in schemaHistory where step.number <= number {
      schema = schema.applying(step.entities)
    }
    return schema
  }

  /// The history index. Reads its chunks; throws if one does not hold.
  package func historyIndex() throws(LogError) -> [HistoryIndexEntry] {
    try tables.index.table.all(in: file)
  }

  /// The directory of the state at the base; nil if that is the empty state. Throws `damage` or
  /// `decode` if it does not hold.
  package func baseDirectory() throws(LogError) -> CheckpointDirectory? {
    let offset = file.header.baseCheckpointOffset
    return offset == 0 ? nil : try file.directory(at: offset).directory
  }

  /// The newest checkpoint of a transaction not after `number`, the base's among them; nil if the
  /// nearest is the empty state at the base. Reads the directories of checkpoints after it; one
  /// that cannot be read ends the search at the base.
  package func checkpoint(
    atOrBefore number: Int64
  ) throws(LogError) -> CheckpointDirectory? {
    var place = tables.checkpoint
    while let next = place, next.offset != file.header.baseCheckpointOffset {
      guard let directory = try? file.directory(at: next.offset).directory,
        directory.number == next.number
      else { break }
      if directory.number <= number { return directory }
      // Each lies before the last, so that a crafted file cannot make this go round for ever.
      place = directory.previousCheckpoint.flatMap { $0.offset < next.offset ? $0 : nil }
    }
    return try baseDirectory()
  }

  /// Whether the newest checkpoint not after `number`, if there is one behind the base, can be read
  /// with all its chunks. Costs the reading of its state.
  package func holdsCheckpoint(atOrBefore number: Int64) throws(LogError) -> Bool {
    guard let directory = try checkpoint(atOrBefore: number), !directory.isBase else { return true }
    return try file.holdsState(of: directory, decoding: true)
  }

  /// The names and openings as the base's own directory has them; nil if the base is the empty
  /// state. Reads their chunks.
  package func namesAtBase() throws(LogError) -> (names: [String], openings: [Opening])? {
    guard let directory = try baseDirectory() else { return nil }
    return (
      try ListedTable(directory.names, in: file).list,
      try ListedTable(directory.openings, in: file).list
    )
  }

  /// Throws `damage`, with its place, if a chunk of the state at the base cannot be read, or is not
  /// what it is said to be. Costs the reading of that state.
  package func requireBaseState() throws(LogError) {
    if let directory = try baseDirectory() { try file.requireState(of: directory, decoding: true) }
  }

  /// The transactions after `after`, up to and including `through`. Throws `outside` if the file
  /// does not hold them. `filter` says what may be passed over; see `HistoryFilter`.
  package func history(
    after: Int64, through: Int64, direction: HistoryDirection = .forward,
    skipping filter: HistoryFilter = .none
  ) throws(LogError) -> HistoryCursor {
    guard after >= base, through <= head.number else {
      throw .outside(base: base, head: head.number)
    }
    return try HistoryCursor(
      self, after: after, through: through, direction: direction, filter: filter)
  }
}
