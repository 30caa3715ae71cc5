import AnnalsFormat
import AnnalsFrames
import AnnalsModel
import AnnalsStorage

/// The new file of a rewrite, written front to back.
///
/// Nothing of it is visible until it is put in place, so frames name no durable mark and nothing is
/// synced before the end. Memory: 1 MiB of frames, the tables, and 16 bytes for each chunk copied.
final class RewriteTarget {
  let temporary: TemporaryFile
  private(set) var header: FileHeader
  private(set) var tables: LogTables
  private(set) var frames: FrameWriter
  private var payload: ContiguousArray<UInt8> = []
  /// The tombstones of the base.
  private var tombstones: KeptTombstones?
  /// The offsets of the old file's chunks in the new one.
  private var places: [UInt64: UInt64] = [:]
  /// Where the unit of the next transaction begins; nil if none of it is written.
  private var unitStart: UInt64?
  /// The large values written for the next transaction.
  private var largeValues: [LargeValueEntry] = []
  /// The only part of a transaction that is being added to the tables.
  private var parts = TransactionParts()
  /// The transaction whose last part is not written yet, and its parts so far.
  private var open: (record: TransactionRecord, parts: TransactionParts)?

  /// How the large values written so far are stored.
  var packing = LargeValuePacking()

  private static let writeLength = 1 << 20

  /// Begins a new file with this header, whose base is so far the empty state.
  init(_ temporary: TemporaryFile, header: FileHeader) {
    self.temporary = temporary
    self.header = header
    _ = self.header.encode()
    tables = LogTables(emptyBaseOf: header)
    frames = FrameWriter(
      seed: header.seed, at: ChainPoint(beginningOf: self.header), durableMark: nil)
  }

  /// Where the next frame goes.
  var offset: UInt64 { frames.offset }

  func append(
    kind: FrameKind, flags: FrameFlags = [], payload: UnsafeRawBufferPointer
  ) throws(LogError) {
    try makeRoom(for: payload)
    frames.append(kind: kind, flags: flags, payload: payload)
  }

  /// Appends a frame whose payload `encode` makes, which returns the frame's kind.
  func append(
    flags: FrameFlags = [], _ encode: (inout ContiguousArray<UInt8>) -> FrameKind
  ) throws(LogError) {
    payload.removeAll(keepingCapacity: true)
    let kind = encode(&payload)
    try payload.withBytes { bytes throws(LogError) in
      try append(kind: kind, flags: flags, payload: bytes)
    }
  }

  private func makeRoom(for payload: UnsafeRawBufferPointer) throws(LogError) {
    try requireFits(payload.count)
    if frames.bytes.count >= RewriteTarget.writeLength { try flush() }
  }

  /// Writes the frames gathered so far.
  func flush() throws(LogError) {
    try wrapping { try temporary.file.write(frames.bytes, at: frames.start) }
    frames.removeAll()
  }

  // MARK: Chunks and checkpoints

  func store(
    chunk payload: UnsafeRawBufferPointer, first: Int64, count: UInt32
  ) throws(LogError) -> ChunkReference {
    try makeRoom(for: payload)
    return frames.append(chunk: payload, first: first, count: count)
  }

  /// Writes a frame of tombstones, which the base's directory will name.
  func store(
    tombstones payload: UnsafeRawBufferPointer, count: UInt32
  ) throws(LogError) {
    try makeRoom(for: payload)
    var kept = tombstones ?? KeptTombstones(completeAfter: header.base)
    kept.frames.append(
      frames.append(
        chunk: payload, kind: .tombstones, flags: .skippable, first: kept.count, count: count))
    tombstones = kept
  }

  /// Says that the tombstones cover all deletes after a transaction, up to the base.
  func remember(after number: Int64) {
    if tombstones == nil, number >= header.base { return }
    tombstones = KeptTombstones(completeAfter: number, frames: tombstones?.frames ?? [])
    header.features.formUnion(.tombstones)
  }

  /// Whether the new file's header lists exactly these features, apart from those new in it.
  func has(_ features: Features) -> Bool {
    header.features == (tombstones == nil ? features : features.union(.tombstones))
  }

  /// The reference of a chunk of `old` in the new file; copies the chunk the first time.
  private func copy(
    _ reference: ChunkReference, from old: LogGeneration
  ) throws(LogError) -> ChunkReference {
    var result = reference
    if let place = places[reference.offset] {
      result.offset = place
      return result
    }
    let payload = try old.chunk(reference)
    result = try payload.withBytes { bytes throws(LogError) in
      try store(chunk: bytes, first: reference.first, count: reference.count)
    }
    places[reference.offset] = result.offset
    return result
  }

  /// The directories of entities, with their chunks copied from `old`.
  func copy(
    _ entities: [EntityDirectory], from old: LogGeneration
  ) throws(LogError) -> [EntityDirectory] {
    var result = entities
    for index in result.indices {
      try result[index].replaceChunks { (chunk) throws(LogError) in try copy(chunk, from: old) }
    }
    return result
  }

  /// Copies those of the projections that can be read from `old`, if that is the same store: a
  /// projection's bytes may contain the store's identity. Leaves out states before the base or
  /// after a transaction.
  func copy(
    _ projections: [SavedProjection], upTo number: Int64, from old: LogGeneration
  ) throws(LogError) -> [SavedProjection] {
    guard header.store == old.header.store, header.base <= number else { return [] }
    var result: [SavedProjection] = []
    for saved in projections where header.base...number ~= saved.number {
      guard (try? old.state(of: saved)) != nil else { continue }
      var copied = saved
      copied.chunk = try copy(saved.chunk, from: old)
      result.append(copied)
    }
    return result
  }

  /// Writes the directory of a checkpoint whose chunks are stored.
  @discardableResult
  private func writeDirectory(
    schema: Schema, entities: [EntityDirectory], projections: [SavedProjection] = [], isBase: Bool
  ) throws(LogError) -> UInt64 {
    var tables = tables
    var directory = try tables.directory(
      schema: schema, entities: entities, isBase: isBase, store: store(chunk:first:count:))
    if isBase { directory.tombstones = tombstones }
    if !projections.isEmpty {
      directory.projections = SavedProjections(generation: header.generation, projections)
    }
    try directory.encode().withBytes { bytes throws(LogError) in
      try append(kind: .checkpoint, payload: bytes)
    }
    let end = frames.point
    tables.absorb(
      checkpoint: CheckpointReference(offset: end.previousOffset, number: tables.head.number),
      end: end.offset)
    self.tables = tables
    return end.previousOffset
  }

  /// Writes a checkpoint of the state at the head, whose chunks are stored.
  func writeCheckpoint(schema: Schema, entities: [EntityDirectory]) throws(LogError) {
    try writeDirectory(schema: schema, entities: entities, isBase: false)
  }

  /// Writes a checkpoint of the state at the head as another file has it; its chunks are copied.
  func writeCheckpoint(
    as directory: CheckpointDirectory, entities: [EntityDirectory],
    projections: [SavedProjection] = []
  ) throws(LogError) {
    tables.adopt(directory)
    try writeDirectory(
      schema: directory.schema, entities: entities, projections: projections, isBase: false)
  }

  /// Writes the directory of the base, whose large values and chunks are written, and names it in
  /// the header.
  func writeBase(
    _ tables: LogTables, schema: Schema, entities: [EntityDirectory],
    projections: [SavedProjection] = []
  ) throws(LogError) {
    self.tables = tables
    header.baseCheckpointOffset = try writeDirectory(
      schema: schema, entities: entities, projections: projections, isBase: true)
    _ = header.encode()
    try flush()
    try rechain()
  }

  /// Chains the frames of the base again: the first names the header, whose checksum was not known
  /// when they were written, and each names the one before it.
  private func rechain() throws(LogError) {
    let end = frames.offset
    var previous = header.checksum
    var offset = FormatLimits.logStart
    var bytes: ContiguousArray<UInt8> = []
    var window = FileWindow(temporary.file, size: end, leastRead: 0)
    while offset < end {
      let found = try wrapping { try window.frameHeader(at: offset, seed: header.seed) }
      guard var frame = found else {
        throw .damage(at: offset, "the new file reads otherwise than written")
      }
      frame.previousChecksum = previous
      bytes.removeAll(keepingCapacity: true)
      frame.encode(into: &bytes, at: offset, seed: header.seed)
      try wrapping { try temporary.file.write(bytes, at: offset) }
      previous = frame.checksum
      offset += frame.frameLength
    }
    frames = FrameWriter(
      seed: header.seed, offset: end, previousChecksum: previous, durableMark: nil)
  }

  // MARK: Side records

  /// Writes the records that make this state.
  func append(_ side: SideState) throws(LogError) {
    for record in side.records {
      try append(flags: .skippable) {
        record.encode(into: &$0)
        return record.kind
      }
    }
  }

  // MARK: Large values

  /// Adds to the tables the large values that precede a checkpoint and belong to no transaction.
  func absorb(_ largeValues: [LargeValueEntry]) {
    tables.absorb(largeValues)
  }

  // MARK: Transactions

  /// Whether the last part of a transaction is still to be written.
  var isAmidTransaction: Bool { open != nil }

  /// Whether nothing that belongs to the next transaction is written.
  var isBetweenUnits: Bool { open == nil && largeValues.isEmpty }

  /// Begins the unit of the next transaction here, unless it has begun.
  func beginUnit() {
    if unitStart == nil { unitStart = offset }
  }

  /// Notes a large value, written or about to be, that belongs to the next transaction.
  func note(_ largeValue: LargeValueEntry) { largeValues.append(largeValue) }

  /// Ends the unit without a transaction; returns its large values, which belong to a checkpoint.
  func endUnit() -> [LargeValueEntry] {
    defer { largeValues = [] }
    unitStart = nil
    return largeValues
  }

  /// Adds the whole transactions of a written frame to the tables.
  func absorb(_ batch: ChangeBatch) throws(LogError) {
    for record in batch.transactions {
      parts.removeAll()
      parts.add(record.changeRange, of: batch)
      try absorb(record, parts)
    }
    unitStart = nil
  }

  /// Begins a transaction in parts with the record of its first.
  func beginParts(_ record: TransactionRecord) { open = (record, TransactionParts()) }

  /// Adds a written part by its summary. The last part adds the transaction to the tables.
  func absorb(part: BlockSummary, isLast: Bool) throws(LogError) {
    open?.parts.add(part)
    try absorbParts(isLast)
  }

  /// Adds a written part: all changes of a batch. The last part adds the transaction to the tables.
  func absorb(part: ChangeBatch, isLast: Bool) throws(LogError) {
    open?.parts.add(part.changes.indices, of: part)
    try absorbParts(isLast)
  }

  private func absorbParts(_ isLast: Bool) throws(LogError) {
    guard isLast, let (record, parts) = open else { return }
    try absorb(record, parts)
    open = nil
    unitStart = nil
  }

  private func absorb(
    _ record: TransactionRecord, _ parts: TransactionParts
  ) throws(LogError) {
    try tables.absorb(record, parts, at: unitStart ?? offset, largeValues: largeValues)
    largeValues = []
  }

  /// Completes the file: writes root slots and header and syncs everything. `check` sees it as it
  /// will be, before it has its header.
  func complete(check: (any StorageFile) throws -> Void = { _ in }) throws(LogError) {
    try flush()
    var slot = RootSlot(
      sequence: 1, durableMark: frames.offset, head: tables.head.number,
      markChecksum: frames.previousChecksum)
    if let place = tables.checkpoint {
      slot.checkpointOffset = place.offset
      slot.checkpointNumber = place.number
    }
    try temporary.seal(header.encode(with: slot), check: check)
  }
}
