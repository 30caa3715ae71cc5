import AnnalsFormat
import AnnalsModel
import AnnalsStorage

extension LogFile {
  /// Writes a checkpoint of the state at the head, syncs it and everything before it, and names it
  /// in a root slot. `body` stores the chunks and returns the entity directories. Saves
  /// `projections` with it; projections not given keep their older saved states.
  ///
  /// The caller holds the lock, and the log stands at the file's end. If `body` throws, or there is
  /// no space, nothing is left of the checkpoint.
  package func writeCheckpoint(
    schema: Schema, projections: [ProjectionImage] = [],
    _ body: (ChunkStore) throws -> [EntityDirectory]
  ) throws(LogError) {
    // A checkpoint is a unit like a transaction: it begins and aborts the same way.
    try begin()
    do throws(LogError) {
      // The sync below covers the newest slot, so the next slot may name the checkpoint.
      try state.withLock { (state) throws(LogError) in
        _ = try state.rereadSlots()
        // The directory contains the advances; the frames before it repeat them.
        if !state.advances.isEmpty { state.stage(state.dueConsumerChanges) }
      }
      let entities = try wrapping {
        try body { (payload, first, count) throws(LogError) in
          try withOpenState { (state) throws(LogError) in
            try state.store(chunk: payload, first: first, count: count)
          }
        }
      }
      try withOpenState { (state) throws(LogError) in
        try state.completeCheckpoint(schema: schema, entities: entities, projections)
      }
    } catch {
      abort()
      throw error
    }
    try sync()
    _ = try withOpenState { (state) throws(LogError) in
      try state.writeSlot(extent: state.synced.size)
    }
  }
}

extension LogState {
  /// Appends a chunk's frame.
  mutating func store(
    chunk payload: UnsafeRawBufferPointer, first: Int64, count: UInt32
  ) throws(LogError) -> ChunkReference {
    try requireFits(payload.count)
    if frames.bytes.count >= LogState.writeLength { try writeFrames() }
    return frames.append(chunk: payload, first: first, count: count)
  }

  /// Appends the states of projections. Returns their places, and the places of those saved before.
  private mutating func store(
    _ images: [ProjectionImage]
  ) throws(LogError) -> SavedProjections? {
    var list = generation.savedProjections(at: tables.checkpoint)
    for image in images {
      let contents = ProjectionCodec.Contents(
        name: image.name, version: image.version, number: image.position.number,
        state: image.state)
      let chunk = try ProjectionCodec.encode(contents).withBytes { bytes throws(LogError) in
        try store(chunk: bytes, first: contents.number, count: 1)
      }
      list.removeAll { $0.isNamed(image.name) }
      list.append(SavedProjection(name: image.name, version: image.version, chunk: chunk))
    }
    guard !list.isEmpty else { return nil }
    return SavedProjections(generation: generation.header.generation, list)
  }

  /// Appends the directory's frame and adds the checkpoint to the tables.
  mutating func completeCheckpoint(
    schema: Schema, entities: [EntityDirectory], _ images: [ProjectionImage]
  ) throws(LogError) {
    let projections = try store(images)
    var tables = tables
    let staged = transaction?.consumers ?? []
    for change in staged { tables.absorb(.consumerChange(change)) }
    var directory = try tables.directory(schema: schema, entities: entities, isBase: false) {
      (payload, first, count) throws(LogError) in
      try store(chunk: payload, first: first, count: count)
    }
    directory.projections = projections
    let bytes = directory.encode()
    try requireFits(bytes.count)
    bytes.withUnsafeBytes { _ = frames.append(kind: .checkpoint, payload: $0) }
    try writeFrames()
    end = frames.point
    tables.absorb(
      checkpoint: CheckpointReference(offset: end.previousOffset, number: tables.head.number),
      end: end.offset)
    self.tables = tables
    if !staged.isEmpty { adoptStaged(staged) }
    transaction = nil
  }
}
