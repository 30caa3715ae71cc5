import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// One generation of a store's file, kept open by everything that reads from it.
///
/// A rewrite replaces the file by the next generation. Whoever holds this one goes on reading it:
/// the operating system keeps the file until it is closed, which happens when the last holder
/// releases it. Any method may be called on any thread.
package final class LogGeneration: Sendable {
  let file: any StorageFile
  /// The file's header.
  package let header: FileHeader
  let seed: FrameSeed

  init(file: any StorageFile, header: FileHeader) {
    self.file = file
    self.header = header
    seed = header.seed
  }

  deinit { file.close() }

  /// Opens the generation in a file, and reads and checks its header.
  static func open(_ file: any StorageFile) throws(LogError) -> LogGeneration {
    LogGeneration(file: file, header: try readHeader(of: file))
  }

  private static func readHeader(of file: any StorageFile) throws(LogError) -> FileHeader {
    let block = try read(FormatLimits.blockLength, at: 0, of: file)
    do {
      return try block.withBytes { bytes throws(HeaderFault) in try FileHeader.decode(bytes) }
    } catch {
      throw .header(error)
    }
  }

  /// Reads the header again. Throws `foreign` if it is another one: somebody has copied other bytes
  /// into the file, in place. Throws `header` if it can no longer be read.
  func requireOwnHeader() throws(LogError) {
    let found = try LogGeneration.readHeader(of: file)
    guard found.store == header.store else { throw .foreign("it is another store") }
    guard found.generation == header.generation else {
      throw .foreign("it is another rewriting of this store")
    }
  }

  /// Reads up to `count` bytes; fewer only at the end of the file.
  private static func read(
    _ count: Int, at offset: UInt64, of file: any StorageFile
  ) throws(LogError) -> ContiguousArray<UInt8> {
    try wrapping {
      try ContiguousArray(count: count) { buffer throws(StorageError) in
        try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      }
    }
  }

  /// Reads up to `count` bytes at `offset`; fewer only at the end of the file.
  func read(_ count: Int, at offset: UInt64) throws(LogError) -> ContiguousArray<UInt8> {
    try LogGeneration.read(count, at: offset, of: file)
  }

  /// The size of the file now.
  func size() throws(LogError) -> UInt64 {
    try wrapping { try file.size() }
  }

  /// Reads the header of the frame at `offset`; nil if there is none.
  func frameHeader(at offset: UInt64) throws(LogError) -> FrameHeader? {
    let bytes = try read(FormatLimits.frameHeaderLength, at: offset)
    return bytes.withUnsafeBytes { try? FrameHeader.decode($0, at: offset, seed: seed) }
  }

  /// Reads the payload of the frame at `offset`, which must be of this kind, and checks everything.
  /// Throws `damage` if a check fails. Memory: the payload, never more than the file has.
  func payload(
    at offset: UInt64, kind: FrameKind
  ) throws(LogError) -> (header: FrameHeader, bytes: ContiguousArray<UInt8>) {
    let (header, bytes, _) = try checkedPayload(at: offset, kind: kind)
    return (header, bytes)
  }

  /// As `payload`, and returns the crc32 of the payload by itself.
  private func checkedPayload(
    at offset: UInt64, kind: FrameKind
  ) throws(LogError) -> (header: FrameHeader, bytes: ContiguousArray<UInt8>, crc: UInt32) {
    guard let header = try frameHeader(at: offset), header.kind == kind else {
      throw .damage(at: offset, "the frame that should be here is not")
    }
    let start = offset + UInt64(FormatLimits.frameHeaderLength)
    let length = Int(header.payloadLength)
    let size = try size()
    guard size >= start, size - start >= UInt64(length) else {
      throw .damage(at: offset, "the file ends within the frame")
    }
    let bytes = try read(length, at: start)
    let crc = bytes.withUnsafeBytes { Checksum.crc32($0) }
    let checksum = seed.checksum(ofBytesWith: crc, count: bytes.count, at: offset)
    guard bytes.count == length, checksum == header.payloadChecksum else {
      throw .damage(at: offset, "the frame's payload was changed")
    }
    return (header, bytes, crc)
  }

  /// Reads a chunk's payload; checks frame and payload. Throws `damage` if a check fails.
  package func chunk(
    _ reference: ChunkReference
  ) throws(LogError) -> ContiguousArray<UInt8> {
    let (_, bytes, crc) = try checkedPayload(at: reference.offset, kind: .chunk)
    guard bytes.count == Int(reference.length), crc == reference.checksum else {
      throw .damage(at: reference.offset, "the chunk is not the one referred to")
    }
    return bytes
  }

  /// Reads the payload of a frame of tombstones, and its flags; checks frame and payload. Throws
  /// `damage` if a check fails.
  func tombstones(
    _ reference: ChunkReference
  ) throws(LogError) -> (flags: FrameFlags, bytes: ContiguousArray<UInt8>) {
    let (header, bytes, crc) = try checkedPayload(at: reference.offset, kind: .tombstones)
    guard bytes.count == Int(reference.length), crc == reference.checksum else {
      throw .damage(at: reference.offset, "the tombstones are not those referred to")
    }
    return (header.flags, bytes)
  }

  /// Whether every chunk of the state under the directory can be read and, with `decoding`, decodes
  /// to what the directory says. Reads all of them.
  func holdsState(
    of directory: CheckpointDirectory, decoding: Bool
  ) throws(LogError) -> Bool {
    do throws(LogError) {
      try requireState(of: directory, decoding: decoding)
      return true
    } catch .damage {
      return false
    }
  }

  /// Throws `damage`, with its place, for a chunk of the state under the directory that cannot be
  /// read or, with `decoding`, does not decode to what the directory says; `decode` for one that
  /// only a later version can decode. Reads all of them.
  func requireState(of directory: CheckpointDirectory, decoding: Bool) throws(LogError) {
    for (reference, role) in directory.entities.flatMap(\.chunks) {
      var newer: DecodeFault?
      let reason = try chunk(reference).withBytes { bytes -> String? in
        guard decoding else { return nil }
        do throws(DecodeFault) {
          return try ChunkContents(bytes, as: role).contradiction(to: reference, as: role)
        } catch  where error.isNewer {
          newer = error
          return nil
        } catch {
          return "\(error)"
        }
      }
      if let newer { throw .decode(newer, at: reference.offset) }
      guard let reason else { continue }
      throw .damage(at: reference.offset, "a chunk that should be \(role): \(reason)")
    }
  }

  /// Reads the checkpoint directory at `offset`, and its list chunks. Throws `damage` or `decode`
  /// if a check fails.
  func directory(
    at offset: UInt64
  ) throws(LogError) -> (header: FrameHeader, directory: CheckpointDirectory) {
    let (header, bytes) = try payload(at: offset, kind: .checkpoint)
    do {
      var directory = try bytes.withBytes { bytes throws(DecodeFault) in
        try CheckpointDirectory.decode(bytes)
      }
      try directory.resolveLists { list in
        try chunk(list).withUnsafeBytes { try ReferenceListCodec.decode($0) }
      }
      return (header, directory)
    } catch let fault as DecodeFault {
      throw .decode(fault, at: offset)
    } catch {
      throw LogError(error)
    }
  }
}
