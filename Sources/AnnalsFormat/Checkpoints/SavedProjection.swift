import AnnalsModel

// FORMAT.md, "Saved projections": the list in a checkpoint's directory, and the chunks it names.

/// The place of a projection's saved state, as of a transaction.
package struct SavedProjection: Hashable, Sendable {
  /// The program's name for the projection.
  package var name: String
  /// The version of the program's code that saved it.
  package var version: Int64
  /// The chunk; its first is the transaction, its count 1.
  package var chunk: ChunkReference

  package init(name: String, version: Int64, chunk: ChunkReference) {
    self.name = name
    self.version = version
    self.chunk = chunk
  }

  /// The transaction as of which it is.
  package var number: Int64 { chunk.first }

  /// Whether the projection is of this name.
  package func isNamed(_ name: String) -> Bool { self.name.hasSameBytes(as: name) }

  /// The greatest count of bytes in a name.
  package static let maximumName = 255
  /// The greatest count of them in one directory.
  package static let maximumCount = 256
  /// The greatest count of bytes of a state.
  package static let maximumState = 16_000_000
}

/// The list of saved projections in a directory, rising by the bytes of their names.
package struct SavedProjections: Hashable, Sendable {
  /// The generation of the file that the list was written for. In another generation it is
  /// meaningless: an engine that does not know it has copied it.
  package var generation: UInt64
  package var list: [SavedProjection]

  /// The list of these; of more than a directory may have, those of the latest transactions.
  package init(generation: UInt64, _ list: [SavedProjection]) {
    self.generation = generation
    var list = list
    if list.count > SavedProjection.maximumCount {
      list.sort { $0.number > $1.number }
      list.removeLast(list.count - SavedProjection.maximumCount)
    }
    self.list = list.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// The item of the directory's extension area.
  func encode() -> ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = []
    bytes.append(varInt: generation)
    bytes.append(count: list.count)
    for saved in list {
      bytes.append(string: saved.name)
      bytes.append(varInt: UInt64(bitPattern: saved.version))
      saved.chunk.encode(into: &bytes)
    }
    return bytes
  }

  /// Reads the item.
  init(_ reader: inout ByteReader) throws(DecodeFault) {
    generation = try reader.readVarUInt62()
    list = []
    let count = try reader.readCount(
      limit: SavedProjection.maximumCount, minimumLength: 3 + ChunkReference.minimumLength)
    guard count > 0 else { throw reader.invalid("an empty list of projections") }
    for _ in 0..<count {
      let saved = SavedProjection(
        name: try ProjectionCodec.readName(&reader), version: try reader.readVarInt64(),
        chunk: try ChunkReference(&reader))
      guard saved.chunk.count == 1 else { throw reader.invalid("a projection in several chunks") }
      if let last = list.last, !last.name.utf8.lexicographicallyPrecedes(saved.name.utf8) {
        throw reader.invalid("projections out of order")
      }
      list.append(saved)
    }
    guard CheckpointDirectory.haveRoom(list.map(\.chunk)) else {
      throw reader.invalid("chunks that overlap")
    }
  }
}

/// A chunk that holds the state of a projection: its contents byte, which projection it is of, and
/// a section with the bytes that the program made of it.
package enum ProjectionCodec {
  /// What the chunk begins with, in the numbering of `ChunkContent`. Stored in files: never
  /// renumber.
  private static let contents: UInt8 = 6

  /// What a chunk holds.
  package struct Contents {
    package var name: String
    package var version: Int64
    package var number: Int64
    package var state: ContiguousArray<UInt8>

    package init(
      name: String, version: Int64, number: Int64, state: ContiguousArray<UInt8>
    ) {
      self.name = name
      self.version = version
      self.number = number
      self.state = state
    }
  }

  /// The chunk's payload; the state has at most `SavedProjection.maximumState` bytes.
  package static func encode(_ contents: Contents) -> ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = [ProjectionCodec.contents]
    bytes.append(string: contents.name)
    bytes.append(varInt: UInt64(bitPattern: contents.version))
    bytes.append(varInt: UInt64(bitPattern: contents.number))
    var deflate = Deflate()
    ChunkSection.append(contents.state, to: &bytes, deflate: &deflate)
    return bytes
  }

  /// Reads a chunk's payload.
  package static func decode(
    _ payload: UnsafeRawBufferPointer
  ) throws(DecodeFault) -> Contents {
    var reader = ByteReader(payload)
    guard try reader.readUInt8() == contents else { throw reader.invalid("another kind of chunk") }
    let name = try readName(&reader)
    let version = try reader.readVarInt64()
    let number = try reader.readVarInt64()
    var inflate = Inflate()
    let state = try ChunkSection.read(
      &reader, limit: SavedProjection.maximumState, inflate: &inflate)
    try reader.expectEnd()
    return Contents(name: name, version: version, number: number, state: state)
  }

  fileprivate static func readName(_ reader: inout ByteReader) throws(DecodeFault) -> String {
    let name = try reader.readString()
    guard 1...SavedProjection.maximumName ~= name.utf8.count else {
      throw reader.invalid("a name of a projection that is empty or too long")
    }
    return name
  }
}
