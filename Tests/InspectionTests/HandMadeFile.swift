import AnnalsDescription
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport

/// A file put together frame by frame, as a writer would leave it or as no writer ever would.
struct HandMadeFile {
  var header: FileHeader
  private(set) var writer: FrameWriter
  /// The file's bytes behind the root slots.
  private(set) var log: ContiguousArray<UInt8> = []
  var slots: [RootSlot] = []
  /// The features announced so far: what slots say.
  var announced = Features.none
  /// Zeros behind the log.
  var allocated = 0

  static let store = RawUUID(high: 0x6F96_19FF_8B86_D011, low: 0xB42D_00C0_4FC9_64FF)
  static let start = Timestamp(microseconds: 1_571_768_104_000_000)

  init(base: Int64 = 0, edit: (inout FileHeader) -> Void = { _ in }) {
    header = FileHeader(
      store: HandMadeFile.store, generation: 1, base: base, created: HandMadeFile.start)
    edit(&header)
    _ = header.encode()
    writer = FrameWriter(behind: header)
  }

  /// Where the next frame begins.
  var offset: UInt64 { writer.offset }

  /// Appends a frame; returns where it begins.
  @discardableResult
  mutating func append(
    _ kind: FrameKind, flags: FrameFlags = [], _ payload: ContiguousArray<UInt8>
  ) -> UInt64 {
    let place = writer.offset
    writer.append(kind, flags: flags, payload)
    log += writer.bytes
    writer.removeAll()
    return place
  }

  /// Appends a transaction by row; returns where it begins.
  @discardableResult
  mutating func append(
    _ record: TransactionRecord, _ changes: [SampleStore.Change] = []
  ) -> UInt64 {
    append(.transaction, SampleStore.row(record, changes))
  }

  /// Appends the frame of a chunk; returns a reference to it.
  mutating func append(
    chunk payload: ContiguousArray<UInt8>, _ kind: FrameKind = .chunk, flags: FrameFlags = [],
    first: Int64 = 0, count: UInt32
  ) -> ChunkReference {
    ChunkReference(
      offset: append(kind, flags: flags, payload), length: UInt32(payload.count),
      checksum: payload.withUnsafeBytes { Checksum.crc32($0) }, first: first, count: count)
  }

  /// Appends zeros as if something had been there.
  mutating func appendHole(_ count: Int) {
    log.append(contentsOf: repeatElement(0, count: count))
    writer = FrameWriter(
      seed: header.seed, offset: writer.offset + UInt64(count),
      previousChecksum: writer.previousChecksum, durableMark: writer.durableMark)
  }

  /// Appends an announcement; returns where it begins.
  @discardableResult
  mutating func announce(_ features: Features) -> UInt64 {
    var payload: ContiguousArray<UInt8> = []
    features.append(to: &payload)
    announced.formUnion(features)
    return append(
      .featureAnnouncement, flags: features.required == 0 ? .skippable : [], payload)
  }

  /// Says that everything so far is synced.
  mutating func sync() { writer.durableMark = writer.offset }

  /// Writes the two root slots of a clean close.
  mutating func close(head: Int64, checkpoint: (offset: UInt64, number: Int64)? = nil) {
    for _ in 0..<2 { writeSlot(head: head, checkpoint: checkpoint) }
  }

  /// Writes a root slot that names all so far.
  mutating func writeSlot(head: Int64, checkpoint: (offset: UInt64, number: Int64)? = nil) {
    var slot = RootSlot(
      sequence: UInt64(slots.count) + 3, durableMark: writer.offset, head: head,
      markChecksum: writer.previousChecksum)
    if let checkpoint {
      slot.checkpointOffset = checkpoint.offset
      slot.checkpointNumber = checkpoint.number
    }
    slot.extent = writer.offset + UInt64(allocated)
    slot.announced = announced
    slots.append(slot)
    sync()
  }

  /// All bytes of the file.
  var bytes: ContiguousArray<UInt8> {
    var header = header
    var result = header.encode()
    for index in 0..<2 {
      // Where none was written, that of the file's beginning stands.
      let first = RootSlot(
        sequence: 2 - UInt64(index), durableMark: FormatLimits.logStart, head: header.base,
        markChecksum: header.checksum)
      result += (slots.last { $0.index == index } ?? first).encode(seed: header.seed)
    }
    return result + log + ContiguousArray(repeating: 0, count: allocated)
  }
}

extension ContiguousArray<UInt8> {
  /// The bytes as an open file.
  func opened() -> any StorageFile { FixedFile(self) }

  func flipping(bit: Int, ofByte index: Int) -> ContiguousArray<UInt8> {
    var result = self
    result[index] ^= 1 << UInt8(bit)
    return result
  }
}

/// All findings about the bytes.
func findings(in bytes: ContiguousArray<UInt8>) throws -> [Finding] {
  var verification = try PhysicalVerification(bytes.opened())
  var findings: [Finding] = []
  _ = try verification.run { findings.append($0) }
  return findings
}

/// What a verification of the bytes says in sum.
func report(on bytes: ContiguousArray<UInt8>) throws -> PhysicalReport {
  var verification = try PhysicalVerification(bytes.opened())
  return try verification.run { _ in }
}

/// The figures of the bytes, which count every byte once.
func statistics(of bytes: ContiguousArray<UInt8>) throws -> FileStatistics {
  var verification = try StatisticsVerification(bytes.opened())
  return try verification.run { _ in }.statistics
}

/// All regions of the bytes.
func regions(in bytes: ContiguousArray<UInt8>) throws -> [FileRegion] {
  var walk = try FileWalk(bytes.opened())
  var regions: [FileRegion] = []
  while let region = try walk.next() { regions.append(region) }
  return regions
}
