import AnnalsFormat
import AnnalsFrames
import AnnalsModel

// Saved states of projections. They are searched for only when wanted: opening and following a
// store cost nothing for them. One that cannot be read counts as missing.

/// The state of a projection, to be saved.
package struct ProjectionImage: Sendable {
  /// The program's name for the projection.
  package var name: String
  /// The version of the program's code that made it.
  package var version: Int64
  /// The position that it is as of.
  package var position: Token
  /// The generation of the file whose history it was made from. One made before an erasure may
  /// contain what the next generation has erased.
  package var generation: UInt64
  /// The program's own bytes, at most `SavedProjection.maximumState`.
  package var state: ContiguousArray<UInt8>

  package init(
    name: String, version: Int64, position: Token, generation: UInt64,
    state: ContiguousArray<UInt8>
  ) {
    self.name = name
    self.version = version
    self.position = position
    self.generation = generation
    self.state = state
  }
}

extension LogGeneration {
  /// The directory at this offset, and the saved projections that it lists.
  private func projections(
    at offset: UInt64
  ) -> (directory: CheckpointDirectory, saved: [SavedProjection])? {
    guard let frame = try? frame(at: offset, kind: .checkpoint),
      let directory = try? frame.payload.withBytes({ bytes throws(DecodeFault) in
        try CheckpointDirectory.decode(bytes)
      })
    else { return nil }
    let projections = directory.projections
    guard let projections, projections.generation == header.generation else {
      return (directory, [])
    }
    let known = header.base...max(header.base, directory.number)
    return (directory, projections.list.filter { known.contains($0.number) })
  }

  /// The saved projections that a checkpoint's directory lists.
  func savedProjections(at place: CheckpointReference?) -> [SavedProjection] {
    place.flatMap { projections(at: $0.offset) }?.saved ?? []
  }

  /// The latest saved state of a projection at or before `number`, in this directory or an earlier
  /// one. Each directory lies before the last, so a crafted file cannot make this loop for ever.
  func savedProjection(
    _ name: String, version: Int64, atOrBefore number: Int64, from start: CheckpointReference?
  ) -> SavedProjection? {
    var place = start
    while let next = place, let (directory, list) = projections(at: next.offset) {
      let saved = list.first { $0.isNamed(name) && $0.version == version }
      // A projection that an earlier directory lists and this one does not was dropped on purpose.
      guard let saved else { return nil }
      if saved.number <= number { return saved }
      place = directory.previousCheckpoint.flatMap { $0.offset < next.offset ? $0 : nil }
    }
    return nil
  }

  /// The bytes of a saved projection. Throws `damage` or `decode` if they are damaged.
  func state(of saved: SavedProjection) throws(LogError) -> ContiguousArray<UInt8> {
    let place = saved.chunk.offset
    let contents = try chunk(saved.chunk).decoded(at: place) { bytes throws(DecodeFault) in
      try ProjectionCodec.decode(bytes)
    }
    guard saved.isNamed(contents.name), contents.version == saved.version,
      contents.number == saved.number
    else { throw .damage(at: place, "the state of another projection") }
    return contents.state
  }
}

extension LogView {
  /// The generation of the file.
  package var generation: UInt64 { file.header.generation }

  /// Whether a projection that was made from this generation of the file may be used with this one.
  /// False if it may contain what was erased meanwhile.
  package func mayContinue(from generation: UInt64) -> Bool {
    generation == self.generation || !features.contains(.erasure)
  }

  /// The projections saved with the newest checkpoint. Reads its directory.
  package var savedProjections: [SavedProjection] {
    file.savedProjections(at: tables.checkpoint)
  }

  /// The latest state of a projection, saved by this version of its code, at or before a
  /// transaction; nil if there is none. Reads the directories of later checkpoints.
  package func savedProjection(
    _ name: String, version: Int64, atOrBefore number: Int64
  ) -> SavedProjection? {
    file.savedProjection(name, version: version, atOrBefore: number, from: tables.checkpoint)
  }

  /// The bytes that a program made of its projection. Throws `damage` or `decode` if they are
  /// damaged.
  package func state(of saved: SavedProjection) throws(LogError) -> ContiguousArray<UInt8> {
    try file.state(of: saved)
  }
}
