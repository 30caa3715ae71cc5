import AnnalsModel

extension BlockDecoder {
  /// Reads all columns of an entity's values, of which the values before of some properties are
  /// left out where an earlier change tells them.
  mutating func decodeColumns(
    _ reader: inout ByteReader, into cells: UnsafeMutableBufferPointer<ValueCell>,
    _ layout: BlockLayout, reusing reused: ContiguousArray<PropertyNumber>,
    of entity: BlockSummary.EntitySummary, _ shapeOf: UnsafeMutableBufferPointer<Int64>,
    _ rows: UnsafeMutableBufferPointer<Int64>, arena: inout ContiguousArray<UInt8>
  ) throws(DecodeFault) {
    let objects = BlockObjects(rows, from: entity.minimumRow, through: entity.maximumRow)
    var known = KnownValues(objects, kinds: layout.kinds(shapeOf))
    let isReused = ContiguousArray(entity.properties.map(reused.contains))
    let uses = layout.uses(
      of: isReused, without: known.isLoneInsert, shapeOf, layout.firsts(shapeOf))
    var next = reused[...]
    for (ordinal, property) in entity.properties.enumerated() {
      let before = layout.columns[2 * ordinal]
      let after = layout.columns[2 * ordinal + 1]
      if next.first == property {
        next.removeFirst()
        try decodeReused(
          &reader, into: cells, before, uses.all[uses.ranges[ordinal]], known: &known,
          arena: &arena)
      } else if !before.isEmpty {
        try decodeValues(&reader, into: cells, before, arena: &arena)
      }
      if !after.isEmpty { try decodeValues(&reader, into: cells, after, arena: &arena) }
    }
    guard next.isEmpty else { throw reader.invalid("a property that the summary does not list") }
  }

  /// Reads the values before that no earlier change tells, and puts what stands for the others
  /// between them.
  private mutating func decodeReused(
    _ reader: inout ByteReader, into cells: UnsafeMutableBufferPointer<ValueCell>,
    _ column: Range<Int>, _ uses: ContiguousArray<KnownValues.Use>.SubSequence,
    known: inout KnownValues,
    arena: inout ContiguousArray<UInt8>
  ) throws(DecodeFault) {
    guard !column.isEmpty else { return }
    var sources: ContiguousArray<KnownValues.Source> = []
    sources.reserveCapacity(column.count)
    known.forEach(uses) { sources.append($1) }
    let unknown = sources.count { $0 == .unknown }
    var given = column.lowerBound + unknown
    try decodeValues(&reader, into: cells, column.lowerBound..<given, arena: &arena)
    // Each value read moves to its place, the last one first.
    for (place, source) in zip(column, sources).reversed() {
      var isEdits = false
      switch source {
      case .unknown:
        given -= 1
        cells[place] = cells[given]
        isEdits = !edits.isEmpty && edits[given]
      case .null: cells[place] = .null
      case .slot(let slot): cells[place] = BlockLayout.known(at: slot)
      }
      if !edits.isEmpty { edits[place] = isEdits }
    }
  }
}
