import AnnalsFormat
import AnnalsModel
import Synchronization

// A chunk of a checkpoint is read when first touched, into a box shared by all states that refer to
// it: stored once, atomically, by whichever thread is first. A chunk that fails its check is read
// again each time, and throws each time.

/// Reads the bytes of chunks.
package protocol ChunkSource: Sendable {
  /// The chunk's payload, whose length and checksum are those of the reference. Called from any
  /// thread.
  func chunk(_ reference: ChunkReference) throws(StateFault) -> ContiguousArray<UInt8>
}

extension ChunkSource {
  /// The chunk, decoded; a fault of the decoder becomes one that names the chunk.
  func decode<Decoded>(
    _ reference: ChunkReference,
    _ decoder: (UnsafeRawBufferPointer) throws(DecodeFault) -> Decoded
  ) throws(StateFault) -> Decoded {
    let payload = try chunk(reference)
    do throws(DecodeFault) {
      return try payload.withBytes(decoder)
    } catch {
      throw .chunk(.decode(error), at: reference.offset)
    }
  }

  /// The fault of a chunk that is not what its reference says.
  func mismatch(_ reference: ChunkReference) -> StateFault {
    .chunk(.mismatch, at: reference.offset)
  }
}

/// An object that is created once, by whichever thread is first, and lives as long as the box.
///
/// Unlike `AtomicLazyReference` it allows use of the object without counting a reference, which
/// would cost more than the rest of reading a stored value.
final class Once<Object: AnyObject & Sendable>: Sendable {
  /// The object's address, 0 for none. A number: an atomic reference of another type for each kind
  /// of object searches all conformances of the process when it is first used.
  private let address = Atomic<UInt>(0)

  deinit {
    unretained?.release()
  }

  /// The object, if it is there; valid as long as the box.
  @inline(__always)
  var unretained: Unmanaged<Object>? { Once.object(at: address.load(ordering: .acquiring)) }

  @inline(__always)
  private static func object(at address: UInt) -> Unmanaged<Object>? {
    guard let pointer = UnsafeRawPointer(bitPattern: address) else { return nil }
    return .fromOpaque(pointer)
  }

  /// The object, if it is there.
  var value: Object? { unretained?.takeUnretainedValue() }

  /// Stores the object if none is there, and returns the one that is then.
  func storeIfNil(_ new: Object) -> Object {
    let retained = Unmanaged.passRetained(new)
    let (isStored, old) = address.compareExchange(
      expected: 0, desired: UInt(bitPattern: retained.toOpaque()),
      ordering: .acquiringAndReleasing)
    if isStored { return new }
    retained.release()
    return Once.object(at: old)?.takeUnretainedValue() ?? new
  }
}

/// The bits of a group's live rows as a checkpoint stores them, once they are read.
final class StoredRows: Sendable {
  let reference: ChunkReference
  let source: any ChunkSource
  private let entity: EntityNumber
  private let loaded = Once<Words>()

  private final class Words: Sendable {
    let words: ContiguousArray<UInt64>
    init(_ words: ContiguousArray<UInt64>) { self.words = words }
  }

  init(
    _ reference: ChunkReference, source: any ChunkSource, entity: EntityNumber,
    words: ContiguousArray<UInt64>? = nil
  ) {
    self.reference = reference
    self.source = source
    self.entity = entity
    if let words { _ = loaded.storeIfNil(Words(words)) }
  }

  /// The bits, if they were read.
  var wordsIfLoaded: ContiguousArray<UInt64>? { loaded.value?.words }

  /// The bits; read now if they were not.
  func words() throws(StateFault) -> ContiguousArray<UInt64> {
    if let loaded = loaded.value { return loaded.words }
    let (header, rows) = try source.decode(reference) {
      bytes throws(DecodeFault) in try RowsChunkCodec.decode(bytes)
    }
    guard header.entity == entity, header.firstRow == reference.first,
      header.count == Int(reference.count)
    else { throw source.mismatch(reference) }
    return loaded.storeIfNil(Words(rows.words)).words
  }
}
