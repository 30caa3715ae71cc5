import AnnalsModel

/// The first 4096 bytes of a file, written once for each generation.
///
/// FORMAT.md, "Header", has the table of fields.
package struct FileHeader: Hashable, Sendable {
  /// The features in use since this generation was made.
  package var features = Features.none
  /// The store's identity.
  package var store: RawUUID
  /// From 1; one more with each rewrite.
  package var generation: UInt64
  /// The base: the file holds the state as of this transaction and all later transactions.
  package var base: Int64
  /// When this generation was made.
  package var created: Timestamp
  /// Where the checkpoint of the base's state is; 0 where the base is the empty state.
  package var baseCheckpointOffset: UInt64 = 0
  /// The greatest timestamp of transactions up to the base; 0 where the base is 0.
  package var baseTimestamp = Timestamp(microseconds: 0)
  /// When transactions were last pruned; nil if none ever were.
  package var prunedAt: Timestamp?
  /// Who pruned them: at most 64 bytes of UTF-8, cut by `encode` where a character ends.
  package var prunedBy = ""
  /// The header's own checksum: what the first frame names as its predecessor. Set by `decode`;
  /// `encode` returns it within the bytes.
  package internal(set) var checksum: UInt32 = 0

  /// The first eight bytes of every file.
  package static let magic: [UInt8] = [0x89, 0x41, 0x4E, 0x4C, 0x53, 0x0D, 0x0A, 0x1A]
  /// How many bytes of a header say something; all behind them but the checksum are zeros.
  package static let usedLength = 168
  /// The greatest count of bytes in `prunedBy`.
  package static let maximumNameLength = 64

  package init(store: RawUUID, generation: UInt64, base: Int64, created: Timestamp) {
    self.store = store
    self.generation = generation
    self.base = base
    self.created = created
  }

  /// The greatest timestamp of transactions up to the base: before any other where there is none.
  package var greatestTimestamp: Timestamp { base == 0 ? .min : baseTimestamp }

  /// What frames and slots of this file are checked with.
  package var seed: FrameSeed { FrameSeed(store: store, generation: generation) }

  /// The 4096 bytes of the header; sets `checksum`.
  package mutating func encode() -> ContiguousArray<UInt8> {
    var bytes = ContiguousArray(FileHeader.magic)
    bytes.append(fixed: FormatLimits.version)
    bytes.append(fixed: 0 as UInt32)
    features.append(to: &bytes)
    store.append(to: &bytes)
    bytes.append(fixed: generation)
    bytes.append(fixed: base)
    bytes.append(fixed: created.microseconds)
    bytes.append(fixed: baseTimestamp.microseconds)
    bytes.append(fixed: baseCheckpointOffset)
    bytes.append(fixed: prunedAt?.microseconds ?? 0)
    let name = FileHeader.cut(prunedBy)
    bytes.append(prunedAt == nil ? 0 : 1)
    bytes.append(UInt8(name.count))
    bytes.append(zerosUpTo: 104)
    bytes.append(contentsOf: name)
    bytes.append(zerosUpTo: FormatLimits.blockLength - 4)
    checksum = bytes.withUnsafeBytes { Checksum.crc32($0) }
    bytes.append(fixed: checksum)
    return bytes
  }

  /// The longest run of whole characters of `text` that fits.
  private static func cut(_ text: String) -> [UInt8] {
    var result: [UInt8] = []
    for scalar in text.unicodeScalars {
      let next = Array(String(scalar).utf8)
      if result.count + next.count > maximumNameLength { break }
      result += next
    }
    return result
  }
}

/// Why a file's first bytes are not a header that this engine can use.
package enum HeaderFault: Error, Equatable {
  /// The file has so few bytes that not even the magic is whole.
  case tooShort(Int)
  /// The magic is there, and the file ends within the header, after so many bytes.
  case cut(Int)
  /// The magic is missing: some other kind of file.
  case notAnnals
  /// Written in a later version or draft of the format.
  case newerVersion(version: UInt32, draft: UInt32)
  /// Written in a draft before version 1, which is no longer read.
  case olderDraft(UInt32)
  /// The header's bytes were changed.
  case checksum
  /// The file needs features that this engine does not know.
  case unknownFeatures(UInt64)
  /// A field breaks its rule.
  case invalid(DecodeFault)
  /// The header is whole, and of another store or generation than what follows it.
  case foreign

  /// What to do with a file of a draft before version 1.
  package static func remedy(forDraft draft: UInt32) -> String {
    draft == 1
      ? "Export it with the version of Annals that wrote it, and import it with this one"
      : "`annals upgrade` rewrites it as version 1"
  }
}

extension FileHeader {
  /// Reads a header whose first `usedLength` bytes are given; the others, and the checksum, follow
  /// from them.
  package static func decode(
    completing bytes: UnsafeRawBufferPointer
  ) throws(HeaderFault) -> FileHeader {
    var block = ContiguousArray<UInt8>(bytes.prefix(usedLength))
    block.append(zerosUpTo: FormatLimits.blockLength - 4)
    block.append(fixed: block.withUnsafeBytes { Checksum.crc32($0) })
    return try block.withBytes { block throws(HeaderFault) in try decode(block) }
  }

  /// Reads a header from the file's first bytes (at least 4096). Checks, in this order: length,
  /// magic, version, checksum, features, fields.
  package static func decode(_ bytes: UnsafeRawBufferPointer) throws(HeaderFault) -> FileHeader {
    let magicLength = FileHeader.magic.count
    guard bytes.count >= magicLength else { throw .tooShort(bytes.count) }
    guard bytes.prefix(magicLength).elementsEqual(FileHeader.magic) else { throw .notAnnals }
    guard bytes.count >= FormatLimits.blockLength else { throw .cut(bytes.count) }
    let block = UnsafeRawBufferPointer(rebasing: bytes[..<FormatLimits.blockLength])
    try checkVersion(block)
    guard hasRightChecksum(block) else { throw .checksum }
    let covered = UnsafeRawBufferPointer(rebasing: block.dropLast(4))
    let stored = block.loadUnaligned(fromByteOffset: covered.count, as: UInt32.self)
    do throws(DecodeFault) {
      var reader = ByteReader(covered)
      var header = try decodeFields(&reader)
      header.checksum = UInt32(littleEndian: stored)
      return header
    } catch {
      if case .unknownFeatures(_, let bits) = error { throw .unknownFeatures(bits) }
      throw .invalid(error)
    }
  }

  /// Whether the first 4096 bytes of a file have the checksum at their end, whatever they say.
  package static func hasRightChecksum(_ block: UnsafeRawBufferPointer) -> Bool {
    guard block.count == FormatLimits.blockLength else { return false }
    let covered = UnsafeRawBufferPointer(rebasing: block.dropLast(4))
    let stored = block.loadUnaligned(fromByteOffset: covered.count, as: UInt32.self)
    return UInt32(littleEndian: stored) == Checksum.crc32(covered)
  }

  private static func checkVersion(_ block: UnsafeRawBufferPointer) throws(HeaderFault) {
    let version = UInt32(littleEndian: block.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
    let draft = UInt32(littleEndian: block.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
    let isNewer = version == FormatLimits.version ? draft > 0 : version > FormatLimits.version
    if isNewer { throw .newerVersion(version: version, draft: draft) }
    if version == 0, FormatLimits.drafts.contains(draft) { throw .olderDraft(draft) }
  }

  private static func decodeFields(
    _ reader: inout ByteReader
  ) throws(DecodeFault) -> FileHeader {
    _ = try reader.readBytes(FileHeader.magic.count)
    // A greater one, and a draft, were told before.
    guard try reader.read(UInt32.self) == FormatLimits.version else {
      throw reader.invalid("a version of the format that there never was")
    }
    _ = try reader.read(UInt32.self)
    let features = try Features(readable: &reader)
    let store = try reader.readUUID()
    guard store != .zero else { throw reader.invalid("a store UUID of zeros") }
    let generation = try reader.readNumber()
    guard generation > 0 else { throw reader.invalid("a generation of zero") }
    let base = Int64(try reader.readNumber())
    let created = Timestamp(microseconds: try reader.read(Int64.self))
    var header = FileHeader(store: store, generation: generation, base: base, created: created)
    header.features = features
    header.baseTimestamp = Timestamp(microseconds: try reader.read(Int64.self))
    guard base > 0 || header.baseTimestamp.microseconds == 0 else {
      throw reader.invalid("a timestamp of a base of 0")
    }
    header.baseCheckpointOffset = try reader.read(UInt64.self)
    guard header.baseCheckpointOffset == 0 || FrameHeader.mayBegin(at: header.baseCheckpointOffset)
    else { throw reader.invalid("a base checkpoint that is not where frames are") }
    let prunedAt = Timestamp(microseconds: try reader.read(Int64.self))
    let pruned = try reader.readUInt8()
    guard pruned <= 1 else { throw reader.invalid("a store that is neither pruned nor whole") }
    let isPruned = pruned == 1
    let length = Int(try reader.readUInt8())
    guard length <= maximumNameLength else { throw reader.invalid("a name over 64 bytes") }
    guard isPruned || (length == 0 && prunedAt.microseconds == 0) else {
      throw reader.invalid("a pruner without a prune")
    }
    try reader.skipZeros(6)
    if isPruned { header.prunedAt = prunedAt }
    guard let name = String(validating: try reader.readBytes(length), as: UTF8.self) else {
      throw reader.invalid("text that is not UTF-8")
    }
    header.prunedBy = name
    try reader.skipZeros(reader.remaining)
    return header
  }
}
