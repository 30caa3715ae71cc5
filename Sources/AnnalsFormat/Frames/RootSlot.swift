import AnnalsModel

/// One of the two small places that name the newest checkpoint and the durable mark.
///
/// FORMAT.md, "Root slots", has the table of fields.
package struct RootSlot: Hashable, Sendable {
  /// From 1; one more with each slot written. Slot `sequence % 2` is the one to write.
  package var sequence: UInt64
  /// Where the newest checkpoint's frame is; 0 where there is none.
  package var checkpointOffset: UInt64 = 0
  /// The transaction whose state that checkpoint holds.
  package var checkpointNumber: Int64 = 0
  /// The offset up to which the log is known to be synced: where a frame begins or would begin.
  package var durableMark: UInt64
  /// The number of the last transaction before the mark.
  package var head: Int64
  /// The header checksum of the last frame before the mark, or the file header's where there is
  /// none: what the frame at the mark names as its predecessor.
  package var markChecksum: UInt32
  /// The length of the file when it was synced up to the mark, including space allocated ahead. A
  /// shorter file was cut.
  package var extent: UInt64
  /// A copy of the file's header, for when its own block is lost; nil if the slot was written
  /// without.
  package var header: FileHeader?
  /// The features announced in frames before the mark, all of them.
  package var announced = Features.none

  package init(sequence: UInt64, durableMark: UInt64, head: Int64, markChecksum: UInt32) {
    extent = durableMark
    self.sequence = sequence
    self.durableMark = durableMark
    self.head = head
    self.markChecksum = markChecksum
  }

  /// The first eight bytes of a slot.
  package static let magic = Array("ANLSROOT".utf8)

  /// Where in a slot the copy of the header is.
  package static let headerOffset = 64
  /// Where in a slot the features announced are.
  package static let featuresOffset = headerOffset + FileHeader.usedLength

  /// Which of the two slots this one is written to: 0 or 1.
  package var index: Int { Int(sequence % 2) }

  /// The slot's 4096 bytes, for the place that `index` names.
  package func encode(seed: FrameSeed) -> ContiguousArray<UInt8> {
    var bytes = ContiguousArray(RootSlot.magic)
    bytes.append(fixed: sequence)
    bytes.append(fixed: checkpointOffset)
    bytes.append(fixed: checkpointNumber)
    bytes.append(fixed: durableMark)
    bytes.append(fixed: head)
    bytes.append(fixed: markChecksum)
    bytes.append(fixed: extent)
    bytes.append(zerosUpTo: RootSlot.headerOffset)
    if var header { bytes.append(contentsOf: header.encode().prefix(FileHeader.usedLength)) }
    bytes.append(zerosUpTo: RootSlot.featuresOffset)
    announced.append(to: &bytes)
    bytes.append(zerosUpTo: FormatLimits.blockLength - 4)
    let offset = FormatLimits.slotOffsets[index]
    bytes.append(fixed: bytes.withUnsafeBytes { seed.checksum($0, at: offset) })
    return bytes
  }

  /// Reads the slot at place `index` (0 or 1) from its 4096 bytes. All zeros is a fault too. One
  /// that needs unknown features throws `unknownFeatures`, whatever else it says; so does one whose
  /// copy of the header needs them.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer, index: Int, seed: FrameSeed
  ) throws(DecodeFault) -> RootSlot {
    var reader = ByteReader(bytes)
    try reader.require(FormatLimits.blockLength)
    let covered = UnsafeRawBufferPointer(rebasing: bytes[..<(FormatLimits.blockLength - 4)])
    let stored = bytes.loadUnaligned(fromByteOffset: covered.count, as: UInt32.self)
    guard
      UInt32(littleEndian: stored) == seed.checksum(covered, at: FormatLimits.slotOffsets[index])
    else { throw .checksum(at: covered.count) }
    reader = ByteReader(covered)
    guard try reader.readBytes(magic.count).elementsEqual(magic) else {
      throw .invalid(at: 0, reason: "a root slot without its magic")
    }
    let announced = try features(in: covered)
    let sequence = try reader.readNumber()
    guard sequence > 0, sequence % 2 == UInt64(index) else {
      throw reader.invalid("a root slot in the wrong place")
    }
    let checkpointOffset = try reader.readNumber()
    let checkpointNumber = Int64(try reader.readNumber())
    let durableMark = try reader.readNumber()
    let head = Int64(try reader.readNumber())
    guard head >= checkpointNumber else {
      throw reader.invalid("a root slot whose numbers are out of order")
    }
    guard FrameHeader.mayBegin(at: durableMark),
      checkpointOffset == 0 || FrameHeader.mayBegin(at: checkpointOffset),
      checkpointOffset < durableMark
    else { throw reader.invalid("a root slot whose offsets are out of order") }
    guard checkpointOffset != 0 || checkpointNumber == 0 else {
      throw reader.invalid("a root slot with the number of no checkpoint")
    }
    var slot = RootSlot(
      sequence: sequence, durableMark: durableMark, head: head,
      markChecksum: try reader.read(UInt32.self))
    slot.checkpointOffset = checkpointOffset
    slot.checkpointNumber = checkpointNumber
    slot.extent = try reader.readNumber()
    guard slot.extent >= durableMark else {
      throw reader.invalid("a root slot whose extent ends before its mark")
    }
    try reader.skipZeros(headerOffset - reader.offset)
    slot.header = try readHeader(&reader)
    slot.announced = announced
    _ = try reader.readBytes(16)
    try reader.skipZeros(reader.remaining)
    return slot
  }

  private static func features(in slot: UnsafeRawBufferPointer) throws(DecodeFault) -> Features {
    var reader = ByteReader(slot)
    _ = try reader.readBytes(featuresOffset)
    return try Features(readable: &reader)
  }

  /// The copy of the header that the bytes of a slot hold, whether or not the slot is valid; nil if
  /// there is none.
  package static func header(in slot: UnsafeRawBufferPointer) -> FileHeader? {
    guard slot.count >= headerOffset + FileHeader.usedLength else { return nil }
    var reader = ByteReader(UnsafeRawBufferPointer(rebasing: slot[headerOffset...]))
    return try? readHeader(&reader)
  }

  /// The header that a whole slot at place `index` repeats, if that is of another store or
  /// generation than `header`; nil if the bytes are no whole slot, or one of that header's.
  package static func identity(
    provenBy slot: UnsafeRawBufferPointer, index: Int, notOf header: FileHeader
  ) -> FileHeader? {
    guard let copy = RootSlot.header(in: slot),
      copy.store != header.store || copy.generation != header.generation
    else { return nil }
    do throws(DecodeFault) {
      _ = try decode(slot, index: index, seed: copy.seed)
      return copy
    } catch {
      // Its checksum fits, whatever else it says.
      return error.isNewer ? copy : nil
    }
  }

  private static func readHeader(_ reader: inout ByteReader) throws(DecodeFault) -> FileHeader? {
    let start = reader.offset
    let copy = try reader.readBytes(FileHeader.usedLength)
    if copy.isZero { return nil }
    do throws(HeaderFault) {
      return try FileHeader.decode(completing: copy)
    } catch {
      if case .unknownFeatures(let bits) = error { throw .unknownFeatures(at: start, bits) }
      throw .invalid(at: start, reason: "a root slot with a wrong copy of the header")
    }
  }
}

extension FileHeader {
  /// The first blocks of a file: the header, and both root slots, which say the same. Sets
  /// `checksum`. The slot's own sequence does not matter.
  package mutating func encode(with slot: RootSlot) -> ContiguousArray<UInt8> {
    var bytes = encode()
    var slot = slot
    slot.header = self
    for sequence in [2, 1] as [UInt64] {
      slot.sequence = sequence
      bytes.append(contentsOf: slot.encode(seed: seed))
    }
    return bytes
  }
}
