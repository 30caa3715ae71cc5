import AnnalsModel

/// Encodes one block.
struct BlockEncoder: ~Copyable {
  private(set) var summary: BlockSummary
  /// The ordinal, in the summary's entities, of each change's entity.
  private var ordinals: ContiguousArray<Int64> = []
  private var shapeTables: ContiguousArray<BlockShapeTable> = []
  /// The ordinal, in its entity's table, of each change's shape.
  private var shapeOf: ContiguousArray<Int64> = []
  /// The changes entity after entity, and where each entity's begin.
  private var order: ContiguousArray<Int> = []
  private var starts: ContiguousArray<Int> = [0]
  /// The bytes of the next section.
  private var raw: ContiguousArray<UInt8> = []
  private var integers = Scratch<Int64>()
  private var firsts = Scratch<UInt32>()
  private var cells = Scratch<ValueCell>()
  private var tags = Scratch<UInt8>()

  /// Shorter sections are not worth deflating.
  static let shortest = 32

  /// Collects everything but the values.
  init(_ batch: ChangeBatch) {
    guard let first = batch.transactions.first else {
      preconditionFailure("a block has at least one transaction")
    }
    let isPart = first.part > 0 || first.isContinued
    precondition(!isPart || batch.transactions.count == 1, "a part is alone in its block")
    summary = BlockSummary(
      firstNumber: first.number, transactionCount: batch.transactions.count, isPart: isPart,
      part: first.part, minimumTimestamp: first.timestamp, maximumTimestamp: first.timestamp,
      changeCount: batch.changes.count)
    for (index, record) in batch.transactions.enumerated() {
      precondition(record.number == first.number + Int64(index), "numbers follow one another")
      precondition(record.lost == nil || batch.transactions.count == 1, "a gap record is alone")
      summary.minimumTimestamp = min(summary.minimumTimestamp, record.timestamp)
      summary.maximumTimestamp = max(summary.maximumTimestamp, record.timestamp)
    }
    summary.authors = batch.transactions.lazy.map(\.author).distinctRising
    summary.contexts = batch.transactions.lazy.map(\.context).distinctRising
    summary.entities = batch.changes.lazy.map(\.entity).distinctRising
      .map { BlockSummary.EntitySummary(entity: $0) }
    summarizeChanges(batch)
  }

  private mutating func summarizeChanges(_ batch: ChangeBatch) {
    let numbers = summary.entities.map(\.entity)
    shapeTables = ContiguousArray(repeating: BlockShapeTable(), count: numbers.count)
    ordinals.reserveCapacity(batch.changes.count)
    shapeOf.reserveCapacity(batch.changes.count)
    var ordinal = 0
    batch.properties.withUnsafeBufferPointer { properties in
      for change in batch.changes {
        if numbers[ordinal] != change.entity {
          ordinal = numbers.rank { $0 < change.entity }
        }
        ordinals.append(Int64(ordinal))
        shapeOf.append(Int64(shapeTables[ordinal].ordinal(of: change, properties)))
        summary.entities[ordinal].changeCount += 1
        let row = change.row
        summary.entities[ordinal].minimumRow = min(summary.entities[ordinal].minimumRow, row)
        summary.entities[ordinal].maximumRow = max(summary.entities[ordinal].maximumRow, row)
      }
    }
    sortByEntity()
    for (ordinal, table) in shapeTables.enumerated() {
      var kinds: UInt8 = 0
      for shape in table.shapes { kinds |= 1 << shape.kind.rawValue }
      summary.entities[ordinal].kinds = kinds
      summary.entities[ordinal].properties = ContiguousArray(
        table.shapes.lazy.flatMap(\.properties).distinctRising)
    }
  }

  private mutating func sortByEntity() {
    for entity in summary.entities { starts.append(starts[starts.count - 1] + entity.changeCount) }
    order = ContiguousArray(repeating: 0, count: ordinals.count)
    var next = starts
    for (index, ordinal) in ordinals.enumerated() {
      order[next[Int(ordinal)]] = index
      next[Int(ordinal)] += 1
    }
  }

  /// Appends the block.
  mutating func encode(
    _ batch: ChangeBatch, into bytes: inout ContiguousArray<UInt8>, level: Int32
  ) {
    summary.encode(into: &bytes)
    var deflate = Deflate(level: level)
    encodeTransactions(batch, into: &bytes, with: &deflate)
    append(ordinals, to: &bytes, with: &deflate)
    for ordinal in summary.entities.indices {
      encodeEntity(ordinal, batch, into: &bytes, with: &deflate)
    }
  }

  private mutating func encodeTransactions(
    _ batch: ChangeBatch, into bytes: inout ContiguousArray<UInt8>, with deflate: inout Deflate
  ) {
    let records = batch.transactions
    append(records.lazy.map(\.timestamp.microseconds), to: &bytes, with: &deflate)
    append(records.lazy.map { Int64($0.author) }, to: &bytes, with: &deflate)
    append(records.lazy.map { Int64($0.context) }, to: &bytes, with: &deflate)
    append(records.lazy.map { Int64($0.opening) }, to: &bytes, with: &deflate)
    append(records.lazy.map { Int64($0.changeCount) }, to: &bytes, with: &deflate)
    // One byte for each transaction without details, unless none has any.
    if records.contains(where: { RecordDetails.flags(of: $0) != 0 }) {
      for record in records { RecordDetails.encode(record, into: &raw) }
    }
    appendSection(to: &bytes, with: &deflate)
  }

  private mutating func append(
    _ numbers: some Collection<Int64>, to bytes: inout ContiguousArray<UInt8>,
    with deflate: inout Deflate
  ) {
    ContiguousArray(numbers).withUnsafeBufferPointer {
      append($0, to: &bytes, with: &deflate)
    }
  }

  private mutating func append(
    _ numbers: UnsafeBufferPointer<Int64>, to bytes: inout ContiguousArray<UInt8>,
    with deflate: inout Deflate
  ) {
    IntegerColumn.encode(numbers, into: &raw)
    appendSection(to: &bytes, with: &deflate)
  }

  /// Appends `raw` as a section, and clears it for the next.
  private mutating func appendSection(
    to bytes: inout ContiguousArray<UInt8>, with deflate: inout Deflate
  ) {
    raw.withUnsafeBytes {
      ChunkSection.append($0, to: &bytes, deflate: &deflate, shortest: BlockEncoder.shortest)
    }
    raw.removeAll(keepingCapacity: true)
  }

  private mutating func encodeEntity(
    _ ordinal: Int, _ batch: ChangeBatch, into bytes: inout ContiguousArray<UInt8>,
    with deflate: inout Deflate
  ) {
    let entity = summary.entities[ordinal]
    let shapes = shapeTables[ordinal].shapes
    let numbers = integers.reserve(entity.changeCount * 2)
    let shapeOfEach = UnsafeMutableBufferPointer(rebasing: numbers[..<entity.changeCount])
    let rows = UnsafeMutableBufferPointer(rebasing: numbers[entity.changeCount...])
    let firsts = firsts.reserve(entity.changeCount)
    for next in 0..<entity.changeCount {
      let index = order[starts[ordinal] + next]
      let change = batch.changes[index]
      shapeOfEach[next] = shapeOf[index]
      rows[next] = change.row
      firsts[next] = change.firstProperty
    }
    var layout = BlockLayout(shapes, entity.properties)
    for shape in shapeOfEach { layout.use(Int(shape)) }
    layout.placeColumns()
    let unknown = unknownSlots(of: entity, layout, shapeOfEach, rows, firsts, batch)
    BlockShape.encode(shapes, into: &raw)
    let reused = zip(entity.properties, unknown).lazy.filter { $0.1 != nil }.map(\.0)
    PropertyVector.encode(ContiguousArray(reused), into: &raw)
    appendSection(to: &bytes, with: &deflate)
    for run in [shapeOfEach, rows] {
      append(UnsafeBufferPointer(run), to: &bytes, with: &deflate)
    }
    let slots = layout.slots(shapeOfEach, firsts)
    for (column, range) in layout.columns.enumerated() where !range.isEmpty {
      let isBefore = column % 2 == 0
      let listed = isBefore ? unknown[column / 2]?[...] ?? slots[range] : slots[range]
      encode(listed, isBefore: isBefore, batch, into: &bytes, with: &deflate)
    }
  }

  /// Appends the column of these property changes' values before or after.
  private mutating func encode(
    _ slots: ArraySlice<UInt32>, isBefore: Bool, _ batch: ChangeBatch,
    into bytes: inout ContiguousArray<UInt8>, with deflate: inout Deflate
  ) {
    let cells = cells.reserve(slots.count)
    let tags = tags.reserve(cells.count)
    batch.properties.withUnsafeBufferPointer { properties in
      for (index, slot) in slots.enumerated() {
        let change = properties[Int(slot)]
        let cell = isBefore ? change.before : change.after
        cells[index] = cell
        tags[index] = ValueCodec.tagByte(cell, isEdits: change.isEdits)
      }
    }
    batch.arena.withUnsafeBytes {
      CellColumn.encode(
        UnsafeBufferPointer(cells), tags: UnsafeBufferPointer(tags), in: $0, into: &raw)
    }
    appendSection(to: &bytes, with: &deflate)
  }
}
