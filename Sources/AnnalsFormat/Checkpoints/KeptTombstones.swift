/// Which deletes in pruned history a base remembers, and where: an item of its directory.
package struct KeptTombstones: Hashable, Sendable {
  /// All deletes of transactions after this one, up to the base, are among them.
  package var completeAfter: Int64
  /// The frames, in order; the first of each counts the tombstones before it.
  package var frames: [ChunkReference]

  package init(completeAfter: Int64, frames: [ChunkReference] = []) {
    self.completeAfter = completeAfter
    self.frames = frames
  }

  /// How many there are.
  package var count: Int64 { frames.last.map { $0.first + Int64($0.count) } ?? 0 }

  /// Appends the item.
  func encode(into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(varInt: UInt64(bitPattern: completeAfter))
    ChunkReference.encode(frames, into: &bytes)
  }

  /// Reads the item.
  init(_ reader: inout ByteReader) throws(DecodeFault) {
    completeAfter = try reader.readVarInt64()
    frames = try ChunkReference.decodeList(&reader)
    var count: Int64 = 0
    for frame in frames {
      guard frame.first == count, frame.count > 0 else {
        throw reader.invalid("frames of tombstones with a gap")
      }
      count += Int64(frame.count)
    }
    guard CheckpointDirectory.haveRoom(frames) else {
      throw reader.invalid("tombstones that overlap")
    }
  }
}
