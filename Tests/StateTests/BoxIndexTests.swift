import AnnalsFormat
import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Testing

/// Box indexes against reading every object.
@Suite struct BoxIndexTests {
  /// What is asked of one column.
  private struct Side {
    var low: (value: Value, isIncluded: Bool)?
    var high: (value: Value, isIncluded: Bool)?

    func contains(_ value: Value) -> Bool {
      if let low {
        let order = value.compared(with: low.value)
        guard order == .greater || order == .equal && low.isIncluded else { return false }
      }
      guard let high else { return true }
      let order = value.compared(with: high.value)
      return order == .less || order == .equal && high.isIncluded
    }
  }

  private static let types: [AttributeType] = [
    .double, .int64, .date, .int16, .double, .int32, .date, .double,
  ]

  /// An entity with box indexes of two to eight attributes.
  private static func entity() -> Entity {
    var entity = Entity("Thing")
    entity.number = 1
    for (place, type) in types.enumerated() {
      var attribute = Attribute("p\(place + 1)", type)
      attribute.number = PropertyNumber(place + 1)
      entity.attributes.append(attribute)
    }
    entity.attributes[1].isOptional = false
    entity.attributes[1].defaultValue = .int(-3)
    entity.indexes = (2...8).map { count in
      let elements = (1...PropertyNumber(count)).map { OrderedModel.element($0) }
      return OrderedModel.index(PropertyNumber(18 + count), elements, isBox: true)
    }
    entity.nextPropertyNumber = 40
    return entity
  }

  private static func value(_ type: AttributeType, _ random: inout SeededRandom) -> Value {
    // Few values, near ones, and any bits.
    let number: Int64 =
      switch random.below(4) {
      case 0: Int64(random.below(7)) - 3
      case 1: Int64(random.below(2000)) - 1000
      case 2: Int64.random(in: .min ... .max, using: &random) >> random.below(64)
      default: [.min, .max, 0, -1][random.below(4)]
      }
    switch type {
    case .double:
      let doubles: [Double] = [0.0, -0.0, .greatestFiniteMagnitude, -1e-300, 0.1]
      if random.below(5) == 0 { return .double(doubles[random.below(5)]) }
      return .double(Double(number) / [1, 3, 1e6][random.below(3)])
    case .date: return .date(Timestamp(microseconds: number))
    case .int16: return .int(number % 32_768)
    case .int32: return .int(number % (1 << 31))
    default: return .int(number)
    }
  }

  private struct Model {
    var state = State(schema: Schema(entities: [BoxIndexTests.entity()]))
    var objects: [Int64: [PropertyNumber: Value]] = [:]

    mutating func insert(nulls: Int, _ random: inout SeededRandom) throws {
      let row = try state.insertRow(1)
      objects[row] = [:]
      for (place, type) in BoxIndexTests.types.enumerated() where random.below(100) >= nulls {
        try set(row, PropertyNumber(place + 1), BoxIndexTests.value(type, &random))
      }
    }

    mutating func set(_ row: Int64, _ property: PropertyNumber, _ value: Value) throws {
      try state.set(1, row, property, to: value)
      objects[row]?[property] = value.isNull ? Value?.none : value
    }

    mutating func change(_ random: inout SeededRandom) throws {
      let row = Int64(random.below(Int(state.nextRow(of: 1))) + 1)
      guard objects[row] != nil else { return try insert(nulls: 10, &random) }
      switch random.below(3) {
      case 0:
        try state.deleteRow(1, row)
        objects[row] = nil
      default:
        let place = random.below(8)
        let value = random.below(6) == 0 ? .null : BoxIndexTests.value(types[place], &random)
        try set(row, PropertyNumber(place + 1), value)
      }
    }

    /// Asks an index for a random box, and every object.
    func expectBox(_ random: inout SeededRandom, _ comment: Comment) throws {
      let shapes = BoxIndexTests.entity().indexShapes
      let shape = shapes[random.below(shapes.count)]
      let view = try #require(try state.index(1, shape.number))
      let found = objects.values.randomElement(using: &random)
      let sides = shape.columns.map { column -> Side in
        let type = types[Int(column.property) - 1]
        func end() -> (value: Value, isIncluded: Bool)? {
          if random.below(8) == 0 { return nil }
          let own = found?[column.property]
          let value = random.below(4) == 0 ? own : nil
          return (value ?? BoxIndexTests.value(type, &random), random.below(2) == 0)
        }
        var side = Side(low: end(), high: end())
        if let low = side.low, let high = side.high,
          low.value.compared(with: high.value) == .greater, random.below(10) > 0
        {
          side = Side(low: high, high: low)
        }
        return side
      }
      let wanted = objects.filter { _, object in
        zip(shape.columns, sides).allSatisfy { column, side in
          (object[column.property] ?? column.valueForNull).map(side.contains) ?? false
        }
      }
      let comment: Comment = "\(comment), index \(shape.number), \(sides)"
      let search = try view.search(
        try sides.map { try #require(BoxSide(from: $0.low, to: $0.high)) })
      let rows = try search.rows()
      #expect(rows.sorted() == wanted.keys.sorted(), comment)
      #expect(try search.count() == rows.count, comment)
      #expect(search.most >= rows.count, comment)
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `random boxes find what reading every object finds`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var model = Model()
    var chunks = MemoryChunks()
    for step in 0..<16 {
      let before = model
      let isLarge = step == 0 || random.below(10) == 0
      for _ in 0..<(isLarge ? 1200 : 10) {
        if isLarge {
          try model.insert(nulls: seed == 1 ? 0 : 10, &random)
        } else {
          try model.change(&random)
        }
      }
      #expect(try model.state.checkUniqueness() == [])
      switch random.below(6) {
      case 0: model = before
      case 1:
        if random.below(3) == 0 { chunks = MemoryChunks() }
        let directory = try model.state.save(to: chunks, full: chunks.chunkCount == 0)
        model.state = try State(directory: directory, source: chunks)
      default: break
      }
      for _ in 0..<8 { try model.expectBox(&random, "seed \(seed), step \(step)") }
    }
    #expect(try model.state.indexViolations() == [])
  }

  @Test func `every bit of an end counts`() throws {
    var entity = BoxIndexTests.entity()
    entity.indexes = [
      OrderedModel.index(20, [OrderedModel.element(2), OrderedModel.element(3)], isBox: true)
    ]
    var state = State(schema: Schema(entities: [entity]))
    let numbers = (0..<64).flatMap { bit in [1 << bit, ~(1 << bit), (1 << bit) &- 1] as [Int64] }
    for number in numbers {
      let row = try state.insertRow(1)
      try state.set(1, row, 2, to: .int(number))
      try state.set(1, row, 3, to: .date(Timestamp(microseconds: ~number)))
    }
    let view = try #require(try state.index(1, 20))
    for end in numbers {
      for isIncluded in [true, false] {
        let low = try #require(BoxSide(from: (.int(end), isIncluded), to: nil))
        let high = try #require(
          BoxSide(from: nil, to: (.date(Timestamp(microseconds: ~end)), isIncluded)))
        let above = numbers.count { $0 > end || isIncluded && $0 == end }
        #expect(try view.search([low, .all]).count() == above)
        #expect(try view.search([.all, high]).count() == above)
        #expect(try view.search([low, high]).rows().count == above)
      }
    }
  }

  /// A grid of 200 × 200, read from its chunks.
  @Test func `a small box reads few chunks and looks at few entries`() throws {
    var entity = BoxIndexTests.entity()
    entity.indexes = [
      OrderedModel.index(20, [OrderedModel.element(1), OrderedModel.element(5)], isBox: true)
    ]
    var state = State(schema: Schema(entities: [entity]))
    for place in 0..<40_000 {
      let row = try state.insertRow(1)
      try state.set(1, row, 1, to: .double(Double(place % 200)))
      try state.set(1, row, 5, to: .double(Double(place / 200)))
    }
    let chunks = MemoryChunks()
    let directory = try state.save(to: chunks)
    let loaded = try State(directory: directory, source: chunks)
    let before = chunks.reads.count
    let view = try #require(try loaded.index(1, 20))
    func side(_ range: ClosedRange<Double>) throws -> BoxSide {
      try #require(
        BoxSide(from: (.double(range.lowerBound), true), to: (.double(range.upperBound), true)))
    }
    let small = try view.search([try side(70...79), try side(70...79)])
    #expect(small.most < 2_500, "\(small.most)")
    #expect(try small.rows().count == 100)
    #expect(chunks.reads.count - before <= 3)
    let whole = try view.search([.all, .all])
    #expect(whole.most == 40_000)
    #expect(chunks.reads.count - before <= 3)
    #expect(try whole.rows().count == 40_000)
    #expect(try view.search([try side(200...201), .all]).rows().isEmpty)
  }

  /// The fences between nodes then hold rows behind the code.
  @Test func `many objects at one place are all found`() throws {
    var entity = BoxIndexTests.entity()
    entity.indexes = [
      OrderedModel.index(20, [OrderedModel.element(2), OrderedModel.element(3)], isBox: true)
    ]
    var state = State(schema: Schema(entities: [entity]))
    // The place before in the order of the keys differs in high bits.
    let (place, other) = (1 << 62, 1 << 61) as (Int64, Int64)
    for number in 0..<13_000 {
      let row = try state.insertRow(1)
      try state.set(1, row, 2, to: .int(number % 1000 == 0 ? other : place))
      try state.set(1, row, 3, to: .date(Timestamp(microseconds: place)))
    }
    let view = try #require(try state.index(1, 20))
    func count(_ number: Int64, _ date: Int64) throws -> Int {
      let date = Value.date(Timestamp(microseconds: date))
      return try view.search([
        #require(BoxSide(from: (.int(number), true), to: (.int(number), true))),
        #require(BoxSide(from: (date, true), to: (date, true))),
      ]).count()
    }
    #expect(try count(place, place) == 12_987)
    #expect(try count(other, place) == 13)
    #expect(try count(place, other) == 0)
  }

  @Test func `an object that has nothing but defaults comes and goes`() throws {
    var entity = BoxIndexTests.entity()
    entity.attributes[3].isOptional = false
    entity.attributes[3].defaultValue = .int(5)
    entity.indexes = [
      OrderedModel.index(20, [OrderedModel.element(2), OrderedModel.element(4)], isBox: true)
    ]
    var state = State(schema: Schema(entities: [entity]))
    for _ in 0..<3 { _ = try state.insertRow(1) }
    #expect(try state.checkUniqueness() == [])
    try state.deleteRow(1, 2)
    #expect(try state.checkUniqueness() == [])
    let side = try #require(BoxSide(from: (.int(-3), true), to: (.int(5), true)))
    #expect(try state.index(1, 20)?.search([side, side]).rows() == [1, 3])
    try state.insertRow(1, row: 2)
    #expect(try state.index(1, 20)?.search([side, side]).rows() == [1, 2, 3])
    #expect(try state.indexViolations() == [])
  }
}
