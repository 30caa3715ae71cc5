import AnnalsFormat
import AnnalsModel

/// Everything readable of a log as of one transaction. Immutable, whatever is written or rewritten
/// afterwards.
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
  /// The base: the file holds the state as of this transaction, and all later ones.
  package var base: Int64 { file.header.base }
  /// The first transaction that the file may hold.
  package var floor: Int64 { file.header.base + 1 }
  /// The features of the file: those in its header, and those announced since.
  package var features: Features { file.header.features.union(tables.announced) }
  /// How many changes the file holds.
  package var changeCount: Int64 { tables.changeCount }
  /// The bytes of log since the newest checkpoint, or since the base.
  package var bytesSinceCheckpoint: UInt64 { end - min(tables.checkpointEnd, end) }
  /// How many transactions record that their clock had jumped back.
  package var clockJumps: Int64 { tables.clockJumps }

  /// How many transactions up to one record that their clock had jumped back. Reads the history
  /// after it if any do.
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

  /// The migrations made, in their order; including those before the base.
  package var migrations: [MigrationRecord] { tables.migrations }

  /// The gaps that salvages left in the history, rising; including those before the base.
  package var gaps: [LostTransactions] { tables.gaps }

  /// The gap that contains this transaction; nil if it is not in one. O(number of gaps).
  package func gap(at number: Int64) -> LostTransactions? {
    tables.gaps.first { $0.numbers.contains(number) }
  }

  /// The interned names; number 1 is first.
  package var names: [String] { tables.names.list }

  /// The name with this number; nil for 0 and for numbers never assigned.
  package func name(_ number: NameNumber) -> String? {
    let index = Int(number) - 1
    return tables.names.list.indices.contains(index) ? tables.names.list[index] : nil
  }

  /// The openings; number 1 is first.
  package var openings: [Opening] { tables.openings.list }

  /// The opening with this number; nil for 0 and for numbers never assigned.
  package func opening(_ number: OpeningNumber) -> Opening? {
    let index = Int(number) - 1
    return tables.openings.list.indices.contains(index) ? tables.openings.list[index] : nil
  }

  /// The schema at the head.
  package var schema: Schema { tables.schema }

  /// The schema changes. The first is the whole schema at the base, unless that is empty.
  package var schemaHistory: [SchemaHistoryEntry] { tables.schemaHistory.list }

  /// The last transaction that changed the schema; the base if none did.
  package var schemaVersion: Int64 { tables.schemaHistory.list.last?.number ?? base }

  /// The schema as of a transaction. O(schema changes).
  package func schema(at number: Int64) -> Schema {
    var schema = Schema()
    for step in schemaHistory where step.number <= number { schema.apply(step.change) }
    return schema
  }

  /// The history index. Reads its chunks; throws if one is damaged.
  package func historyIndex() throws(LogError) -> [HistoryIndexEntry] {
    var result = try index.all(in: file)
    if let last = result.indices.last { complete(&result[last]) }
    return result
  }

  /// The directory of the state at the base; nil if that is empty. Throws `damage` or `decode` if
  /// it is damaged.
  package func baseDirectory() throws(LogError) -> CheckpointDirectory? {
    let offset = file.header.baseCheckpointOffset
    return offset == 0 ? nil : try file.directory(at: offset).directory
  }

  /// The newest checkpoint, including the base's, of a transaction at or before `number`; nil if
  /// that is the empty state at the base. Reads the directories of later checkpoints. If one cannot
  /// be read, the search continues at the base.
  package func checkpoint(
    atOrBefore number: Int64
  ) throws(LogError) -> CheckpointDirectory? {
    var place = tables.checkpoint
    while let next = place, next.offset != file.header.baseCheckpointOffset {
      guard let directory = try? file.directory(at: next.offset).directory,
        directory.number == next.number
      else { break }
      if directory.number <= number { return directory }
      // Each lies before the last, so a crafted file cannot make this loop for ever.
      place = directory.previousCheckpoint.flatMap { $0.offset < next.offset ? $0 : nil }
    }
    return try baseDirectory()
  }

  /// Where the newest checkpoint lies; nil if there is none.
  package var newestCheckpointOffset: UInt64? { tables.checkpoint?.offset }

  /// Whether the newest checkpoint at or before `number`, if it is not the base's, can be read with
  /// all its chunks. Reads its whole state, apart from chunks at these offsets, which the caller
  /// has read just now.
  package func holdsCheckpoint(
    atOrBefore number: Int64, apartFrom known: Set<UInt64> = []
  ) throws(LogError) -> Bool {
    guard let directory = try checkpoint(atOrBefore: number), !directory.isBase else { return true }
    return try file.holdsState(of: directory, decoding: true, apartFrom: known)
  }

  /// The names and openings in the base's own directory; nil if the base is the empty state. Reads
  /// their chunks.
  package func namesAtBase() throws(LogError) -> (names: [String], openings: [Opening])? {
    guard let directory = try baseDirectory() else { return nil }
    return (
      try ListedTable(directory.names, in: file).list,
      try ListedTable(directory.openings, in: file).list
    )
  }

  /// Throws `damage`, with its place, if a chunk of the state at the base cannot be read or is not
  /// what the directory says. Reads that whole state.
  package func requireBaseState() throws(LogError) {
    if let directory = try baseDirectory() { try file.requireState(of: directory, decoding: true) }
  }

  /// The transactions after `after`, up to and including `through`. Throws `outside` if the file
  /// does not hold them. `filter` says what may be skipped; see `HistoryFilter`.
  package func history(
    after: Int64, through: Int64, direction: HistoryDirection = .forward,
    skipping filter: HistoryFilter = .none, withChanges: Bool = true
  ) throws(LogError) -> FrameHistoryReader {
    guard after >= base, through <= head.number else {
      throw .outside(base: base, head: head.number)
    }
    return try FrameHistoryReader(
      self, after: after, through: through, direction: direction, filter: filter,
      withChanges: withChanges)
  }
}
