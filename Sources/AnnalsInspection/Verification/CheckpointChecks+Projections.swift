import AnnalsFormat
import AnnalsModel
import AnnalsStorage

// What a directory says of saved projections. None of it is needed: what is wrong with it, also in
// the base's, is a warning.
extension CheckpointChecks {
  mutating func judgeProjections(
    _ directory: CheckpointDirectory, at offset: UInt64, blobs: inout BlobChecks,
    in walk: inout FileWalk, _ log: inout FindingLog
  ) throws(StorageError) {
    // A list that was written for another file says nothing.
    guard let header, let projections = directory.projections,
      projections.generation == header.generation
    else { return }
    for saved in projections.list {
      guard header.base <= saved.number, saved.number <= directory.number else {
        log.warning(
          .checkpoint, at: offset,
          "the checkpoint of transaction \(directory.number) has a state of the projection "
            + "\"\(saved.name)\" as of \(saved.number)", remedy: Remedy.compact)
        continue
      }
      let role = ChunkRole.projection(name: saved.name, version: saved.version)
      try judge(
        [saved.chunk], as: role, at: Place(offset: offset, isBase: false), blobs: &blobs,
        in: &walk, &log)
    }
  }
}
