import AnnalsModel

/// The payload of a list chunk: a run of the references to an entity's rows chunks, or to one
/// column's chunks, so that a checkpoint need not write all of them again.
///
/// A header like that of every chunk of state (property 0 for rows, the first row of the first
/// reference, the count of references), then the references. FORMAT.md, "Chunks of state".
package enum ReferenceListCodec {
  /// The number of row groups in one list chunk; also the most references.
  package static let maximumCount = 4096

  /// Appends a list chunk with these references; there is at least one.
  package static func encode(
    _ references: ArraySlice<ChunkReference>, entity: EntityNumber, property: PropertyNumber,
    into bytes: inout ContiguousArray<UInt8>
  ) {
    ChunkHeader(
      content: .references, entity: entity, property: property,
      firstRow: references.first?.first ?? 1, count: references.count
    ).encode(into: &bytes)
    for reference in references { reference.encode(into: &bytes) }
  }

  /// Reads a list chunk.
  package static func decode(
    _ payload: UnsafeRawBufferPointer
  ) throws(DecodeFault) -> (header: ChunkHeader, references: [ChunkReference]) {
    var reader = ByteReader(payload)
    let header = try ChunkHeader(&reader, expecting: .references)
    guard header.count <= reader.remaining / ChunkReference.minimumLength else {
      throw reader.invalid("more references than there are bytes")
    }
    let references = try ChunkReference.decodeList(&reader, count: header.count)
    try reader.expectEnd()
    guard references.first?.first == header.firstRow else {
      throw .invalid(at: 0, reason: "a list that begins with another row")
    }
    return (header, references)
  }
}

extension CheckpointDirectory {
  /// Puts what the list chunks hold in front of the references that the directory itself has.
  /// `load` reads a list chunk. Throws `invalid` if they are not what the directory says.
  package mutating func resolveLists(
    _ load: (ChunkReference) throws -> (header: ChunkHeader, references: [ChunkReference])
  ) throws {
    var hasLists = false
    for entity in entities.indices {
      let number = entities[entity].entity
      if !entities[entity].rowLists.isEmpty {
        hasLists = true
        entities[entity].rows = try CheckpointDirectory.joined(
          entities[entity].rowLists, entities[entity].rows, entity: number, property: 0, load)
      }
      for column in entities[entity].columns.indices
      where !entities[entity].columns[column].lists.isEmpty {
        hasLists = true
        let listed = entities[entity].columns[column]
        entities[entity].columns[column].chunks = try CheckpointDirectory.joined(
          listed.lists, listed.chunks, entity: number, property: listed.property, load)
      }
    }
    guard !hasLists || chunksHaveRoom else {
      throw DecodeFault.invalid(at: 0, reason: "chunks that overlap")
    }
  }

  private static func joined(
    _ lists: [ChunkReference], _ rest: [ChunkReference], entity: EntityNumber,
    property: PropertyNumber,
    _ load: (ChunkReference) throws -> (header: ChunkHeader, references: [ChunkReference])
  ) throws -> [ChunkReference] {
    var result: [ChunkReference] = []
    for list in lists {
      let (header, references) = try load(list)
      guard header.entity == entity, header.property == property, header.firstRow == list.first,
        header.count == Int(list.count)
      else { throw DecodeFault.invalid(at: 0, reason: "a list of other references") }
      result += references
    }
    result += rest
    // Not by `zip`: see "The way to the first object" in Docs/Performance.md.
    for index in result.indices.dropFirst() where result[index - 1].first >= result[index].first {
      throw DecodeFault.invalid(at: 0, reason: "lists out of order")
    }
    return result
  }
}
