import AnnalsFormat
import AnnalsLog
import AnnalsState

extension State {
  /// Writes the chunks of the state, and returns the entity directories that refer to them.
  package mutating func writeChunks(
    to chunks: CheckpointWriter, of source: LogChunkSource, full: Bool = true
  ) throws -> [EntityDirectory] {
    try writeChunks(full: full, source: source) { payload, first, count in
      try chunks.store(payload, first: first, count: count)
    }
  }
}
