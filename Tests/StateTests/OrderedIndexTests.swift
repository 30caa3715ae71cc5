import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Testing

/// Ordered indexes against a sorted array, in all the ways that objects come and go.
@Suite struct OrderedIndexTests {
  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
  func `random transactions agree with a sorted array`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var model = OrderedModel()
    model.domain = [20, 300, 5000][Int(seed % 3)]
    var kept: [OrderedModel] = []
    var chunks = MemoryChunks()
    for step in 0..<40 {
      let before = model
      let count = random.below(12) == 0 ? 900 : random.below(25)
      for _ in 0..<count { try model.change(using: &random) }
      let comment: Comment = "seed \(seed), step \(step)"
      #expect(try model.state.checkUniqueness() == [], comment)
      switch random.below(8) {
      case 0: model = before
      case 1: kept.append(model)
      case 2:
        if random.below(3) == 0 { chunks = MemoryChunks() }
        let directory = try model.state.save(to: chunks, full: chunks.chunkCount == 0)
        if random.below(2) == 0 {
          model.state = try State(directory: directory, source: chunks)
        }
      default: break
      }
      if (step + 1) % (isLong ? 5 : 10) == 0 { try OrderedIndexTests.expectOrder(model, comment) }
      let shapes = OrderedModel.shapes.filter { $0.kind.givesOrder }
      for (place, shape) in shapes.enumerated() where isLong || (place + step) % 3 == 0 {
        try OrderedIndexTests.expectBounds(model, shape, &random, comment)
      }
    }
    for model in kept { try OrderedIndexTests.expectOrder(model, "seed \(seed), kept") }
  }

  static func expectOrder(_ model: OrderedModel, _ comment: Comment) throws {
    #expect(try model.state.invariantViolations() == [], comment)
    for shape in OrderedModel.shapes {
      let view = try #require(try model.state.index(1, shape.number))
      let rows = try view.checkedRows("\(comment), index \(shape.number)")
      #expect(
        rows == NaiveOrder(shape).rows(model.objects), "\(comment), index \(shape.number)")
    }
  }

  /// Seeks some values: those of an object, or others.
  private static func expectBounds(
    _ model: OrderedModel, _ shape: IndexShape, _ random: inout SeededRandom, _ comment: Comment
  ) throws {
    let view = try #require(try model.state.index(1, shape.number))
    let order = NaiveOrder(shape)
    let columns = shape.columns.prefix(random.below(shape.columns.count + 1))
    let object = model.objects[Int64(random.below(Int(model.state.nextRow(of: 1))) + 1)]
    let values = columns.map { column in
      let other = model.value(of: column.property, &random)
      let value = random.below(2) == 0 ? object?[column.property] ?? .null : other
      return value.isNull ? column.valueForNull ?? .null : value
    }
    if values.contains(where: { if case .large = $0 { true } else { false } }) { return }
    var before = 0
    var equal = 0
    for object in model.objects.values where order.includes(object) {
      let key = shape.columns.map { object[$0.property] ?? $0.valueForNull ?? .null }
      if key.contains(where: { if case .large = $0 { true } else { false } }) { continue }
      let compared = order.compare(key, values)
      if compared < 0 { before += 1 }
      if compared == 0 { equal += 1 }
    }
    let lower = IndexBound(values: values, isAfter: false)
    let upper = IndexBound(values: values, isAfter: true)
    let comment: Comment = "\(comment), index \(shape.number), \(values)"
    #expect(try view.place(of: lower) == before, comment)
    let large = try values.isEmpty ? view.count - view.orderedCount() : 0
    #expect(try view.count(from: lower, to: upper) == equal + large, comment)
  }

  @Test(arguments: isLong ? [7, 8] : [7] as [UInt64])
  func `an index built at once is the one that grew`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var model = OrderedModel()
    model.domain = 3000
    for count in 0..<(isLong ? 2500 : 1500) {
      try model.insert(using: &random)
      if count % (isLong ? 3 : 5) == 0 { #expect(try model.state.checkUniqueness() == []) }
    }
    var other = State(schema: Schema(entities: [OrderedModel.entity(hasIndexes: false)]))
    for row in 1..<model.state.nextRow(of: 1) {
      _ = try other.insertRow(1)
      for (property, value) in model.objects[row] ?? [:] {
        try other.set(1, row, property, to: value)
      }
    }
    #expect(try other.index(1, 10) == nil)
    other.changeSchema([OrderedModel.entity()])
    try OrderedIndexTests.expectOrder(model, "seed \(seed)")
    model.state = other
    try OrderedIndexTests.expectOrder(model, "seed \(seed), at once")
  }

  @Test(arguments: isLong ? [9, 10] : [9] as [UInt64])
  func `replayed and undone changes keep the order`(seed: UInt64) throws {
    var run = ModelRun(seed: seed, isUnique: false)
    for step in 0..<30 {
      try run.transact("seed \(seed), step \(step)")
      _ = try run.follower.checkUniqueness()
      for (number, shape) in ModelSchema.entity(1, isUnique: false).indexShapes.enumerated() {
        for entity in EntityNumber(1)...2 {
          let objects = Dictionary(
            uniqueKeysWithValues: run.model.objects.filter { $0.key.entity == entity }
              .map { ($0.key.row, $0.value) })
          let view = try #require(try run.follower.index(entity, shape.number))
          let comment: Comment = "seed \(seed), step \(step), index \(number)"
          #expect(try view.checkedRows(comment) == NaiveOrder(shape).rows(objects), comment)
        }
      }
    }
    try run.finish("seed \(seed)")
  }

  @Test func `a unique index is read in order`() throws {
    var entity = UniquenessTests.entity()
    entity.indexes[0].elements[1].isDescending = true
    var state = State(schema: Schema(entities: [entity]))
    var random = SeededRandom(seed: 12)
    var objects: [Int64: [PropertyNumber: Value]] = [:]
    for number in 0..<3000 {
      let row = try state.insertRow(1)
      let text = "https://example.com/\(number &* 7919 % 3001)/" + String(repeating: "x", count: 20)
      objects[row] = [
        1: number % 9 == 0 ? .null : .string(text), 3: .int(Int64(number % 100)),
        4: .object(ObjectReference(entity: 1, row: Int64(number / 100 + 1))),
      ]
      for (property, value) in objects[row] ?? [:] { try state.set(1, row, property, to: value) }
      if random.below(3) == 0 { #expect(try state.checkUniqueness() == []) }
    }
    for shape in entity.indexShapes where shape.number != 2 {
      let view = try #require(try state.index(1, shape.number))
      let order = NaiveOrder(shape)
      let rows = order.rows(objects)
      #expect(try view.checkedRows("index \(shape.number)") == rows)
      for row in rows where random.below(10) == 0 {
        let values = shape.columns.map { objects[row]?[$0.property] ?? .null }
        let place = try view.place(of: IndexBound(values: values, isAfter: false))
        #expect(rows[place] == row)
        #expect(try view.place(of: IndexBound(values: values, isAfter: true)) == place + 1)
      }
    }
  }
}
