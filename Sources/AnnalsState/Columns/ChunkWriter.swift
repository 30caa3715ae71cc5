import AnnalsFormat
import AnnalsModel

/// Writes the chunks of a checkpoint and returns their references.
struct ChunkWriter {
  /// The source from which the chunks will be read once they are written.
  let source: any ChunkSource
  private let store: (UnsafeRawBufferPointer, Int64, UInt32) throws -> ChunkReference
  private let deflate = DeflateBox()
  private var payload: ContiguousArray<UInt8> = []

  /// The compressor's memory, allocated once for all chunks.
  private final class DeflateBox {
    var deflate = Deflate()
  }

  init(
    source: any ChunkSource,
    store: @escaping (UnsafeRawBufferPointer, Int64, UInt32) throws -> ChunkReference
  ) {
    self.source = source
    self.store = store
  }

  /// Writes a chunk whose payload `encode` appends.
  mutating func write(
    first: Int64, count: Int, _ encode: (inout ContiguousArray<UInt8>, inout Deflate) -> Void
  ) throws -> ChunkReference {
    payload.removeAll(keepingCapacity: true)
    encode(&payload, &deflate.deflate)
    return try payload.withUnsafeBytes { try store($0, first, UInt32(count)) }
  }

  /// Copies a chunk of another file unchanged.
  mutating func copy(
    _ reference: ChunkReference, from other: any ChunkSource, first: Int64
  ) throws -> ChunkReference {
    try other.chunk(reference).withUnsafeBytes { try store($0, first, reference.count) }
  }
}
