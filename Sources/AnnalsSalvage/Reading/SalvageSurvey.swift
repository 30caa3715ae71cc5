import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsStorage

/// What can be read of a damaged file: unbroken runs of transactions, and the checkpoints and large
/// values that are intact. The first pass of a salvage.
///
/// Memory: a few words for each run, checkpoint and large value.
package struct SalvageSurvey: Sendable {
  /// Transactions whose numbers follow one another without a gap.
  package struct Run: Hashable, Sendable {
    package var first: Int64
    package var last: Int64
    /// The offset of the frame with the first transaction.
    package var firstOffset: UInt64
    /// The first number in that frame, which may hold others before the run.
    package var frameFirst: Int64
    /// Why the bytes before it could not be read, in words; empty if all could.
    package var reason: String
    /// The bytes before it that could not be read.
    package var lostBytes: Range<UInt64>
    package var firstTimestamp: Timestamp
  }

  /// The intact directory of a checkpoint.
  package struct Checkpoint: Hashable, Sendable {
    package var offset: UInt64
    package var number: Int64
    package var isBase: Bool
  }

  /// A large value whose pieces are all there.
  package struct WholeLargeValue: Hashable, Sendable {
    package var number: UInt64
    package var length: UInt64
    package var offset: UInt64
    package var checksum: UInt32
    /// Whether it says that its bytes were lost in an earlier salvage.
    package var isLost = false

    /// Whether its length and checksum are those that a record gives.
    package func matches(_ value: LargeValue) -> Bool {
      length == value.length && (isLost || checksum == value.checksum)
    }
  }

  package private(set) var runs: [Run] = []
  package private(set) var checkpoints: [Checkpoint] = []
  /// What the side records add up to, according to the last readable frames.
  package private(set) var side = SideState()
  /// What the base's directory says of tombstones.
  package private(set) var tombstones: KeptTombstones?
  /// The offsets of the readable frames of tombstones.
  package private(set) var tombstoneOffsets: [UInt64] = []
  /// In the order of the file.
  package private(set) var largeValues: [WholeLargeValue] = []
  /// The references to large values, by number: the first that matches the intact value of that
  /// number, otherwise the first.
  package private(set) var mentioned: [UInt64: LargeValue] = [:]
  /// The bytes behind the last run that could not be read, and why; nil if there are none.
  package private(set) var rest: (bytes: Range<UInt64>, reason: String)?
  private var witness = EndWitness()
  /// The greatest number that certainly existed: from a valid root slot's head, the header's base,
  /// or a checkpoint; 0 without any.
  package private(set) var slotHead: Int64 = 0
  /// The greatest durable mark of a slot that names this head.
  package private(set) var slotMark: UInt64 = 0
  /// What only a newer version can read, in words, and the offset of its frame; nil if there is
  /// nothing.
  package private(set) var newerForm: (what: String, offset: UInt64)?
  /// The features announced in slots and frames, and those that readable contents use: what
  /// announced these may be lost.
  package private(set) var announced = Features.none
  /// Required features that only a newer version knows, and the offset of the header, slot or frame
  /// that names them; nil if there are none.
  package private(set) var newerFeatures: (bits: UInt64, offset: UInt64)?
  /// The header, recovered if it is damaged; nil if it cannot be recovered.
  package let header: FileHeader?
  /// Whether the first block is a valid header.
  package let headerVerdict: HeaderVerdict
  package let fileSize: UInt64

  /// Reads an open file twice: for its frames, and its transactions. Throws if the system cannot
  /// read.
  package init(_ file: any StorageFile) throws(StorageError) {
    let walk = try FileWalk(file)
    header = walk.restoredHeader
    headerVerdict = walk.header
    fileSize = walk.size
    try survey(frames: walk)
    try survey(transactionsOf: file)
    let known = max(header?.base ?? 0, checkpoints.map(\.number).max() ?? 0)
    if known > slotHead {
      slotHead = known
      slotMark = 0
    }
  }

  private mutating func survey(frames start: FileWalk) throws(StorageError) {
    var walk = start
    var pieces = PieceAssembly()
    while let region = try walk.next() {
      witness.visit(region)
      switch region.content {
      case .header(.damaged(.unknownFeatures(let bits))): newerFeatures = (bits, 0)
      case .slot(_, .damaged(.unknownFeatures(_, let bits))): newerFeatures = (bits, region.offset)
      case .slot(_, .valid(let slot)): note(slot)
      case .damaged(.newerFrame(let reason)): newerForm = (reason, region.offset)
      default: break
      }
      guard let frame = region.frame, frame.payload == .valid else {
        pieces.open = nil
        if let frame = region.frame { noteUnreadable(frame.header.kind, at: region.offset) }
        continue
      }
      let kind = frame.header.kind
      if !kind.isKnown, !frame.header.flags.contains(.skippable) {
        newerForm = ("it has a frame of kind \(kind.rawValue)", region.offset)
      }
      if kind != .largeValue { pieces.open = nil }
      switch kind.role {
      case .transactions, .unknown: break
      case .chunk:
        announced.formUnion(
          try walk.withPayload(of: frame, at: region.offset) { Features(usedByChunk: $0) })
      case .announcement:
        note(
          try walk.decode(frame, in: region, Features.init(announcement:flags:)), at: region.offset)
      case .largeValue: try note(largeValue: frame, in: region, &walk, &pieces)
      case .sideRecord: try note(sideRecord: frame, in: region, &walk)
      case .tombstones: tombstoneOffsets.append(region.offset)
      case .checkpoint: try note(checkpoint: frame, in: region, &walk)
      }
    }
  }

  private mutating func note(
    largeValue frame: InspectedFrame, in region: FileRegion, _ walk: inout FileWalk,
    _ pieces: inout PieceAssembly
  ) throws(StorageError) {
    let frames = walk.frames
    var decoded = try walk.decode(frame, in: region) { (payload, _) throws(DecodeFault) in
      try LargeValueCodec.decode(payload).owned()
    }
    if case .success(let piece) = decoded, piece.base != nil, let frames {
      decoded = try frames.made(piece, offset(ofLargeValue:))
    }
    let piece: LargeValuePiece
    do throws(DecodeFault) {
      piece = try decoded.get()
    } catch {
      note(error, at: region.offset)
      pieces.open = nil
      return
    }
    let isLast = !frame.header.flags.contains(.continued)
    let largeValue = pieces.append(piece, at: region.offset, isLast: isLast)
    if let largeValue, largeValue.number > largeValues.last?.number ?? 0 {
      largeValues.append(largeValue)
    }
  }

  /// Where the intact large value with this number begins; nil if none was found.
  package func offset(ofLargeValue number: UInt64) -> UInt64? {
    var places = largeValues[...]
    while let middle = places.dropFirst(places.count / 2).first {
      if middle.number == number { return middle.offset }
      let half = places.startIndex + places.count / 2
      places = middle.number < number ? places[(half + 1)...] : places[..<half]
    }
    return nil
  }

  private mutating func note(
    sideRecord frame: InspectedFrame, in region: FileRegion, _ walk: inout FileWalk
  ) throws(StorageError) {
    let kind = frame.header.kind
    let record = try walk.decode(frame, in: region) { (payload, flags) throws(DecodeFault) in
      try SideRecord(payload, of: kind, flags: flags)
    }
    switch record {
    case .success(let record): side.apply(record)
    case .failure(let fault):
      note(fault, at: region.offset)
      noteUnreadable(kind, at: region.offset)
    }
  }

  private mutating func note(
    checkpoint frame: InspectedFrame, in region: FileRegion, _ walk: inout FileWalk
  ) throws(StorageError) {
    let decoded = try walk.decode(frame, in: region) { (payload, _) throws(DecodeFault) in
      try CheckpointDirectory.decode(payload)
    }
    switch decoded {
    case .failure(let fault): note(fault, at: region.offset)
    case .success(let directory):
      announced.formUnion(Features(definedBy: directory.schema.entities.map(EntityChange.init)))
      if !directory.migrations.isEmpty { announced.formUnion(.migrations) }
      side = directory.side
      if directory.isBase { tombstones = directory.tombstones }
      checkpoints.append(
        Checkpoint(offset: region.offset, number: directory.number, isBase: directory.isBase))
    }
  }

  private mutating func note(_ announcement: Result<Features, DecodeFault>, at offset: UInt64) {
    switch announcement {
    case .success(let features): announced.formUnion(features)
    case .failure(.unknownFeatures(_, let bits)): newerFeatures = (bits, offset)
    case .failure: break
    }
  }

  /// Notes that a frame with the right checksum cannot be read, which a later version can.
  private mutating func note(_ fault: DecodeFault, at offset: UInt64) {
    if fault.isNewer { newerForm = ("\(fault)", offset) }
  }

  /// Notes a frame whose contents are lost: what it may have said must not cost any history.
  private mutating func noteUnreadable(_ kind: FrameKind, at offset: UInt64) {
    let start = Timestamp(microseconds: 0)
    side.applyUnreadable(kind, at: offset, base: header?.base ?? 0, now: start)
  }

  private mutating func note(_ slot: RootSlot) {
    announced.formUnion(slot.announced)
    if slot.head > slotHead { slotMark = 0 }
    guard slot.head >= slotHead else { return }
    slotHead = slot.head
    slotMark = max(slotMark, slot.durableMark)
  }

  /// How many bytes behind `head`, the greatest number known, could not be read, and why; 0 bytes
  /// if transactions may have been there and are gone. Nil if nothing suggests that there were
  /// more.
  package func rest(behind head: Int64) -> (bytes: UInt64, reason: String)? {
    if let rest, !proves(head, upTo: rest.bytes.upperBound) {
      let start = slotHead == head ? max(rest.bytes.lowerBound, slotMark) : rest.bytes.lowerBound
      return (rest.bytes.upperBound - min(start, rest.bytes.upperBound), rest.reason)
    }
    if fileSize < FormatLimits.logStart {
      // No store is that short: what was cut off, and how much, nothing tells.
      return (0, "the file ends within its first blocks")
    }
    return witness.reasonForMore(behind: head, size: fileSize).map { (0, $0) }
  }

  /// Whether the file proves where it ended. If it does not, what a killed process wrote last may
  /// be gone without a trace, with zeros in its place.
  package var provesEnd: Bool { witness.provesEnd(size: fileSize) }

  /// Whether a slot or a checkpoint proves that `head` was the last transaction before `offset`.
  private func proves(_ head: Int64, upTo offset: UInt64) -> Bool {
    if slotHead == head, slotMark >= offset { return true }
    return checkpoints.contains { $0.offset >= offset && $0.number == head }
  }

  /// Assembles large values from their pieces.
  private struct PieceAssembly {
    var open: (value: LargeValueAssembly, offset: UInt64)?

    /// Adds the next piece; returns the value that it completes, if any.
    mutating func append(
      _ part: LargeValuePiece, at offset: UInt64, isLast: Bool
    ) -> WholeLargeValue? {
      if part.isFirst { open = (LargeValueAssembly(part), offset) }
      guard var largeValue = open, largeValue.value.add(part) else {
        open = nil
        return nil
      }
      open = isLast ? nil : largeValue
      guard isLast, largeValue.value.isWhole else { return nil }
      return WholeLargeValue(
        number: largeValue.value.number, length: largeValue.value.length, offset: largeValue.offset,
        checksum: largeValue.value.checksum, isLost: largeValue.value.isLost)
    }
  }

  private mutating func survey(transactionsOf file: any StorageFile) throws(StorageError) {
    let whole = Dictionary(largeValues.map { ($0.number, $0) }) { first, _ in first }
    var transactions = try ReadableTransactions(file)
    var lost: (bytes: Range<UInt64>, reason: String)?
    while let item = try transactions.next() {
      switch item {
      case .hole(let hole): lost = (hole.bytes, hole.reason)
      case .transactions(let offset):
        note(transactions.batch, at: offset, lost)
        noteLargeValues(of: transactions.batch, whole)
        lost = nil
      }
    }
    rest = lost
    if let (fault, offset) = transactions.newer { note(fault, at: offset) }
  }

  private mutating func note(
    _ batch: ChangeBatch, at offset: UInt64, _ lost: (bytes: Range<UInt64>, reason: String)?
  ) {
    announced.formUnion(Features(usedBy: batch))
    for record in batch.transactions where record.part == 0 {
      if let last = runs.indices.last, runs[last].last == record.firstNumber - 1 {
        runs[last].last = record.number
      } else {
        runs.append(
          Run(
            first: record.firstNumber, last: record.number, firstOffset: offset,
            frameFirst: batch.transactions.first?.firstNumber ?? record.firstNumber,
            reason: lost?.reason ?? "", lostBytes: lost?.bytes ?? offset..<offset,
            firstTimestamp: record.timestamp))
      }
    }
  }

  /// Records the references to large values in a batch.
  private mutating func noteLargeValues(of batch: ChangeBatch, _ whole: [UInt64: WholeLargeValue]) {
    batch.forEachLargeValue { value in
      if mentioned[value.number] == nil || whole[value.number]?.matches(value) == true {
        mentioned[value.number] = value
      }
    }
  }
}
