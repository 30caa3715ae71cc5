import AnnalsFormat
import AnnalsModel

/// Hands out the payloads of a checkpoint's chunks and gets their references back.
struct ChunkWriter {
  /// Where the chunks will be read from once they are written.
  let source: any ChunkSource
  private let store: (UnsafeRawBufferPointer, Int64, UInt32) throws -> ChunkReference
  private let deflate = DeflateBox()
  private var payload: ContiguousArray<UInt8> = []

  /// The compressor's memory, taken once for all chunks.
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

  /// Writes a chunk that `encode` appends.
  mutating func write(
    first: Int64, count: Int, _ encode: (inout ContiguousArray<UInt8>, inout Deflate) -> Void
  ) throws -> ChunkReference {
    payload.removeAll(keepingCapacity: true)
    encode(&payload, &deflate.deflate)
    return try payload.withUnsafeBytes { try store($0, first, UInt32(count)) }
  }

  /// Writes a chunk of another file as it is there.
  mutating func copy(
    _ reference: ChunkReference, from other: any ChunkSource, first: Int64
  ) throws -> ChunkReference {
    let bytes: ContiguousArray<UInt8>
    do throws(ChunkFault) {
      bytes = try other.chunk(reference)
    } catch {
      throw StateFault.chunk(error)
    }
    return try bytes.withUnsafeBytes { try store($0, first, reference.count) }
  }
}
