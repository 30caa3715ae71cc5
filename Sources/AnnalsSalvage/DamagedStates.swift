import AnnalsEngine
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

/// Loads states from the checkpoints of a damaged file.
struct DamagedStates {
  let source: FrameSource

  /// A state, and whether all of it could be read.
  struct Loaded {
    var state: State
    var isWhole: Bool
  }

  /// The readable part of a checkpoint's state; nil if none can be loaded.
  ///
  /// An unreadable index is rebuilt. An unreadable chunk of rows costs its objects, one of a column
  /// their values.
  func load(_ directory: CheckpointDirectory) throws -> Loaded? {
    var readable = directory
    var isWhole = true
    for index in readable.entities.indices {
      isWhole = try keepReadable(&readable.entities[index]) && isWhole
    }
    var found = whole(readable)
    if found?.isSound != true {
      // An index that lacks objects, or one of two with the same key, is rebuilt, too.
      for index in readable.entities.indices { readable.entities[index].indexes = [] }
      found = whole(readable)
    }
    guard let loaded = found else { return nil }
    return Loaded(state: loaded.state, isWhole: isWhole && loaded.isSound)
  }

  /// The state of a directory, read completely, and whether it keeps its own rules. Nil if a part
  /// of it cannot be read.
  private func whole(_ directory: CheckpointDirectory) -> (state: State, isSound: Bool)? {
    do {
      var state = try State(directory: directory, source: DamagedChunks(source: source))
      let collides = try !state.collisions().isEmpty
      let isSound = try state.invariantViolations().isEmpty && !collides
      _ = try state.largeValues()
      return (state, isSound)
    } catch {
      return nil
    }
  }

  private func keepReadable(_ entity: inout EntityDirectory) throws -> Bool {
    var isWhole = true
    var missing: Set<Int64> = []
    entity.rows = try entity.rows.filter { reference in
      if try source.chunk(reference) != nil { return true }
      isWhole = false
      missing.insert(group(of: reference))
      entity.liveCount -= Int64(reference.count)
      return false
    }
    for index in entity.columns.indices {
      entity.columns[index].chunks = try entity.columns[index].chunks.filter { reference in
        if missing.contains(group(of: reference)) { return false }
        if try source.chunk(reference) != nil { return true }
        isWhole = false
        return false
      }
    }
    entity.columns.removeAll { $0.chunks.isEmpty }
    entity.indexes = try entity.indexes.filter { index in
      guard missing.isEmpty else { return false }
      return try index.chunks.allSatisfy { try source.chunk($0.reference) != nil }
    }
    return isWhole
  }

  /// The group of 4,096 rows of a chunk.
  private func group(of reference: ChunkReference) -> Int64 { (reference.first - 1) >> 12 }

  /// The schema as of a transaction, from a directory's schema history; nil if that cannot be read.
  func schema(at number: Int64, in directory: CheckpointDirectory) throws -> Schema? {
    guard let steps = try source.entries(of: directory.schemaHistory) else { return nil }
    var schema = Schema()
    for step in steps where step.number <= number { schema.apply(step.change) }
    return schema
  }
}

/// The chunks of a damaged file.
struct DamagedChunks: ChunkSource {
  let source: FrameSource

  func chunk(_ reference: ChunkReference) throws(StateFault) -> ContiguousArray<UInt8> {
    let payload: ContiguousArray<UInt8>?
    do throws(StorageError) {
      payload = try source.chunk(reference)
    } catch {
      throw .chunk(.unreadable(error), at: reference.offset)
    }
    guard let payload else { throw .chunk(.checksum, at: reference.offset) }
    return payload
  }
}
