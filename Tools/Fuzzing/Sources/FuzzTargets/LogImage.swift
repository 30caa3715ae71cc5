import AnnalsFormat
import AnnalsModel

/// The frames of a file without checksums and other derived fields: a compact form for a fuzzer to
/// mutate. Any bytes give a file with a valid header, slots and checksums.
///
/// Its bytes: one for the base (bit 7: the file was closed); then for each frame its kind, flags,
/// length of payload (u16, little-endian) and payload.
struct LogImage {
  struct Frame {
    var kind: UInt8
    var flags: UInt8
    var payload: ContiguousArray<UInt8>
  }

  var base: UInt8 = 0
  var isClosed = false
  var frames: [Frame] = []

  static let store = RawUUID(high: 0x6F96_19FF_8B86_D011, low: 0xB42D_00C0_4FC9_64FF)

  init(_ bytes: UnsafeRawBufferPointer) {
    guard let first = bytes.first else { return }
    base = first & 127
    isClosed = first > 127
    var offset = 1
    while offset + 4 <= bytes.count {
      let length = Int(bytes[offset + 2]) | Int(bytes[offset + 3]) << 8
      let end = min(offset + 4 + length, bytes.count)
      frames.append(
        Frame(
          kind: bytes[offset], flags: bytes[offset + 1],
          payload: ContiguousArray(bytes[offset + 4..<end])))
      offset = end
    }
  }

  /// The image of a file; nil if its header cannot be read or it does not fit.
  init?(file: ContiguousArray<UInt8>) {
    guard let header = file.withUnsafeBytes({ try? FileHeader.decode($0) }),
      let base = UInt8(exactly: header.base), base < 128
    else { return nil }
    self.base = base
    isClosed = true
    var offset = Int(FormatLimits.logStart)
    file.withUnsafeBytes { all in
      while offset + FormatLimits.frameHeaderLength <= all.count {
        let rest = UnsafeRawBufferPointer(rebasing: all[offset...])
        guard
          let frame = try? FrameHeader.decode(rest, at: UInt64(offset), seed: header.seed),
          frame.frameLength <= UInt64(rest.count), frame.payloadLength < 1 << 16
        else { break }
        let payload = rest[FormatLimits.frameHeaderLength...].prefix(Int(frame.payloadLength))
        frames.append(
          Frame(
            kind: frame.kind.rawValue, flags: frame.flags.rawValue,
            payload: ContiguousArray(payload)))
        offset += Int(frame.frameLength)
      }
    }
  }

  /// The image as bytes.
  var encoded: ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = [base | (isClosed ? 128 : 0)]
    for frame in frames {
      let length = UInt16(frame.payload.count)
      bytes += [frame.kind, frame.flags, UInt8(length & 255), UInt8(length >> 8)]
      bytes += frame.payload
    }
    return bytes
  }

  /// The whole file with these frames.
  var file: ContiguousArray<UInt8> {
    var header = FileHeader(
      store: LogImage.store, generation: 1, base: Int64(base),
      created: Timestamp(microseconds: 1_571_767_200_000_000))
    var log = built(after: header)
    if base > 0, let offset = log.checkpoints.first?.offset { header.baseCheckpointOffset = offset }
    log = built(after: header)
    let first = header.encode()
    var slot = RootSlot(
      sequence: 2, durableMark: FormatLimits.logStart, head: Int64(base),
      markChecksum: header.checksum)
    if isClosed {
      slot.durableMark = log.writer.offset
      slot.markChecksum = log.writer.previousChecksum
      slot.extent = slot.durableMark
      slot.head = Int64(FormatLimits.maximumNumber)
      if let last = log.checkpoints.last, last.number >= 0 {
        slot.checkpointOffset = last.offset
        slot.checkpointNumber = last.number
      }
    }
    var other = slot
    other.sequence = 1
    return first + slot.encode(seed: header.seed) + other.encode(seed: header.seed)
      + log.writer.bytes
  }

  private func built(
    after header: FileHeader
  ) -> (writer: FrameWriter, checkpoints: [(offset: UInt64, number: Int64)]) {
    var header = header
    _ = header.encode()
    var writer = FrameWriter(
      seed: header.seed, offset: FormatLimits.logStart, previousChecksum: header.checksum,
      durableMark: FormatLimits.logStart)
    var chunks: [UInt64: (length: UInt32, checksum: UInt32)] = [:]
    var checkpoints: [(offset: UInt64, number: Int64)] = []
    for frame in frames {
      var payload = frame.payload
      let offset = writer.offset
      if frame.kind == FrameKind.chunk.rawValue {
        chunks[offset] = (
          UInt32(payload.count), payload.withUnsafeBytes { Checksum.crc32($0) }
        )
      }
      if frame.kind == FrameKind.checkpoint.rawValue {
        var directory = payload.withUnsafeBytes { try? CheckpointDirectory.decode($0) }
        directory?.correct(with: chunks)
        if let directory { payload = directory.encode() }
        checkpoints.append((offset, directory?.number ?? 0))
      }
      payload.withUnsafeBytes {
        _ = writer.append(
          kind: FrameKind(rawValue: frame.kind), flags: FrameFlags(rawValue: frame.flags),
          payload: $0)
      }
    }
    return (writer, checkpoints)
  }
}

extension CheckpointDirectory {
  /// Corrects the lengths and checksums in the directory's references to chunks.
  mutating func correct(with chunks: [UInt64: (length: UInt32, checksum: UInt32)]) {
    func correct(_ references: inout [ChunkReference]) {
      for index in references.indices {
        guard let chunk = chunks[references[index].offset] else { continue }
        references[index].length = chunk.length
        references[index].checksum = chunk.checksum
      }
    }
    correct(&names.chunks)
    correct(&openings.chunks)
    correct(&largeValues.chunks)
    correct(&schemaHistory.chunks)
    correct(&historyIndex.chunks)
    if var objects = segmentObjects {
      correct(&objects.table.chunks)
      segmentObjects = objects
    }
    for entity in entities.indices {
      correct(&entities[entity].rows)
      for column in entities[entity].columns.indices {
        correct(&entities[entity].columns[column].chunks)
      }
      for index in entities[entity].indexes.indices {
        for chunk in entities[entity].indexes[index].chunks.indices {
          var references = [entities[entity].indexes[index].chunks[chunk].reference]
          correct(&references)
          entities[entity].indexes[index].chunks[chunk].reference = references[0]
        }
      }
    }
  }
}
