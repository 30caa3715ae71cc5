import AnnalsFormat
import AnnalsModel

// Saved states of projections. They are looked for when one is wanted: opening a store, and
// following one, cost nothing for them. Whatever of them cannot be read is as if it were not there.

/// The state of a projection, to be saved.
package struct ProjectionImage: Sendable {
  /// What the program calls the projection.
  package var name: String
  /// Which version of the program's code it is of.
  package var version: Int64
  /// The position that it is level with.
  package var position: Token
  /// The program's own bytes, at most `SavedProjection.maximumState`.
  package var state: ContiguousArray<UInt8>

  package init(
    name: String, version: Int64, position: Token, state: ContiguousArray<UInt8>
  ) {
    self.name = name
    self.version = version
    self.position = position
    self.state = state
  }
}

extension LogGeneration {
  /// What the directory at this offset says of saved projections, and the directory.
  private func projections(
    at offset: UInt64
  ) -> (directory: CheckpointDirectory, saved: [SavedProjection])? {
    guard let (_, bytes) = try? payload(at: offset, kind: .checkpoint),
      let directory = try? bytes.withBytes({ bytes throws(DecodeFault) in
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

  /// What the directory of a checkpoint says of saved projections.
  func savedProjections(at place: CheckpointReference?) -> [SavedProjection] {
    place.flatMap { projections(at: $0.offset) }?.saved ?? []
  }

  /// The latest state of a projection not after `number` that a directory from this one backward
  /// names. Each lies before the last, so that a crafted file cannot make this go round for ever.
  func savedProjection(
    _ name: String, version: Int64, atOrBefore number: Int64, from start: CheckpointReference?
  ) -> SavedProjection? {
    var place = start
    while let next = place, let (directory, list) = projections(at: next.offset) {
      let saved = list.first { $0.isNamed(name) && $0.version == version }
      // What an earlier directory has and this one has not was left out for a reason.
      guard let saved else { return nil }
      if saved.number <= number { return saved }
      place = directory.previousCheckpoint.flatMap { $0.offset < next.offset ? $0 : nil }
    }
    return nil
  }

  /// The bytes of a saved projection. Throws `damage` or `decode` if they are not there as said.
  func state(of saved: SavedProjection) throws(LogError) -> ContiguousArray<UInt8> {
    let payload = try chunk(saved.chunk)
    let contents: ProjectionCodec.Contents
    do {
      contents = try payload.withBytes { bytes throws(DecodeFault) in
        try ProjectionCodec.decode(bytes)
      }
    } catch {
      throw .decode(error, at: saved.chunk.offset)
    }
    guard saved.isNamed(contents.name), contents.version == saved.version,
      contents.number == saved.number
    else {
      throw .damage(
        LogDamage(offset: saved.chunk.offset, reason: "the state of another projection"))
    }
    return contents.state
  }
}

extension LogView {
  /// The projections of which a state is saved with the newest checkpoint. Reads its directory.
  package var savedProjections: [SavedProjection] {
    file.savedProjections(at: tables.checkpoint)
  }

  /// The latest saved state of a projection, in this version, not after a transaction; nil if there
  /// is none. Reads the directories of checkpoints behind it.
  package func savedProjection(
    _ name: String, version: Int64, atOrBefore number: Int64
  ) -> SavedProjection? {
    file.savedProjection(name, version: version, atOrBefore: number, from: tables.checkpoint)
  }

  /// The bytes that a program made of its projection. Throws `damage` or `decode` if they are not
  /// there as said.
  package func state(of saved: SavedProjection) throws(LogError) -> ContiguousArray<UInt8> {
    try file.state(of: saved)
  }
}
