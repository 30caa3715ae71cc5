import AnnalsFormat
import AnnalsFrames
import AnnalsModel
import AnnalsStorage

/// A file that was written before version 1: its header, its end, and a walk over its frames, whose
/// headers are those of version 1.
///
/// Memory: a window of the file, or a payload.
struct DraftFile {
  /// Draft 2 or 3 of version 0.
  let draft: UInt32
  /// What the header says, with the features announced up to the end of the log.
  let header: FileHeader
  /// The last transaction that a root slot proves.
  let provenHead: Int64
  /// How many bytes follow the end of the log: a commit that was never whole, and its room.
  let tornBytes: UInt64
  private let file: any StorageFile
  private let start: ChainPoint
  private let end: UInt64
  private let size: UInt64

  /// The drafts that can be read.
  static let readable: ClosedRange<UInt32> = 2...3

  /// Reads header and slots, and finds the end of the log. Throws `UpgradeFault`, `StorageError`.
  init(_ file: any StorageFile) throws {
    self.file = file
    size = try file.size()
    var window = FileWindow(file, size: size)
    let block = try window.copy(at: 0, count: FormatLimits.blockLength)
    draft = try DraftFile.draft(of: block)
    guard let checksum = DraftFile.seal(of: block, { Checksum.crc32($0) }) else {
      throw HeaderFault.checksum
    }
    var header = try DraftFile.inVersion1(block, headerAt: 0) { Checksum.crc32($0) }
      .withBytes { bytes throws(HeaderFault) in try FileHeader.decode(bytes) }
    start = ChainPoint(offset: FormatLimits.logStart, previousChecksum: checksum)
    var slots: [RootSlot] = []
    for (index, offset) in FormatLimits.slotOffsets.enumerated() {
      let block = try window.copy(at: offset, count: FormatLimits.blockLength)
      if let slot = try DraftFile.slot(block, index: index, seed: header.seed) {
        slots.append(slot)
      }
    }
    guard !slots.isEmpty else {
      throw UpgradeFault.damaged("neither root slot is whole", at: FormatLimits.slotOffsets[0])
    }
    slots.sort { $0.sequence > $1.sequence }
    provenHead = slots.map(\.head).max() ?? 0
    let search = try EndSearch(
      in: FrameWalk(window, seed: header.seed, from: start), slots: EndSearch.Slots(slots),
      passesUnknown: false)
    if let why = search.why, why.isNewer {
      throw UpgradeFault.newer(why.reason, at: search.badSpot)
    }
    switch search.tail {
    case .clean, .unclosed: tornBytes = 0
    case .unfinished: tornBytes = size - search.point.offset
    case .damaged: throw UpgradeFault.damaged(search.reason, at: search.badSpot)
    }
    end = search.point.offset
    for slot in slots { header.features.formUnion(slot.announced) }
    header.features.formUnion(search.announced)
    self.header = header
  }

  /// A walk over all frames of the log.
  func walk() -> FrameWalk {
    var walk = FrameWalk(FileWindow(file, size: size), seed: header.seed, from: start)
    walk.limit = end
    return walk
  }

  /// The payload of the frame at this offset, which is of this kind. Throws `UpgradeFault` if none
  /// is there, or it was changed.
  func payload(at offset: UInt64, _ kind: FrameKind) throws -> ContiguousArray<UInt8> {
    var window = FileWindow(file, size: size, leastRead: 0)
    let step = try window.frame(at: offset, seed: header.seed, kind: kind)
    guard let frame = step.frame else {
      throw UpgradeFault.damaged("the \(kind.name) that should be here is not", at: offset)
    }
    return frame.payload
  }

  // MARK: Header and slots

  /// The draft that the header names.
  private static func draft(of block: ContiguousArray<UInt8>) throws -> UInt32 {
    do throws(HeaderFault) {
      _ = try block.withBytes { bytes throws(HeaderFault) in try FileHeader.decode(bytes) }
    } catch {
      guard case .olderDraft(let draft) = error else { throw error }
      guard readable.contains(draft) else { throw UpgradeFault.unreadableDraft(draft) }
      return draft
    }
    throw UpgradeFault.isVersion1
  }

  /// The checksum at the end of a block; nil if it is not that of the rest.
  private static func seal(
    of block: ContiguousArray<UInt8>, _ checksum: (UnsafeRawBufferPointer) -> UInt32
  ) -> UInt32? {
    guard block.count == FormatLimits.blockLength else { return nil }
    return block.withUnsafeBytes { bytes in
      let end = bytes.count - 4
      let stored = bytes.loadUnaligned(fromByteOffset: end, as: UInt32.self).littleEndian
      return stored == checksum(UnsafeRawBufferPointer(rebasing: bytes[..<end])) ? stored : nil
    }
  }

  /// The block with version 1 in place of the draft in the header that begins there, sealed anew.
  private static func inVersion1(
    _ block: ContiguousArray<UInt8>, headerAt start: Int,
    _ checksum: (UnsafeRawBufferPointer) -> UInt32
  ) -> ContiguousArray<UInt8> {
    var version: ContiguousArray<UInt8> = []
    version.append(fixed: FormatLimits.version)
    version.append(fixed: 0 as UInt32)
    let place = start + FileHeader.magic.count
    var result = block
    result.replaceSubrange(place..<place + version.count, with: version)
    result.removeLast(4)
    result.append(fixed: result.withUnsafeBytes(checksum))
    return result
  }

  /// A slot; nil if it is not whole.
  private static func slot(
    _ block: ContiguousArray<UInt8>, index: Int, seed: FrameSeed
  ) throws -> RootSlot? {
    func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
      seed.checksum(bytes, at: FormatLimits.slotOffsets[index])
    }
    guard seal(of: block, checksum) != nil else { return nil }
    let hasHeader = block[RootSlot.headerOffset] != 0
    let slot =
      hasHeader ? inVersion1(block, headerAt: RootSlot.headerOffset, checksum) : block
    return try slot.withBytes { bytes throws(DecodeFault) in
      try RootSlot.decode(bytes, index: index, seed: seed)
    }
  }
}

/// Why a file cannot be upgraded.
enum UpgradeFault: Error {
  /// It is of version 1 already.
  case isVersion1
  /// It is of a draft that is no longer read.
  case unreadableDraft(UInt32)
  /// It needs what only a later version knows.
  case newer(String, at: UInt64)
  /// It is damaged.
  case damaged(String, at: UInt64)
}
