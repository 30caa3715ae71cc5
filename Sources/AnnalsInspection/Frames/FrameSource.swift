import AnnalsFormat
import AnnalsFrames
import AnnalsModel
import AnnalsStorage

/// Reads and checks single frames of a file, whatever damage lies around them. Safe to use from any
/// thread.
package struct FrameSource: Sendable {
  private let bytes: FileWindow
  private let seed: FrameSeed

  /// The frames among these bytes, whose checksums start from `seed`.
  init(_ bytes: FileWindow, seed: FrameSeed) {
    self.bytes = bytes
    self.seed = seed
  }

  /// The frames of a file; nil if the seed of their checksums cannot be found.
  package init?(_ file: any StorageFile) throws(StorageError) {
    guard let frames = try FileWalk(file).frames else { return nil }
    self = frames
  }

  /// The header of the frame at `offset`; nil if there is none.
  func header(at offset: UInt64) throws(StorageError) -> FrameHeader? {
    var bytes = bytes
    return try bytes.frameHeader(at: offset, seed: seed)
  }

  /// The payload behind a header, unchecked, as far as the file has it.
  func payload(
    behind header: FrameHeader, at offset: UInt64
  ) throws(StorageError) -> ContiguousArray<UInt8> {
    var bytes = bytes
    return try bytes.copy(
      at: offset + UInt64(FormatLimits.frameHeaderLength), count: Int(header.payloadLength))
  }

  /// The frame at `offset`; nil if it is not intact. Memory: the payload.
  package func frame(
    at offset: UInt64
  ) throws(StorageError) -> (header: FrameHeader, payload: ContiguousArray<UInt8>)? {
    try intact(at: offset).map { ($0.header, $0.payload) }
  }

  /// The frame at `offset`, of this kind or of any; nil if it is not intact.
  private func intact(
    at offset: UInt64, kind: FrameKind? = nil
  ) throws(StorageError) -> SingleFrame? {
    var bytes = bytes
    return try bytes.frame(at: offset, seed: seed, kind: kind).frame
  }

  /// The transactions, or the part of one, in the frame at `offset`; nil if it is not intact.
  package func transactions(
    at offset: UInt64
  ) throws(StorageError) -> ChangeBatch? {
    guard let frame = try intact(at: offset), frame.header.kind.holdsTransactions else {
      return nil
    }
    var batch = ChangeBatch()
    let isDecoded = frame.payload.withUnsafeBytes {
      (try? frame.header.decodeTransactions($0, into: &batch)) != nil
    }
    return isDecoded ? batch : nil
  }

  /// The tombstones in the frame at `offset`, and its payload; nil if it is not intact.
  package func tombstones(
    at offset: UInt64
  ) throws(StorageError) -> (batch: ChangeBatch, payload: ContiguousArray<UInt8>)? {
    guard let frame = try intact(at: offset, kind: .tombstones) else { return nil }
    var batch = ChangeBatch()
    let isDecoded = frame.payload.withUnsafeBytes {
      (try? TombstoneCodec.decode($0, flags: frame.header.flags, into: &batch)) != nil
    }
    return isDecoded ? (batch, frame.payload) : nil
  }
}

// Large values.
extension FrameSource {
  /// A stored piece of a large value with its bytes made, if it has a base; `place` tells where the
  /// value with a number begins. Says why if they cannot be made.
  package func made(
    _ stored: LargeValuePiece, _ place: (UInt64) -> UInt64?
  ) throws(StorageError) -> Result<LargeValuePiece, DecodeFault> {
    var chain = LargeValueChain(stored)
    while let base = chain.missing {
      guard let offset = place(base), let frame = try intact(at: offset, kind: .largeValue) else {
        return .failure(.invalid(at: 0, reason: "its base is not there, or damaged"))
      }
      do throws(DecodeFault) {
        try frame.payload.withBytes { bytes throws(DecodeFault) in try chain.add(bytes) }
      } catch {
        return .failure(error)
      }
    }
    return Result { () throws(DecodeFault) in try chain.made() }
  }
}

// Checkpoints.
extension FrameSource {
  /// The checkpoint's directory at `offset`; nil if it is not intact.
  package func directory(at offset: UInt64) throws(StorageError) -> CheckpointDirectory? {
    guard let frame = try intact(at: offset, kind: .checkpoint),
      var directory = frame.payload.withUnsafeBytes({ try? CheckpointDirectory.decode($0) }),
      try resolveLists(of: &directory) == nil
    else { return nil }
    return directory
  }

  /// Reads the list chunks of a directory; returns what is wrong with them, nil if nothing is.
  func resolveLists(
    of directory: inout CheckpointDirectory
  ) throws(StorageError) -> DecodeFault? {
    do {
      try directory.resolveLists { list in
        guard let payload = try chunk(list) else {
          throw DecodeFault.invalid(at: 0, reason: "a list chunk that is not whole")
        }
        return try payload.withUnsafeBytes { try ReferenceListCodec.decode($0) }
      }
      return nil
    } catch let error as StorageError {
      throw error
    } catch {
      return error as? DecodeFault ?? .invalid(at: 0, reason: "a list that cannot be read")
    }
  }

  /// The payload of the chunk that a reference names; nil if it is not intact, or another chunk.
  package func chunk(
    _ reference: ChunkReference
  ) throws(StorageError) -> ContiguousArray<UInt8>? {
    guard let frame = try intact(at: reference.offset, kind: .chunk), frame.isNamed(by: reference)
    else { return nil }
    return frame.payload
  }

  /// All entries of a directory's table; nil if one of its chunks is not intact.
  package func entries<Entry: TableEntry>(
    of table: TableDirectory<Entry>
  ) throws(StorageError) -> [Entry]? {
    var result: [Entry] = []
    for reference in table.chunks {
      guard let payload = try chunk(reference),
        let entries = try? payload.withUnsafeBytes({ try TableCodec<Entry>.decode($0) })
      else { return nil }
      result += entries
    }
    return result + table.entries
  }
}
