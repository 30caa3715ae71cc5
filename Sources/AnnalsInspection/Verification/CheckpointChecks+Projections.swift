import AnnalsFormat
import AnnalsModel
import AnnalsStorage

// Saved projections. They can be rebuilt, so a fault is a warning, even in the base's directory.
extension CheckpointChecks {
  mutating func checkProjections(
    _ directory: CheckpointDirectory, at offset: UInt64, largeValues: inout LargeValueChecks,
    in walk: inout FileWalk, _ log: inout FindingLog
  ) throws(StorageError) {
    guard let header, let projections = directory.projections else { return }
    // Readers ignore a list that was written for another generation: its states may contain what
    // this one has erased.
    guard projections.generation == header.generation else {
      return log.note(
        .checkpoint, at: offset,
        "the checkpoint of transaction \(directory.number) lists saved projections of generation "
          + "\(projections.generation) of the file, which is \(header.generation): they are "
          + "ignored")
    }
    for saved in projections.list {
      guard header.base <= saved.number, saved.number <= directory.number else {
        log.warning(
          .checkpoint, at: offset,
          "the checkpoint of transaction \(directory.number) has a state of the projection "
            + "\"\(saved.name)\" as of \(saved.number)", remedy: Remedy.compact)
        continue
      }
      let role = ChunkRole.projection(name: saved.name, version: saved.version)
      try check(
        [saved.chunk], as: role, at: Place(offset: offset, isBase: false),
        largeValues: &largeValues, in: &walk, &log)
    }
  }
}
