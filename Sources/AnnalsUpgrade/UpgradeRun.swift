import AnnalsFormat
import AnnalsFrames
import AnnalsLog
import AnnalsModel
import AnnalsStorage

/// One upgrade: copies base, large values, transactions and side records of a file of a draft into
/// a new file of version 1, which has no checkpoint but the base's.
///
/// Checks each payload. Memory: a frame and what it decodes to, and the tables of the new file.
struct UpgradeRun: ~Copyable {
  private let source: DraftFile
  private let target: LogSalvage
  private var payloads: DraftPayloads
  private var side = SideState()
  private var batch = ChangeBatch()
  /// The base's directory until it is written; nil if the base is the empty state.
  private var base: CheckpointDirectory?
  private var tombstones = 0
  /// How many transactions were copied.
  private(set) var transactions: Int64 = 0

  /// Begins the new file at `destination`. `original` is the path of the old one.
  init(
    _ source: DraftFile, at destination: String, like original: String?,
    in fileSystem: any FileSystem
  ) throws {
    self.source = source
    payloads = DraftPayloads(draft: source.draft)
    var header = source.header
    let offset = header.baseCheckpointOffset
    if offset != 0 {
      var directory = try source.payload(at: offset, .checkpoint).withBytes { bytes in
        try DraftPayloads.directory(bytes, draft: source.draft)
      }
      guard directory.isBase, directory.number == header.base else {
        throw UpgradeFault.damaged("the checkpoint here is not the base's", at: offset)
      }
      try directory.resolveLists { reference in
        try source.payload(at: reference.offset, .chunk).withBytes { bytes in
          try ReferenceListCodec.decode(bytes)
        }
      }
      side = directory.side
      base = directory
    }
    if case .reading = header.features.permission {
      throw UpgradeFault.newer("it has features that only a later version may write", at: 24)
    }
    header.generation += 1
    target = try LogSalvage(at: destination, like: original, header: header, in: fileSystem)
  }

  /// Writes the new file and puts it in place.
  mutating func run() throws {
    var walk = source.walk()
    while case .frame(let frame) = try walk.next() {
      guard try walk.payloadIsValid(frame) else {
        throw UpgradeFault.damaged("the payload was changed", at: frame.offset)
      }
      do {
        try walk.withPayload(of: frame) { bytes in try copy(frame, bytes) }
      } catch let fault as DecodeFault {
        throw UpgradeFault.damaged("\(fault)", at: frame.offset)
      }
    }
    try target.append(side)
    try target.putInPlace()
  }

  private mutating func copy(
    _ frame: WalkedFrame, _ payload: UnsafeRawBufferPointer
  ) throws {
    let kind = frame.header.kind
    switch kind.role {
    case .transactions:
      batch.removeAll()
      try payloads.transactions(payload, frame.header, into: &batch)
      if let last = batch.transactions.last, !last.isContinued { transactions += count(batch) }
      try target.write(batch)
    case .largeValue:
      let piece = try payloads.largeValuePiece(payload)
      try target.append(piece, isLast: !frame.header.flags.contains(.continued))
    case .tombstones:
      guard let frames = base?.tombstones?.frames, tombstones < frames.count else {
        throw UpgradeFault.damaged("tombstones that the base does not name", at: frame.offset)
      }
      try target.append(tombstones: payload, count: Int(frames[tombstones].count))
      tombstones += 1
    case .checkpoint where frame.offset == source.header.baseCheckpointOffset: try writeBase()
    case .sideRecord:
      side.apply(try SideRecord(payload, of: kind, flags: frame.header.flags))
    case .checkpoint, .chunk, .announcement, .unknown: break
    }
  }

  private func count(_ batch: ChangeBatch) -> Int64 {
    Int64(batch.transactions.lazy.filter { $0.lost == nil }.count)
  }

  /// Writes the base, whose large values and tombstones are written.
  private mutating func writeBase() throws {
    guard let directory = base.take() else { return }
    if let kept = directory.tombstones { try target.remember(after: kept.completeAfter) }
    let log = LogBase(
      directory, names: try entries(of: directory.names),
      openings: try entries(of: directory.openings))
    let source = source
    try target.writeBase(log, schema: directory.schema) { store in
      var entities = directory.entities
      for index in entities.indices {
        try entities[index].replaceChunks { reference in
          try source.payload(at: reference.offset, .chunk).withBytes { bytes in
            try store(bytes, reference.first, reference.count)
          }
        }
      }
      return entities
    }
  }

  /// All entries of a table.
  private func entries<Entry: TableEntry>(of table: TableDirectory<Entry>) throws -> [Entry] {
    var result: [Entry] = []
    for chunk in table.chunks {
      result += try source.payload(at: chunk.offset, .chunk).withBytes { bytes in
        try TableCodec<Entry>.decode(bytes)
      }
    }
    return result + table.entries
  }
}
