import AnnalsFormat
import AnnalsStorage

/// Reads the tables of a checkpoint's directory, whose older entries are in chunks.
enum CheckpointTables {
  /// How many entries a table has, by what its references say.
  static func count<Entry>(_ table: TableDirectory<Entry>) -> UInt64 {
    table.chunks.reduce(UInt64(table.entries.count)) { $0 &+ UInt64($1.count) }
  }

  /// All entries of a table; nil if one of its chunks is not what it should be.
  static func entries<Entry: TableEntry>(
    of table: TableDirectory<Entry>, in walk: inout FileWalk
  ) throws(StorageError) -> [Entry]? {
    var result: [Entry] = []
    for chunk in table.chunks {
      guard let payload = try payload(of: chunk, in: &walk),
        let entries = try? payload.withUnsafeBytes({ try TableCodec<Entry>.decode($0) })
      else { return nil }
      result += entries
    }
    return result + table.entries
  }

  /// The directory in a checkpoint frame's payload.
  static func decode(
    _ payload: UnsafeRawBufferPointer
  ) -> Result<CheckpointDirectory, DecodeFault> {
    do throws(DecodeFault) {
      return .success(try CheckpointDirectory.decode(payload))
    } catch {
      return .failure(error)
    }
  }

  /// The directory at `offset`; nil if there is none that is whole.
  static func directory(
    at offset: UInt64, in walk: inout FileWalk
  ) throws(StorageError) -> CheckpointDirectory? {
    let headerLength = FormatLimits.frameHeaderLength
    guard let seed = walk.seed?.seed else { return nil }
    let start = try walk.bytes.copy(at: offset, count: headerLength)
    let header = start.withUnsafeBytes { try? FrameHeader.decode($0, at: offset, seed: seed) }
    guard let header, header.kind == .checkpoint else { return nil }
    let payload = try walk.bytes.copy(
      at: offset + UInt64(headerLength), count: Int(header.payloadLength))
    var directory: CheckpointDirectory? = payload.withUnsafeBytes { bytes in
      guard seed.checksum(bytes, at: offset) == header.payloadChecksum else { return nil }
      return try? decode(bytes).get()
    }
    return try resolve(&directory, in: &walk) == nil ? directory : nil
  }

  /// Reads the list chunks of a directory; returns what is wrong with them, nil if nothing is.
  static func resolve(
    _ directory: inout CheckpointDirectory?, in walk: inout FileWalk
  ) throws(StorageError) -> DecodeFault? {
    do {
      try directory?.resolveLists { list in
        guard let payload = try payload(of: list, in: &walk) else {
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

  /// The payload that a reference names; nil if it is not there.
  static func payload(
    of reference: ChunkReference, in walk: inout FileWalk
  ) throws(StorageError) -> ContiguousArray<UInt8>? {
    let headerLength = FormatLimits.frameHeaderLength
    guard let seed = walk.seed?.seed, reference.length <= UInt32(FormatLimits.maximumPayload) else {
      return nil
    }
    var frame = try walk.bytes.copy(
      at: reference.offset, count: headerLength + Int(reference.length))
    guard frame.count == headerLength + Int(reference.length) else { return nil }
    let header = frame.withUnsafeBytes {
      try? FrameHeader.decode($0, at: reference.offset, seed: seed)
    }
    guard let header, header.kind == .chunk, header.payloadLength == reference.length else {
      return nil
    }
    frame.removeFirst(headerLength)
    let checksum = frame.withUnsafeBytes { Checksum.crc32($0) }
    return checksum == reference.checksum ? frame : nil
  }
}
