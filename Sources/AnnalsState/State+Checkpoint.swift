import AnnalsFormat
import AnnalsModel

// A checkpoint holds, for each entity and each group of 4,096 rows, a chunk that says which rows
// live and one for each column that has a value there; and each index as chunks in key order.
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
  /// Takes over what a checkpoint holds; the table is new.
  func load(_ directory: EntityDirectory, source: any ChunkSource) throws(StateFault) {
    nextRow = directory.nextRow
    guard nextRow <= RowPosition.maximumRow + 1 else { throw invalid(nextRow, "row out of range") }
    for reference in directory.rows {
      let place = try place(reference.first)
      guard place.offset == 0, reference.first < nextRow, reference.count > 0,
        reference.count <= UInt32(RowPosition.groupRows)
      else { throw invalid(reference.first, "a checkpoint's rows contradict themselves") }
      groups.writableGroup(place.group)
        .setStored(StoredRows(reference, source: source, entity: number))
      liveCount += Int(reference.count)
    }
    guard liveCount == Int(directory.liveCount) else {
      throw invalid(0, "a checkpoint's counts contradict each other")
    }
    for column in directory.columns {
      guard let position = position(of: column.property) else {
        throw invalid(0, "a checkpoint of no such property")
      }
      for reference in column.chunks {
        let place = try place(reference.first)
        guard groups.group(place.group) != nil else {
          throw invalid(reference.first, "a checkpoint has values of no object")
        }
        let group = groups.writableGroup(place.group)
        let part =
          group.storedColumn(position)?.adding(reference)
          ?? StoredColumn(
            [reference], source: source, entity: number, column: columns[position],
            group: place.group)
        group.setStored(part, column: position)
      }
    }
    for index in directory.indexes {
      guard let place = indexes.firstIndex(where: { $0.shape.number == index.rule }) else {
        continue
      }
      let tree = IndexTree(
        index, form: indexes[place].shape.form, source: source, entity: number)
      guard tree.count == Int(index.count) else {
        throw invalid(0, "a checkpoint's counts contradict each other")
      }
      indexes[place] = indexes[place].loaded(tree, nextRow: nextRow)
    }
  }

  /// Hands out chunks and returns the directory. The table is in one hand; groups and nodes are
  /// replaced where what they know changes.
  func write(
    full: Bool, to writer: inout ChunkWriter
  ) throws -> EntityDirectory {
    var directory = EntityDirectory(
      entity: number, nextRow: nextRow, liveCount: Int64(liveCount))
    var columnChunks = [[ChunkReference]](repeating: [], count: columns.count)
    var next = groups.nextIndex(from: 0)
    while let index = next {
      next = groups.nextIndex(from: index + 1)
      guard let current = groups.group(index) else { continue }
      if current.liveCount == 0 {
        groups.removeGroup(index)
        continue
      }
      let group =
        full || current.hasUnsaved ? groups.writableGroup(index) : current
      try writeRows(of: group, index, full: full, to: &writer)
      if let reference = group.storedLive?.reference { directory.rows.append(reference) }
      for column in columns.indices {
        try writeColumn(column, of: group, index, full: full, to: &writer)
        columnChunks[column] += group.storedColumn(column)?.references ?? []
      }
    }
    for column in columnsByProperty where !columnChunks[column].isEmpty {
      directory.columns.append(
        ColumnDirectory(property: columns[column].property, chunks: columnChunks[column]))
    }
    for index in indexes.indices {
      let rule = indexes[index].shape.number
      let chunks = try indexes[index].tree.write(
        full: full, entity: number, rule: rule, to: &writer)
      directory.indexes.append(
        IndexDirectory(rule: rule, count: Int64(indexes[index].tree.count), chunks: chunks))
    }
    directory.indexes.sort { $0.rule < $1.rule }
    return directory
  }

  private func writeRows(
    of group: RowGroup, _ index: Int, full: Bool, to writer: inout ChunkWriter
  ) throws {
    let first = RowPosition.firstRow(ofGroup: index)
    if let stored = group.storedLive {
      guard full else { return }
      let reference = try writer.copy(stored.reference, from: stored.source, first: first)
      group.setStored(
        StoredRows(reference, source: writer.source, entity: number, words: stored.wordsIfLoaded))
      return
    }
    let words = try group.liveWords()
    let number = self.number
    let reference = try writer.write(first: first, count: group.liveCount) { output, deflate in
      RowsChunkCodec.encode(
        RowPresence(words: words), entity: number, firstRow: first, into: &output,
        deflate: &deflate)
    }
    group.setStored(StoredRows(reference, source: writer.source, entity: number, words: words))
  }

  private func writeColumn(
    _ column: Int, of group: RowGroup, _ index: Int, full: Bool, to writer: inout ChunkWriter
  ) throws {
    let property = columns[column].property
    let references: [ChunkReference]
    let leaves: ContiguousArray<Leaf?>?
    if let stored = group.storedColumn(column), stored.origin == nil {
      guard full else { return }
      leaves = stored.leavesIfLoaded
      references = try stored.references.map {
        try writer.copy($0, from: stored.source, first: $0.first)
      }
    } else {
      guard group.isChanged(column: column) else { return }
      let changed = try group.leaves(column: column)
      leaves = changed
      references = try write(changed, property: property, group: index, to: &writer)
    }
    let part =
      references.isEmpty
      ? nil
      : StoredColumn(
        references, source: writer.source, entity: number, column: columns[column], group: index,
        leaves: leaves)
    group.setStored(part, column: column)
  }

  /// Writes leaves as one chunk, or as several where the values are so long that one would be more
  /// than a frame should hold.
  private func write(
    _ leaves: ContiguousArray<Leaf?>, property: PropertyNumber, group: Int,
    to writer: inout ChunkWriter
  ) throws -> [ChunkReference] {
    var references: [ChunkReference] = []
    var ranges = [0..<Int(RowPosition.groupRows)]
    let number = self.number
    while let range = ranges.popLast() {
      guard let values = Leaf.values(leaves, offsets: range) else { continue }
      if values.bytes.count > Table.targetChunkBytes, range.count > 1 {
        let middle = (range.lowerBound + range.upperBound) / 2
        ranges.append(middle..<range.upperBound)
        ranges.append(range.lowerBound..<middle)
        continue
      }
      let first = RowPosition.firstRow(ofGroup: group) + Int64(range.lowerBound)
      references.append(
        try writer.write(first: first, count: values.rows.count) { output, deflate in
          ColumnChunkCodec.encode(
            values, entity: number, property: property, firstRow: first, into: &output,
            deflate: &deflate)
        })
    }
    return references
  }

  /// The most bytes of values that one chunk should hold.
  private static let targetChunkBytes = 4 << 20

  /// About how many bytes a checkpoint would write for this table.
  fileprivate var unsavedByteEstimate: Int {
    var bytes = 0
    var next = groups.nextIndex(from: 0)
    while let index = next {
      next = groups.nextIndex(from: index + 1)
      guard let group = groups.group(index) else { continue }
      if group.storedLive == nil, group.liveCount > 0 { bytes += 64 }
      for column in columns.indices where group.isChanged(column: column) { bytes += 48 }
      for block in group.blocks { for leaf in block { bytes += leaf?.storedByteEstimate ?? 0 } }
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
