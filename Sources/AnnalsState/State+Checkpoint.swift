import AnnalsFormat
import AnnalsModel

// A checkpoint holds, for each entity and each group of 4,096 rows, a chunk that says which rows
// live and some for each column that has a value there; and each index as chunks in key order.
// What did not change since the checkpoint before stays where that one wrote it.

extension State {
  /// The state of a checkpoint. Reads nothing: chunks are read when first touched.
  ///
  /// Throws for a directory that contradicts itself or its schema.
  package init(
    directory: CheckpointDirectory, source: any ChunkSource
  ) throws(StateFault) {
    self.init(schema: directory.schema)
    for entity in directory.entities {
      guard let index = index(of: entity.entity) else {
        throw .invalid(entity: entity.entity, row: 0, reason: "a checkpoint of no such entity")
      }
      try tables[index].load(entity, source: source)
    }
  }

  /// Writes the chunks that are not stored yet, or all if `full`, and returns the directories of
  /// all entities that ever had an object.
  ///
  /// Afterwards the state refers to its chunks by the new references, to be read from `source`;
  /// values in memory stay there. If it throws, discard the state, which may refer to chunks that
  /// will never exist; so call it on a copy.
  ///
  /// `full` copies chunks that were never read without decoding them: for a rewrite into another
  /// file.
  package mutating func writeChunks(
    full: Bool, source: any ChunkSource,
    store: (UnsafeRawBufferPointer, _ first: Int64, _ count: UInt32) throws -> ChunkReference
  ) throws -> [EntityDirectory] {
    try adoptIndexes()
    _ = try checkUniqueness()
    return try withoutActuallyEscaping(store) { store in
      var writer = ChunkWriter(source: source, store: store)
      var directories: [EntityDirectory] = []
      for index in tables.indices where tables[index].nextRow > 1 {
        let table = try writableTable(tables[index].number, row: 0)
        directories.append(try table.write(full: full, to: &writer))
      }
      return directories
    }
  }

  /// Restores the indexes of the state's own schema: a past state has those of the newest.
  private mutating func adoptIndexes() throws(StateFault) {
    for entity in schema.entities {
      guard let table = findTable(entity.number),
        table.indexes.map(\.shape) != entity.keptShapes
      else { continue }
      try writableTable(entity.number, row: 0).defineIndexes(entity)
    }
  }

  /// Roughly how many bytes of chunks the next checkpoint would write: the changes since the last
  /// one as in memory, less typical compression. O(chunks).
  package var unsavedByteEstimate: Int {
    tables.reduce(0) { $0 + $1.unsavedByteEstimate }
  }
}

extension Table {
  /// About how many bytes a checkpoint would write for this table.
  fileprivate var unsavedByteEstimate: Int {
    var bytes = 0
    var next = groups.nextIndex(from: 0)
    while let index = next {
      next = groups.nextIndex(from: index + 1)
      guard let group = groups.group(index) else { continue }
      if group.storedLive == nil, group.liveCount > 0 { bytes += 64 }
      for column in columns.indices where group.isChanged(column: column) {
        bytes += 48 + group.unsavedByteEstimate(of: column)
      }
    }
    for index in indexes {
      index.tree.forEachSlot { slot, _ in
        if let node = slot.changed { bytes += 5 * node.count }
      }
      if index.isStale(nextRow) { bytes += 5 * index.notedCount }
    }
    return bytes
  }
}

extension RowGroup {
  /// About how many bytes a checkpoint would write for a column: its written leaves, and what
  /// shares chunks with them.
  fileprivate func unsavedByteEstimate(of column: Int) -> Int {
    var bytes = 0
    for block in blocks where column < block.count {
      bytes += block[column]?.storedByteEstimate ?? 0
    }
    guard let stored = storedColumn(column), stored.origin == nil else { return bytes }
    var held = 0
    for part in stored.parts where part.leaves.contains(where: { isWritten($0, column: column) }) {
      for reference in stored.references[part.chunks] { held += Int(reference.length) }
    }
    return max(bytes, held)
  }
}

extension Leaf {
  /// About how many bytes the values take in a chunk.
  var storedByteEstimate: Int {
    switch head.pointee.kind {
    case .bool: head.pointee.present / 8
    case .int, .day: 4 * head.pointee.present
    case .double: 8 * head.pointee.present
    case .date: 6 * head.pointee.present
    case .object: 3 * head.pointee.present
    case .uuid: 16 * head.pointee.present
    // What text compresses to.
    case .string, .url, .json, .data, .objects, .any, .decimal:
      head.pointee.present + (head.pointee.arenaCount - head.pointee.garbage) / 3
    }
  }
}
