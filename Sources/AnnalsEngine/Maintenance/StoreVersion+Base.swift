import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

extension StoreVersion {
  /// The base of a rewrite: the state as of a transaction; and as `stateForRewrite`.
  func baseChoice(
    at number: Int64, prunedAt: Timestamp?, prunedBy: String?
  ) throws(AnnalsError) -> (base: RewritePlan.Base, decodedCheckpoint: UInt64?) {
    let (state, decodedCheckpoint) = try stateForRewrite(at: number)
    try state.requireDistinctKeys(asOf: number)
    let position = try AnnalsError.translating { try view.position(of: number) }
    let base = RewritePlan.Base.at(
      number: number, timestamp: position.maximumTimestamp, prunedAt: prunedAt,
      prunedBy: prunedBy ?? ""
    ) { chunks in
      // A separate state: the chunks written here belong to the new file.
      try state.writeBase(to: chunks, of: LogChunkSource(self.view.file))
    }
    return (base, decodedCheckpoint)
  }
}

extension State {
  /// Writes the state as the base of a new file.
  func writeBase(to chunks: ChunkStore, of source: LogChunkSource) throws -> BaseImage {
    // Writing keeps the values and drops nothing.
    var image = self
    let entities = try image.writeChunks(full: true, source: source) {
      try chunks($0, $1, $2)
    }
    return BaseImage(
      schema: schema, entities: entities, largeValues: try largeValues().keys.sorted())
  }
}

extension StoreVersion {
  /// The state as of a transaction, with every chunk readable unless the base or the history is
  /// damaged: rebuilt from these if a checkpoint is damaged. And the offset of the newest
  /// checkpoint if all its chunks were decoded for that.
  func stateForRewrite(
    at number: Int64
  ) throws(AnnalsError) -> (state: State, decodedCheckpoint: UInt64?) {
    try AnnalsError.translating {
      let places = [view.head.number, number]
      // If this fails, the checks say why.
      let read = holdsValues ? try? readState(at: number) : nil
      if try places.allSatisfy({
        try view.holdsCheckpoint(atOrBefore: $0, apartFrom: read?.chunks ?? [])
      }) {
        let usesBase = try places.contains {
          try view.checkpoint(atOrBefore: $0)?.isBase == true
        }
        if usesBase { try view.requireBaseState() }
        // Here, since each of the copies that a rewrite makes would do it for itself.
        var past = try read?.state ?? state(at: number)
        try AnnalsError.translating { try past.updateIndexes() }
        return (past, view.newestCheckpointOffset)
      }
      try view.requireBaseState()
      return (try stateByReplaying(from: try view.baseDirectory(), to: number), nil)
    }
  }
  /// The state as of a transaction with all that was edited on the way read, and the offsets of the
  /// chunks that were decoded for that.
  private func readState(at number: Int64) throws -> (state: State, chunks: Set<UInt64>) {
    let state = try state(at: number)
    return (state, try state.readEdited())
  }
}
