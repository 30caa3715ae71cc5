import AnnalsFormat
import AnnalsModel
import AnnalsState
import AnnalsStorage

/// Chunks in memory, by offset, in place of a file; counts what is asked for.
final class MemoryChunks: ChunkSource {
  private struct Contents {
    var payloads: [UInt64: ContiguousArray<UInt8>] = [:]
    var end: UInt64 = 12_288
    var bytes = 0
    var reads: [UInt64] = []
  }
  private let contents = Locked(Contents())

  func chunk(_ reference: ChunkReference) throws(StateFault) -> ContiguousArray<UInt8> {
    let payload = contents.withLock {
      $0.reads.append(reference.offset)
      return $0.payloads[reference.offset]
    }
    guard let payload else {
      throw .chunk(.checksum, at: reference.offset)
    }
    guard payload.withUnsafeBytes({ Checksum.crc32($0) }) == reference.checksum else {
      throw .chunk(.checksum, at: reference.offset)
    }
    return payload
  }

  func store(_ bytes: UnsafeRawBufferPointer, first: Int64, count: UInt32) -> ChunkReference {
    contents.withLock {
      let reference = ChunkReference(
        offset: $0.end, length: UInt32(bytes.count), checksum: Checksum.crc32(bytes),
        first: first, count: count)
      $0.payloads[$0.end] = ContiguousArray(bytes)
      $0.end += UInt64(bytes.count + 24 + 7) & ~7
      $0.bytes += bytes.count
      return reference
    }
  }

  /// How many bytes were stored in all.
  var byteCount: Int { contents.withLock { $0.bytes } }
  /// How many chunks were stored in all.
  var chunkCount: Int { contents.withLock { $0.payloads.count } }
  /// The offsets asked for, in order.
  var reads: [UInt64] { contents.withLock { $0.reads } }

  func forgetReads() { contents.withLock { $0.reads = [] } }

  /// Every chunk's offset and payload.
  var payloads: [UInt64: ContiguousArray<UInt8>] { contents.withLock { $0.payloads } }

  /// Puts other bytes in place of a chunk's.
  func replace(_ offset: UInt64, with payload: ContiguousArray<UInt8>) {
    contents.withLock { $0.payloads[offset] = payload }
  }
}

extension State {
  /// Writes a checkpoint into memory and returns its directory, encoded and decoded.
  mutating func save(to chunks: MemoryChunks, full: Bool = false) throws -> CheckpointDirectory {
    var directory = CheckpointDirectory(number: 1)
    directory.schema = schema
    directory.entities = try writeChunks(full: full, source: chunks) { bytes, first, count in
      chunks.store(bytes, first: first, count: count)
    }
    let encoded = directory.encode()
    return try encoded.withUnsafeBytes { try CheckpointDirectory.decode($0) }
  }
}
