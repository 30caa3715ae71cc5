import AnnalsModel

/// Decodes blocks one after the other and keeps its working memory: several times faster than
/// `BlockCodec.decode` for small ones.
package struct BlockDecoder: ~Copyable {
  private var columns = ColumnReader()
  private var values = CellReader(arenaLength: 0)
  private var integers = Scratch<Int64>()
  private var positions = Scratch<UInt32>()
  private var cells = Scratch<ValueCell>()
  /// Which of the entity's cells are edits; empty while none is.
  var edits: ContiguousArray<Bool> = []
  /// Whether an entity may lack its set of reused properties: in drafts before version 1.
  private let mayLackReused: Bool

  /// A decoder of blocks of version 1, or also of drafts 2 and 3.
  package init(ofDraft: Bool = false) { mayLackReused = ofDraft }

  /// Appends the block's transactions to the batch, as `BlockCodec.decode`.
  package mutating func decode(
    _ payload: UnsafeRawBufferPointer, isContinued: Bool = false, withChanges: Bool = true,
    into batch: inout ChangeBatch
  ) throws(DecodeFault) {
    let mark = BatchMark(batch)
    do {
      columns.start()
      values.start(arenaLength: batch.arena.count, sharedTexts: batch.sharedTexts.count)
      try decodeBlock(payload, isContinued: isContinued, withChanges: withChanges, into: &batch)
      batch.sharedTexts.append(contentsOf: values.sharedTexts.cells)
    } catch {
      mark.restore(&batch)
      throw error
    }
  }

  private mutating func decodeBlock(
    _ payload: UnsafeRawBufferPointer, isContinued: Bool, withChanges: Bool,
    into batch: inout ChangeBatch
  ) throws(DecodeFault) {
    var reader = ByteReader(payload)
    let summary = try decodeTransactions(&reader, isContinued: isContinued, into: &batch)
    guard withChanges else { return }
    let ordinals = integers.reserve(summary.changeCount)
    try decodeIntegers(&reader, into: ordinals)
    let firstChange = batch.changes.count
    let starts = try placeChanges(ordinals, summary, &reader, firstChange: firstChange)
    let none = ChangeEntry(kind: .insert, entity: 0, row: 0, firstProperty: 0, propertyCount: 0)
    batch.changes.append(contentsOf: repeatElement(none, count: summary.changeCount))
    var limit = FormatLimits.maximumPropertyChanges
    for (entity, start) in zip(summary.entities, starts) {
      try decodeEntity(&reader, entity, from: start, limit: &limit, into: &batch)
    }
    try reader.expectEnd()
  }

  /// Reads one column of integers.
  private mutating func decodeIntegers(
    _ reader: inout ByteReader, into output: UnsafeMutableBufferPointer<Int64>
  ) throws(DecodeFault) {
    var column = ByteReader(try columns.read(&reader))
    try IntegerColumn.decode(&column, into: output)
    try column.expectEnd()
  }

  private mutating func decodeTransactions(
    _ reader: inout ByteReader, isContinued: Bool, into batch: inout ChangeBatch
  ) throws(DecodeFault) -> BlockSummary {
    let summary = try BlockSummary(&reader)
    guard summary.isPart || !isContinued else {
      throw reader.invalid("a continued block that is no part")
    }
    let count = summary.transactionCount
    let first = batch.transactions.count
    let numbers = integers.reserve(count)
    try decodeIntegers(&reader, into: numbers)
    for index in 0..<count {
      var record = TransactionRecord(
        number: summary.firstNumber + Int64(index),
        timestamp: Timestamp(microseconds: numbers[index]))
      record.part = summary.part
      record.isContinued = isContinued
      batch.transactions.append(record)
    }
    for field in 0..<3 {
      try decodeIntegers(&reader, into: numbers)
      for index in 0..<count {
        guard let number = UInt32(exactly: numbers[index]) else {
          throw reader.invalid("an impossible number of a name")
        }
        switch field {
        case 0: batch.transactions[first + index].author = number
        case 1: batch.transactions[first + index].context = number
        default: batch.transactions[first + index].opening = number
        }
      }
    }
    try decodeIntegers(&reader, into: numbers)
    var next = batch.changes.count
    let end = next + summary.changeCount
    for index in 0..<count {
      guard numbers[index] >= 0, numbers[index] <= Int64(end - next) else {
        throw reader.invalid("more changes than the block has")
      }
      batch.transactions[first + index].firstChange = UInt32(truncatingIfNeeded: next)
      batch.transactions[first + index].changeCount = UInt32(numbers[index])
      next += Int(numbers[index])
    }
    guard next == end else { throw reader.invalid("changes without a transaction") }
    var details = ByteReader(try columns.read(&reader))
    guard details.remaining > 0 else { return summary }
    guard summary.part == 0 else { throw reader.invalid("details in a part after the first") }
    for index in first..<first + count {
      try RecordDetails.decode(&details, into: &batch.transactions[index])
      guard batch.transactions[index].lost == nil || count == 1 else {
        throw reader.invalid("a gap record among transactions")
      }
    }
    try details.expectEnd()
    return summary
  }

  /// Sorts the changes by entity: fills `positions` with their places in the batch, entity after
  /// entity, and returns where each entity's begin.
  private mutating func placeChanges(
    _ ordinals: UnsafeMutableBufferPointer<Int64>, _ summary: BlockSummary,
    _ reader: inout ByteReader, firstChange: Int
  ) throws(DecodeFault) -> ContiguousArray<Int> {
    let places = positions.reserve(ordinals.count)
    var starts: ContiguousArray<Int> = []
    var total = 0
    for entity in summary.entities {
      starts.append(total)
      total += entity.changeCount
    }
    var next = starts
    for (index, ordinal) in ordinals.enumerated() {
      guard ordinal >= 0, ordinal < Int64(starts.count) else {
        throw reader.invalid("a change of no entity")
      }
      let entity = Int(ordinal)
      guard next[entity] - starts[entity] < summary.entities[entity].changeCount else {
        throw reader.invalid("more changes of an entity than the block has")
      }
      places[next[entity]] = UInt32(truncatingIfNeeded: firstChange + index)
      next[entity] += 1
    }
    return starts
  }

  private mutating func decodeEntity(
    _ reader: inout ByteReader, _ entity: BlockSummary.EntitySummary, from start: Int,
    limit: inout Int, into batch: inout ChangeBatch
  ) throws(DecodeFault) {
    let count = entity.changeCount
    var column = ByteReader(try columns.read(&reader))
    let shapes = try BlockShape.decode(&column, limit: count)
    let isLacking = mayLackReused && column.remaining == 0
    let reused: ContiguousArray<PropertyNumber> =
      isLacking ? [] : try PropertyVector.decode(&column, limit: entity.properties.count)
    try column.expectEnd()
    try check(shapes, of: entity, &reader)
    let numbers = integers.reserve(count * 2)
    let shapeOf = UnsafeMutableBufferPointer(rebasing: numbers[..<count])
    let rows = UnsafeMutableBufferPointer(rebasing: numbers[count...])
    try decodeIntegers(&reader, into: shapeOf)
    try decodeIntegers(&reader, into: rows)
    let positions = positions.reserve(start + count)
    var layout = BlockLayout(shapes, entity.properties)
    let base = batch.properties.count
    var next = base
    let end = next + limit
    for index in 0..<count {
      guard shapeOf[index] >= 0, shapeOf[index] < Int64(shapes.count) else {
        throw reader.invalid("a change of no shape")
      }
      let row = rows[index]
      guard row >= entity.minimumRow, row <= entity.maximumRow else {
        throw reader.invalid("a row outside the entity's range")
      }
      let shape = layout.use(Int(shapeOf[index]))
      guard shape.length <= end - next else {
        throw .tooLarge(at: reader.offset, limit: UInt64(FormatLimits.maximumPropertyChanges))
      }
      batch.changes[Int(positions[start + index])] = ChangeEntry(
        kind: shape.kind, entity: entity.entity, row: row, firstProperty: next,
        propertyCount: shape.length)
      next += shape.length
    }
    limit = end - next
    layout.placeColumns()
    let cells = cells.reserve(layout.cellCount)
    edits.removeAll(keepingCapacity: true)
    if reused.isEmpty {
      for column in layout.columns where !column.isEmpty {
        try decodeValues(&reader, into: cells, column, arena: &batch.arena)
      }
    } else {
      try decodeColumns(
        &reader, into: cells, layout, reusing: reused, of: entity, shapeOf, rows,
        arena: &batch.arena)
    }
    // Even for none the standard library would write a count, of 0, to the empty array that all
    // threads share.
    if next == base { return }
    var isSound = true
    batch.properties.append(addingCapacity: next - base) { span in
      span.withUnsafeMutableBufferPointer { run, count in
        let run = UnsafeMutableBufferPointer(rebasing: run[..<(next - base)])
        isSound = layout.assemble(cells, edits: edits, shapeOf, into: run)
        count = run.count
      }
    }
    guard isSound else { throw reader.invalid("edits where a value belongs") }
  }

  /// Throws unless the shapes are distinct in kind or properties, none but those of the summary.
  private func check(
    _ shapes: ContiguousArray<BlockShape>, of entity: BlockSummary.EntitySummary,
    _ reader: inout ByteReader
  ) throws(DecodeFault) {
    var kinds: UInt8 = 0
    for shape in shapes {
      kinds |= 1 << shape.kind.rawValue
      var ordinal = 0
      for property in shape.properties {
        while ordinal < entity.properties.count, entity.properties[ordinal] < property {
          ordinal += 1
        }
        guard ordinal < entity.properties.count, entity.properties[ordinal] == property else {
          throw reader.invalid("a property that the summary does not list")
        }
      }
    }
    guard kinds == entity.kinds else {
      throw reader.invalid("kinds of change other than the summary lists")
    }
  }

  /// Reads one column of values into its place among the entity's.
  mutating func decodeValues(
    _ reader: inout ByteReader, into all: UnsafeMutableBufferPointer<ValueCell>,
    _ column: Range<Int>, arena: inout ContiguousArray<UInt8>
  ) throws(DecodeFault) {
    let cells = UnsafeMutableBufferPointer(rebasing: all[column])
    var bytes = ByteReader(try columns.read(&reader))
    let (uniform, mixed) = try values.decodeTagged(&bytes, into: cells, arena: &arena)
    try bytes.expectEnd()
    let bit = ValueCodec.editsBit
    guard mixed?.contains(where: { $0 & bit != 0 }) ?? (uniform & bit != 0) else { return }
    if edits.isEmpty { edits.append(contentsOf: repeatElement(false, count: all.count)) }
    for index in cells.indices where (mixed?[index] ?? uniform) & bit != 0 {
      edits[column.lowerBound + index] = true
    }
  }
}
