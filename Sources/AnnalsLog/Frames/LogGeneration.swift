import AnnalsFormat
import AnnalsFrames
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
  package static func open(_ file: any StorageFile) throws(LogError) -> LogGeneration {
    LogGeneration(file: file, header: try readHeader(of: file))
  }

  private static func readHeader(of file: any StorageFile) throws(LogError) -> FileHeader {
    let block = try wrapping { try file.bytes(FormatLimits.blockLength, at: 0) }
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

  /// Reads up to `count` bytes at `offset`; fewer only at the end of the file.
  func read(_ count: Int, at offset: UInt64) throws(LogError) -> ContiguousArray<UInt8> {
    try wrapping { try file.bytes(count, at: offset) }
  }

  /// The size of the file now.
  func size() throws(LogError) -> UInt64 {
    try wrapping { try file.size() }
  }

  /// Reads the header of the frame at `offset`; nil if there is none.
  package func frameHeader(at offset: UInt64) throws(LogError) -> FrameHeader? {
    var bytes = try window()
    return try wrapping { try bytes.frameHeader(at: offset, seed: seed) }
  }

  /// Reads the frame at `offset`, which must be of this kind, and checks everything. Throws
  /// `damage` if a check fails. Memory: the payload, never more than the file has.
  func frame(at offset: UInt64, kind: FrameKind) throws(LogError) -> SingleFrame {
    var bytes = try window()
    switch try wrapping({ try bytes.frame(at: offset, seed: seed, kind: kind) }) {
    case .frame(let frame): return frame
    case .absent: throw .damage(at: offset, "the frame that should be here is not")
    case .cut: throw .damage(at: offset, "the file ends within the frame")
    case .changed: throw .damage(at: offset, "the frame's payload was changed")
    }
  }

  /// All bytes of the file as it is now.
  private func window() throws(LogError) -> FileWindow {
    FileWindow(file, size: try size(), leastRead: 0)
  }

  /// Reads a chunk's payload; checks frame and payload. Throws `damage` if a check fails.
  package func chunk(
    _ reference: ChunkReference
  ) throws(LogError) -> ContiguousArray<UInt8> {
    let frame = try frame(at: reference.offset, kind: .chunk)
    guard frame.isNamed(by: reference) else {
      throw .damage(at: reference.offset, "the chunk is not the one referred to")
    }
    return frame.payload
  }

  /// Reads the payload of a frame of tombstones, and its flags; checks frame and payload. Throws
  /// `damage` if a check fails.
  func tombstones(
    _ reference: ChunkReference
  ) throws(LogError) -> (flags: FrameFlags, bytes: ContiguousArray<UInt8>) {
    let frame = try frame(at: reference.offset, kind: .tombstones)
    guard frame.isNamed(by: reference) else {
      throw .damage(at: reference.offset, "the tombstones are not those referred to")
    }
    return (frame.header.flags, frame.payload)
  }

  /// Whether every chunk of the state under the directory can be read and, with `decoding`, decodes
  /// to what the directory says. Reads all of them, apart from those at these offsets.
  func holdsState(
    of directory: CheckpointDirectory, decoding: Bool, apartFrom known: Set<UInt64> = []
  ) throws(LogError) -> Bool {
    do throws(LogError) {
      try requireState(of: directory, decoding: decoding, apartFrom: known)
      return true
    } catch .damage {
      return false
    }
  }

  /// Throws `damage`, with its place, for a chunk of the state under the directory that cannot be
  /// read or, with `decoding`, does not decode to what the directory says; `decode` for one that
  /// only a later version can decode. Reads all of them, apart from those at these offsets.
  func requireState(
    of directory: CheckpointDirectory, decoding: Bool, apartFrom known: Set<UInt64> = []
  ) throws(LogError) {
    for (reference, role) in directory.entities.flatMap(\.chunks)
    where !known.contains(reference.offset) {
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
    let frame = try frame(at: offset, kind: .checkpoint)
    do {
      var directory = try frame.payload.withBytes { bytes throws(DecodeFault) in
        try CheckpointDirectory.decode(bytes)
      }
      try directory.resolveLists { list in
        try chunk(list).withUnsafeBytes { try ReferenceListCodec.decode($0) }
      }
      return (frame.header, directory)
    } catch let fault as DecodeFault {
      throw .decode(fault, at: offset)
    } catch {
      throw LogError(error)
    }
  }
}
