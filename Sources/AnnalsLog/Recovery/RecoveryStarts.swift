import AnnalsFormat
import AnnalsFrames
import AnnalsModel

/// The states that a recovery can start from, the best first: the checkpoints that the root slots
/// name; if no directory can be read, those that the chain of frames leads to; the base.
struct RecoveryStarts {
  private let generation: LogGeneration
  private let slots: [RootSlot]
  private let end: UInt64
  /// The offsets of checkpoints to try, the newest first.
  private var ahead: ArraySlice<UInt64> = []
  /// The checkpoints already tried.
  private var tried: [UInt64] = []
  private var mayFollowFrames: Bool

  private static let greatestAttempts = 4

  /// The starts in a log with this end, whose valid slots are `slots`.
  init(
    _ choice: StartChoice, in generation: LogGeneration, slots: [RootSlot], end: EndOfLog
  ) {
    self.generation = generation
    self.slots = slots
    self.end = end.point.offset
    mayFollowFrames = choice == .newest
    guard choice == .newest else { return }
    var offsets = slots.map(\.checkpointOffset)
    if slots.isEmpty, let offset = end.newestCheckpoint { offsets.append(offset) }
    for offset in offsets where offset < end.size {
      if offset == 0 || offset == baseOffset || ahead.contains(offset) { continue }
      ahead.append(offset)
    }
  }

  /// The frame of the base's checkpoint; 0 for the empty state.
  var baseOffset: UInt64 { generation.header.baseCheckpointOffset }

  /// The next checkpoint to try; nil if only the base is left. Without any that the slots name, it
  /// is one that the chain of frames from the log's beginning reaches, if `followsFrames`.
  mutating func nextCheckpoint(followsFrames: Bool) throws(LogError) -> UInt64? {
    if ahead.isEmpty, mayFollowFrames, followsFrames {
      mayFollowFrames = false
      ahead = try earlierCheckpoints()[...]
    }
    guard let next = ahead.popFirst() else { return nil }
    tried.append(next)
    return next
  }

  /// Leaves only the base: a chunk of a checkpoint is damaged, and earlier ones may share it.
  mutating func dropCheckpoints() {
    mayFollowFrames = false
    ahead = []
  }

  /// The last checkpoints that the chain of frames from the log's beginning reaches, the newest
  /// first, without those already tried.
  private func earlierCheckpoints() throws(LogError) -> [UInt64] {
    var walk = FrameWalk(
      generation, from: ChainPoint(beginningOf: generation.header), limit: end)
    var offsets: [UInt64] = []
    while case .frame(let frame) = try walk.step() {
      guard frame.header.kind == .checkpoint, frame.offset != baseOffset else { continue }
      if tried.contains(frame.offset) { continue }
      offsets.append(frame.offset)
      if offsets.count > RecoveryStarts.greatestAttempts { offsets.removeFirst() }
    }
    return offsets.reversed()
  }

  /// What a replay needs besides the state.
  struct Loaded {
    /// The checkpoint's frame; 0 for the empty state at the base.
    let offset: UInt64
    let start: LogStart
    let tables: LogTables
    /// Where the replay begins.
    let point: ChainPoint
  }

  /// Reads what a start needs, from the frame at its offset; 0 stands for the empty state at the
  /// base. Throws `damage` or `decode` if it cannot be used.
  func load(_ offset: UInt64) throws(LogError) -> Loaded {
    let header = generation.header
    guard offset != 0 else {
      let start = LogStart(directory: nil, number: header.base, schema: Schema(), file: generation)
      return Loaded(
        offset: 0, start: start, tables: LogTables(emptyBaseOf: header),
        point: ChainPoint(beginningOf: header))
    }
    let isBase = offset == baseOffset
    let (frame, directory) = try generation.directory(at: offset)
    if let slot = slots.first(where: { $0.checkpointOffset == offset }) {
      guard slot.checkpointNumber == directory.number else {
        throw .damage(at: offset, "a checkpoint of another transaction")
      }
    }
    guard directory.isBase == isBase, directory.number >= header.base,
      !isBase || directory.number == header.base
    else { throw .damage(at: offset, "a checkpoint where another should be") }
    let end = offset + frame.frameLength
    let tables = try LogTables(
      directory, at: CheckpointReference(offset: offset, number: directory.number), end: end,
      in: generation)
    let start = LogStart(
      directory: directory, number: directory.number, schema: directory.schema, file: generation)
    return Loaded(
      offset: offset, start: start, tables: tables,
      point: ChainPoint(
        offset: end, previousChecksum: frame.checksum, previousOffset: offset))
  }
}
