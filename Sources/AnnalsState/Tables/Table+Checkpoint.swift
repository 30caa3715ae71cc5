import AnnalsFormat
import AnnalsModel

// A table as a checkpoint holds it.

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
      try load(column.chunks[...], column: position, source: source)
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

  /// Takes over the chunks of a column, whose rows rise.
  private func load(
    _ references: ArraySlice<ChunkReference>, column: Int, source: any ChunkSource
  ) throws(StateFault) {
    var rest = references
    while let first = rest.first {
      let index = try place(first.first).group
      guard groups.group(index) != nil else {
        throw invalid(first.first, "a checkpoint has values of no object")
      }
      let end = RowPosition.firstRow(ofGroup: index + 1)
      let part = rest.prefix { $0.first < end }
      rest = rest.dropFirst(part.count)
      let stored = StoredColumn(
        Array(part), source: source, entity: number, column: columns[column], group: index)
      groups.writableGroup(index).setStored(stored, column: column)
    }
  }
}

extension Table {
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
    // What was edited without being read is in no chunk.
    let stored = group.storedColumn(column).flatMap { $0.origin == nil ? $0 : nil }
    guard group.isChanged(column: column) || full && stored != nil else { return }
    let all = StoredColumn.Part(chunks: 0..<0, leaves: 0..<RowPosition.leafCount)
    var references: [ChunkReference] = []
    var written: [(index: Int, leaf: Leaf?)] = []
    for part in stored?.parts ?? [all] {
      // The chunks of leaves that nobody has written stay.
      if let stored, !part.leaves.contains(where: { group.isWritten($0, column: column) }) {
        for reference in stored.references[part.chunks] {
          references.append(
            full
              ? try writer.copy(reference, from: stored.source, first: reference.first) : reference)
        }
        continue
      }
      var leaves = ContiguousArray<Leaf?>(repeating: nil, count: RowPosition.leafCount)
      for place in part.leaves {
        let leaf = try group.leaf(place, column: column)
        leaves[place] = leaf?.isEmpty == true ? nil : leaf
        written.append((place, leaves[place]))
      }
      references += try writeChunks(
        leaves, in: part.leaves, property: columns[column].property, group: index, to: &writer)
    }
    let part =
      references.isEmpty
      ? nil
      : StoredColumn(
        references, source: writer.source, entity: number, column: columns[column], group: index,
        leaves: written, besides: stored)
    group.setStored(part, column: column)
  }
}
