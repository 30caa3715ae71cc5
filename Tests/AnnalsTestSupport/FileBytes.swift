import AnnalsFormat

/// A frame in the bytes of a file.
package struct FrameInBytes {
  package let header: FrameHeader
  package let offset: Int

  /// Where its payload is.
  package var payload: Range<Int> {
    let start = offset + FormatLimits.frameHeaderLength
    return start..<start + Int(header.payloadLength)
  }
  /// Where the next one begins.
  package var end: Int { offset + Int(header.frameLength) }
}

extension ContiguousArray<UInt8> {
  /// The header of a file that has these bytes.
  package func fileHeader() throws -> FileHeader {
    try withUnsafeBytes { try FileHeader.decode($0) }
  }

  /// The frames of the file, up to the first whose header does not fit.
  package func frames() throws -> [FrameInBytes] {
    let seed = try fileHeader().seed
    var frames: [FrameInBytes] = []
    withUnsafeBytes { all in
      var offset = Int(FormatLimits.logStart)
      while offset + FormatLimits.frameHeaderLength <= all.count,
        let header = try? FrameHeader.decode(
          UnsafeRawBufferPointer(rebasing: all[offset...]), at: UInt64(offset), seed: seed),
        header.frameLength <= UInt64(all.count - offset)
      {
        let frame = FrameInBytes(header: header, offset: offset)
        frames.append(frame)
        offset = frame.end
      }
    }
    return frames
  }

  /// A writer of frames behind the last one, which names no mark.
  package func writerBehindFrames() throws -> FrameWriter {
    let header = try fileHeader()
    let last = try frames().last
    return FrameWriter(
      seed: header.seed, offset: last.map { UInt64($0.end) } ?? FormatLimits.logStart,
      previousChecksum: last?.header.checksum ?? header.checksum, durableMark: nil)
  }

  private func slotRange(_ index: Int) -> Range<Int> {
    let start = Int(FormatLimits.slotOffsets[index])
    return start..<start + FormatLimits.blockLength
  }

  /// A root slot of the file.
  package func slot(_ index: Int) throws -> RootSlot {
    let seed = try fileHeader().seed
    return try self[slotRange(index)].withUnsafeBytes {
      try RootSlot.decode($0, index: index, seed: seed)
    }
  }

  /// Changes a root slot, and makes its checksum fit.
  package mutating func editSlot(_ index: Int, _ edit: (inout RootSlot) throws -> Void) throws {
    var slot = try slot(index)
    try edit(&slot)
    replaceSubrange(slotRange(index), with: slot.encode(seed: try fileHeader().seed))
  }
}

extension FrameWriter {
  /// A writer of the first frames behind a header, which was encoded.
  package init(behind header: FileHeader) {
    self.init(
      seed: header.seed, offset: FormatLimits.logStart, previousChecksum: header.checksum,
      durableMark: FormatLimits.logStart)
  }

  /// Appends a frame.
  package mutating func append(
    _ kind: FrameKind, flags: FrameFlags = [], _ payload: ContiguousArray<UInt8>
  ) {
    payload.withUnsafeBytes { _ = append(kind: kind, flags: flags, payload: $0) }
  }
}
