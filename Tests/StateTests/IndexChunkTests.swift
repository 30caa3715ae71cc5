import AnnalsFormat
import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Testing

/// What checkpoints write of ordered indexes, and what is read of it.
@Suite struct IndexChunkTests {
  private static let index: PropertyNumber = 14

  /// Objects a second apart, in another order.
  private static func model(count: Int) throws -> OrderedModel {
    var model = OrderedModel()
    for number in 0..<count {
      let row = try model.state.insertRow(1)
      model.objects[row] = [:]
      let seconds = Int64(number &* 7919 % count)
      try model.set(row, OrderedModel.date, to: .date(Timestamp(microseconds: seconds * 1_000_000)))
    }
    _ = try model.state.checkUniqueness()
    return model
  }

  private static func chunks(_ directory: CheckpointDirectory) throws -> [IndexChunk] {
    try #require(directory.entities[0].indexes.first { $0.rule == index }).chunks
  }

  @Test func `an early insert into an index of several chunks writes one of them again`() throws {
    var model = try IndexChunkTests.model(count: 30_000)
    let chunks = MemoryChunks()
    let first = try IndexChunkTests.chunks(try model.state.save(to: chunks))
    #expect(first.count > 4)
    let row = try model.state.insertRow(1)
    model.objects[row] = [:]
    // Descending, so the greatest stands before all.
    try model.set(row, OrderedModel.date, to: .date(Timestamp(microseconds: 1 << 60)))
    let directory = try model.state.save(to: chunks)
    let second = try IndexChunkTests.chunks(directory)
    #expect(second.count == first.count)
    let isKept = zip(first, second).map { $0.reference.offset == $1.reference.offset }
    #expect(isKept == [false] + Array(repeating: true, count: first.count - 1))
    // Each counts the entries before it.
    for (old, new) in zip(first, second).dropFirst() {
      #expect(new.reference.first == old.reference.first + 1)
    }
    let loaded = try State(directory: directory, source: chunks)
    #expect(try loaded.indexViolations() == [])
    model.state = loaded
    let view = try #require(try loaded.index(1, IndexChunkTests.index))
    #expect(try view.row(at: 0) == row)
    #expect(
      try view.checkedRows("loaded") == NaiveOrder(view.shape).rows(model.objects))
    let before = chunks.chunkCount
    _ = try model.state.save(to: chunks)
    #expect(chunks.chunkCount == before)
  }

  @Test func `a place, a bound and a page touch one chunk`() throws {
    var model = try IndexChunkTests.model(count: 30_000)
    let chunks = MemoryChunks()
    let directory = try model.state.save(to: chunks)
    let offsets = Set(try IndexChunkTests.chunks(directory).map(\.reference.offset))
    func reads(_ body: (IndexView) throws(any Error) -> Void) throws -> Int {
      let loaded = try State(directory: directory, source: chunks)
      chunks.forgetReads()
      let view = try #require(try loaded.index(1, IndexChunkTests.index))
      #expect(chunks.reads.isEmpty)
      try body(view)
      #expect(chunks.reads.allSatisfy { offsets.contains($0) })
      return chunks.reads.count
    }
    let place = try reads { view in
      let place = try view.place(
        of: IndexBound(
          values: [.date(Timestamp(microseconds: 29_000_000_000))], isAfter: false))
      #expect(place == 999)
    }
    #expect(place == 1)
    let page = try reads { view in
      let rows = try view.rows(in: 20_000..<20_200, isBackward: false, reversesTies: false)
      #expect(rows.count == 200)
    }
    #expect(page <= 2)
  }

  @Test func `an index that is new to a loaded state is built`() throws {
    let model = try IndexChunkTests.model(count: 2000)
    var other = State(schema: Schema(entities: [OrderedModel.entity(hasIndexes: false)]))
    for row in 1...Int64(2000) {
      _ = try other.insertRow(1)
      try other.set(1, row, OrderedModel.date, to: model.objects[row]?[3] ?? .null)
    }
    let chunks = MemoryChunks()
    let directory = try other.save(to: chunks)
    #expect(directory.entities[0].indexes.isEmpty)
    other = try State(directory: directory, source: chunks)
    other.changeSchema([OrderedModel.entity()])
    #expect(try other.checkUniqueness() == [])
    let again = try State(directory: try other.save(to: chunks), source: chunks)
    var copy = model
    copy.state = again
    try OrderedIndexTests.expectOrder(copy, "loaded")
  }

  @Test func `a chunk of the other form is refused`() throws {
    var model = try IndexChunkTests.model(count: 100)
    let chunks = MemoryChunks()
    var directory = try model.state.save(to: chunks)
    for entity in directory.schema.entities.indices {
      for index in directory.schema.entities[entity].indexes.indices {
        directory.schema.entities[entity].indexes[index].isUnique = true
      }
    }
    let loaded = try State(directory: directory, source: chunks)
    #expect(throws: StateFault.self) { try loaded.index(1, IndexChunkTests.index)?.row(at: 0) }
  }
}
