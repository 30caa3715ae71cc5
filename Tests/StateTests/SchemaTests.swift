import AnnalsFormat
import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Testing

/// Schemas that change under a state: nothing is rewritten, nothing is lost.
@Suite struct SchemaTests {
  static func entity(_ types: [AttributeType]) -> Entity {
    var entity = Entity("Thing")
    entity.number = 1
    for (index, type) in types.enumerated() {
      var attribute = Attribute("a\(index)", type)
      attribute.number = PropertyNumber(index + 1)
      entity.attributes.append(attribute)
    }
    entity.nextPropertyNumber = PropertyNumber(types.count + 1)
    return entity
  }

  @Test(arguments: [false, true])
  func `a widened column keeps its values and takes new kinds`(isReloaded: Bool) throws {
    var random = SeededRandom(seed: 9)
    let narrow = AttributeType.allCases.filter { $0 != .any }
    var state = State(schema: Schema(entities: [SchemaTests.entity(narrow)]))
    var model: [Int64: [PropertyNumber: Value]] = [:]
    for _ in 0..<600 {
      let row = try state.insertRow(1)
      for (index, type) in narrow.enumerated() {
        let property = PropertyNumber(index + 1)
        let value = ModelSchema.value(type, using: &random)
        try state.set(1, row, property, to: value)
        model[row, default: [:]][property] = value
      }
    }
    let past = state
    let chunks = MemoryChunks()
    if isReloaded { state = try State(directory: try state.save(to: chunks), source: chunks) }
    chunks.forgetReads()
    let wide = narrow.map { _ in AttributeType.any }
    state.changeSchema([SchemaTests.entity(wide)])
    #expect(chunks.reads.isEmpty, "widening reads nothing")
    for _ in 0..<300 {
      let row = Int64(random.below(600) + 1)
      let property = PropertyNumber(random.below(narrow.count) + 1)
      let value = ModelSchema.value(.any, using: &random)
      try state.set(1, row, property, to: value)
      model[row]?[property] = value
    }
    for (row, object) in model {
      for (property, value) in object { #expect(try state.value(1, row, property) == value) }
    }
    #expect(try state.invariantViolations() == [])
    let reloaded = try State(directory: try state.save(to: chunks), source: chunks)
    #expect(try State.firstDifference(state, reloaded) == nil)
    #expect(try past.invariantViolations() == [])
  }

  @Test func `int16 widens to int64 in place`() throws {
    var state = State(schema: Schema(entities: [SchemaTests.entity([.int16])]))
    let row = try state.insertRow(1)
    try state.set(1, row, 1, to: .int(-7))
    state.changeSchema([SchemaTests.entity([.int64])])
    try state.set(1, try state.insertRow(1), 1, to: .int(1 << 40))
    #expect(try state.value(1, row, 1) == .int(-7))
    #expect(try state.value(1, 2, 1) == .int(1 << 40))
  }

  @Test func `a value of another kind is refused`() throws {
    var state = State(schema: Schema(entities: [SchemaTests.entity([.int64])]))
    let row = try state.insertRow(1)
    #expect(throws: StateFault.self) { try state.set(1, row, 1, to: .string("7")) }
    #expect(throws: StateFault.self) { try state.set(1, row, 2, to: .int(7)) }
    #expect(throws: StateFault.self) { try state.set(2, row, 1, to: .int(7)) }
    #expect(throws: StateFault.self) { try state.set(1, row + 1, 1, to: .int(7)) }
  }

  @Test func `properties and entities are added, and hidden in the past`() throws {
    var state = State(schema: Schema(entities: [SchemaTests.entity([.int64])]))
    let row = try state.insertRow(1)
    let before = state.schema
    var second = SchemaTests.entity([.string])
    second.number = 2
    state.changeSchema([SchemaTests.entity([.int64, .string]), second])
    try state.set(1, row, 2, to: .string("new"))
    try state.set(2, try state.insertRow(2), 1, to: .string("second"))
    #expect(try state.value(1, row, 2) == .string("new"))
    #expect(state.count(of: 2) == 1)
    var past = state
    past.setSchema(before)
    #expect(past.schema.entity(numbered: 2)?.isRemoved == true)
    #expect(state.schema.entity(numbered: 2)?.isRemoved == false)
    #expect(try past.value(1, row, 1) == .null)
  }

  @Test func `only what is touched is read, and only what changed is written`() throws {
    var state = State(schema: Schema(entities: [SchemaTests.entity([.int64, .string, .uuid])]))
    for _ in 0..<10_000 {
      let row = try state.insertRow(1)
      try state.set(1, row, 1, to: .int(row))
      try state.set(1, row, 2, to: .string("text \(row)"))
    }
    let chunks = MemoryChunks()
    let directory = try state.save(to: chunks)
    #expect(chunks.chunkCount == 3 * 3, "rows, numbers and texts; nothing for the empty column")
    var loaded = try State(directory: directory, source: chunks)
    #expect(loaded.count(of: 1) == 10_000)
    #expect(loaded.nextRow(of: 1) == 10_001)
    #expect(chunks.reads.isEmpty)
    let copy = loaded
    #expect(try loaded.value(1, 5000, 2) == .string("text 5000"))
    #expect(try copy.value(1, 5001, 2) == .string("text 5001"))
    #expect(chunks.reads.count == 1, "copies share what was read")
    try loaded.set(1, 9000, 1, to: .int(-1))
    let changed = try loaded.save(to: chunks)
    #expect(chunks.chunkCount == 10)
    for row: Int64 in 4097...8192 { try loaded.deleteRow(1, row) }
    let deleted = try loaded.save(to: chunks)
    #expect(chunks.chunkCount == 10, "a group without an object has no chunk")
    #expect(deleted.entities[0].rows.count == 2)
    #expect(deleted.entities[0].nextRow == 10_001)
    let last = try State(directory: deleted, source: chunks)
    #expect(try State.firstDifference(last, loaded) == nil)
    #expect(
      try State.firstDifference(last, copy) == .object(entity: 1, row: 4097, isInFirst: false))
    let middle = try State(directory: changed, source: chunks)
    #expect(try State.firstDifference(middle, copy) == .value(entity: 1, row: 9000, property: 1))
  }

  @Test func `very long values are split over chunks`() throws {
    var entity = SchemaTests.entity([.int64])
    var many = Relationship("many", to: "", isToMany: true)
    many.number = 2
    many.destination = 1
    entity.relationships = [many]
    entity.nextPropertyNumber = 3
    var state = State(schema: Schema(entities: [entity]))
    for row: Int64 in 1...30 {
      let list = (1...60_000).map { ObjectReference(entity: 1, row: Int64($0) &* row % 99_991) }
      try state.set(1, try state.insertRow(1), 2, to: .objects(list))
    }
    let chunks = MemoryChunks()
    let directory = try state.save(to: chunks)
    let parts = try #require(directory.entities[0].columns.first?.chunks)
    #expect(parts.count > 3)
    #expect(parts.allSatisfy { $0.length < 5 << 20 })
    let loaded = try State(directory: directory, source: chunks)
    #expect(try State.firstDifference(state, loaded) == nil)
    #expect(try loaded.invariantViolations() == [])
  }

  @Test func `a chunk that fails is an error each time, with its offset`() throws {
    var state = State(schema: Schema(entities: [SchemaTests.entity([.int64])]))
    try state.set(1, try state.insertRow(1), 1, to: .int(5))
    let chunks = MemoryChunks()
    let directory = try state.save(to: chunks)
    let reference = directory.entities[0].columns[0].chunks[0]
    chunks.replace(reference.offset, with: [2, 1, 1])
    let loaded = try State(directory: directory, source: chunks)
    for _ in 0..<2 {
      do {
        _ = try loaded.value(1, 1, 1)
        Issue.record("read a damaged chunk")
      } catch StateFault.chunk(_, let offset) {
        #expect(offset == reference.offset)
      }
    }
    #expect(try loaded.contains(1, 1))
  }
}
