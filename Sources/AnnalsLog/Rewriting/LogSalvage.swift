import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// Writes what was salvaged from a damaged file into a new one, front to back: the base, then large
/// values, transactions and gap records in order, then a checkpoint.
///
/// The new file exists once `putInPlace` returns; before that, and if anything throws, nothing
/// exists. Used by one thread at a time. Releasing it removes an unfinished file. Memory: 1 MiB of
/// frames, and the log's tables.
package final class LogSalvage {
  private let fileSystem: any FileSystem
  private let destination: String
  private var target: RewriteTarget?

  /// Begins a new file at `path` with this header, whose base is so far the empty state. It gets
  /// mode and extended attributes from the file `original`, and its owner if that may be set.
  ///
  /// Throws `exists` if a file exists, `busy` if somebody else is making one, `occupied` if another
  /// file has the temporary name, `storage`.
  package init(
    at path: String, like original: String?, header: FileHeader, in fileSystem: any FileSystem
  ) throws(LogError) {
    self.fileSystem = fileSystem
    destination = try fileSystem.pathOfNewFile(path)
    var header = header
    header.baseCheckpointOffset = 0
    let temporary = try TemporaryFile(for: destination, like: original, in: fileSystem)
    target = RewriteTarget(temporary, header: header)
  }

  deinit { cancel() }

  /// Removes the unfinished file.
  package func cancel() {
    target?.temporary.discard()
    target = nil
  }

  private func writing() throws(LogError) -> RewriteTarget {
    guard let target else { throw .closed }
    return target
  }

  /// The number of the last transaction written, or of the base.
  package var head: Int64 { target?.tables.head.number ?? 0 }
  /// The greatest timestamp written so far; 0 if none was.
  package var maximumTimestamp: Timestamp {
    guard let head = target?.tables.head, head.maximumTimestamp != .min else {
      return Timestamp(microseconds: 0)
    }
    return head.maximumTimestamp
  }
  /// The number of names, and of openings, known so far.
  package var nameCount: Int { target?.tables.names.count ?? 0 }
  package var openingCount: Int { target?.tables.openings.count ?? 0 }
  /// The names and openings known so far.
  package var names: [String] { target?.tables.names.list ?? [] }
  package var openings: [Opening] { target?.tables.openings.list ?? [] }
  /// The migrations made up to the head.
  package var migrations: [MigrationRecord] { target?.tables.migrations ?? [] }
  /// The schema as of the head.
  package var schema: Schema { target?.tables.schema ?? Schema() }

  /// Writes the base, whose large values were written before. `image` stores the chunks of its
  /// state.
  package func writeBase(
    _ base: LogBase, schema: Schema, _ image: (ChunkStore) throws -> [EntityDirectory]
  ) throws(LogError) {
    let target = try writing()
    let entities = try wrapping { try image(target.store(chunk:first:count:)) }
    let largeValues = target.endUnit()
    var base = base
    base.nextLargeValueNumber = max(
      base.nextLargeValueNumber, (largeValues.last?.number ?? 0) &+ 1)
    let tables = LogTables(base, schema: schema, largeValues: largeValues)
    try target.writeBase(tables, schema: schema, entities: entities)
  }

  /// Writes a checkpoint of the state at the head, with the large values written since the last
  /// transaction.
  package func writeCheckpoint(
    schema: Schema, _ image: (ChunkStore) throws -> [EntityDirectory]
  ) throws(LogError) {
    let target = try writing()
    target.absorb(target.endUnit())
    let entities = try wrapping { try image(target.store(chunk:first:count:)) }
    try target.writeCheckpoint(schema: schema, entities: entities)
  }

  /// Writes a frame of tombstones; `payload` is that of a frame that was read. Call it before
  /// `writeBase`.
  package func append(
    tombstones payload: UnsafeRawBufferPointer, count: Int
  ) throws(LogError) {
    try writing().store(tombstones: payload, count: UInt32(count))
  }

  /// Says that the tombstones written cover all deletes after this transaction, up to the base.
  package func remember(after number: Int64) throws(LogError) {
    try writing().remember(after: number)
  }

  /// Writes one piece of a large value, whose bytes are made.
  package func append(_ piece: LargeValuePiece, isLast: Bool) throws(LogError) {
    let target = try writing()
    target.beginUnit()
    if piece.isFirst {
      target.note(
        LargeValueEntry(number: piece.number, offset: target.offset, length: piece.totalLength))
    }
    try target.append(piece, isLast: isLast)
  }

  /// Writes the mark of a large value whose bytes are lost.
  package func append(lostLargeValue number: UInt64, length: UInt64) throws(LogError) {
    try append(LargeValuePiece(lost: number, totalLength: length), isLast: true)
  }

  /// Copies a frame of transactions, or of one part of one; `batch` is its decoded content. A block
  /// whose summary contradicts its columns, and a frame with items that do not outlast a salvage,
  /// are encoded again; any other is copied unchanged. Throws `damage` if it does not follow what
  /// was written before.
  package func append(
    copyOf kind: FrameKind, payload: UnsafeRawBufferPointer, batch: ChangeBatch
  ) throws(LogError) {
    var batch = batch
    var isKept = !batch.dropPassingItems()
    if kind == .block, (try? BlockCodec.decodeSummary(payload)) != BlockCodec.summary(of: batch) {
      isKept = false
    }
    if !isKept {
      var anew: ContiguousArray<UInt8> = []
      var kind = kind
      if kind == .block {
        BlockCodec.encode(batch, into: &anew)
      } else {
        kind = batch.encode(into: &anew)
      }
      if anew.count <= FormatLimits.maximumPayload {
        return try anew.withBytes { bytes throws(LogError) in
          try append(kind: kind, payload: bytes, batch: batch)
        }
      }
    }
    try append(kind: kind, payload: payload, batch: batch)
  }

  /// Writes a frame of transactions, or of one part of one, unchanged; `batch` is its decoded
  /// content. Throws `damage` if it does not follow what was written before.
  package func append(
    kind: FrameKind, payload: UnsafeRawBufferPointer, batch: ChangeBatch
  ) throws(LogError) {
    let target = try writing()
    target.beginUnit()
    guard let first = batch.transactions.first else { return }
    if first.part > 0 || first.isContinued {
      try target.append(
        kind: .block, flags: FrameFlags(isContinued: first.isContinued), payload: payload)
      if !target.isAmidTransaction { target.beginParts(first) }
      return try target.absorb(part: batch, isLast: !first.isContinued)
    }
    try target.append(kind: kind, payload: payload)
    try target.absorb(batch)
  }

  /// Writes a gap record with these changes, in parts if they are many. `record` itself lists no
  /// changes.
  package func append(gap record: TransactionRecord, changes: ChangeBatch) throws(LogError) {
    precondition(record.lost != nil, "a gap says what is lost")
    var splitter = PartSplitter(changes)
    var part: UInt32 = 0
    var next = splitter.next() ?? ChangeBatch()
    while true {
      let isLast = splitter.isAtEnd
      var own = record
      if part > 0 {
        own = TransactionRecord(number: record.number, timestamp: record.timestamp)
        own.author = record.author
      }
      own.part = part
      own.isContinued = !isLast
      own.changeCount = UInt32(next.changes.count)
      next.transactions = [own]
      try write(next)
      guard !isLast, let following = splitter.next() else { return }
      next = following
      part += 1
    }
  }

  /// Writes whole transactions, or one part of one, as a new frame: some of those of a frame that
  /// was read. Throws `damage` if they do not follow what was written before.
  package func write(_ batch: ChangeBatch) throws(LogError) {
    if batch.transactions.isEmpty { return }
    var batch = batch
    _ = batch.dropPassingItems()
    var payload: ContiguousArray<UInt8> = []
    let kind = batch.encode(into: &payload)
    try payload.withBytes { bytes throws(LogError) in
      try append(kind: kind, payload: bytes, batch: batch)
    }
  }

  /// Writes the side records, after everything else.
  package func append(_ side: SideState) throws(LogError) {
    try writing().append(side)
  }

  /// Completes the file and puts it in place. Throws `exists` if a file exists by now,
  /// `placementUnknown` if the new file may or may not be there.
  package func putInPlace() throws(LogError) {
    let target = try writing()
    precondition(target.isBetweenUnits, "the last transaction is whole")
    try target.complete()
    self.target = nil
    try target.temporary.put(at: destination)
  }
}
