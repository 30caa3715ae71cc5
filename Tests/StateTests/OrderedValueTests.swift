import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Testing

/// The order of single values in an index, written out.
@Suite struct OrderedValueTests {
  /// The values in the order that an index over them has, given in another.
  private func ordered(
    _ values: [Value], type: AttributeType = .any, isDescending: Bool = false,
    nullsFirst: Bool? = nil
  ) throws -> [Value] {
    var entity = OrderedModel.entity(hasIndexes: false)
    entity.attributes[1].type = type
    let element = OrderedModel.element(
      OrderedModel.anything, isDescending: isDescending, nullsFirst: nullsFirst)
    entity.indexes = [OrderedModel.index(10, [element])]
    var state = State(schema: Schema(entities: [entity]))
    var random = SeededRandom(seed: 5)
    for value in values.shuffled(using: &random) {
      let row = try state.insertRow(1)
      try state.set(1, row, OrderedModel.anything, to: value)
      #expect(try state.checkUniqueness() == [])
    }
    let view = try #require(try state.index(1, 10))
    let result = try view.checkedRows("\(values)").map {
      try state.value(1, $0, OrderedModel.anything)
    }
    #expect(try state.invariantViolations() == [])
    return result
  }

  private func expectOrder(_ values: [Value]) throws {
    #expect(try ordered(values) == values)
    #expect(try ordered(values, isDescending: true) == values.reversed())
  }

  @Test func `kinds come one after the other, each in its own order`() throws {
    try expectOrder([
      .null, .bool(false), .bool(true), .int(.min), .int(-1), .int(0), .int(1), .int(.max),
      .double(-.greatestFiniteMagnitude), .double(-1.5), .double(-0.0), .double(0.0),
      .double(.leastNonzeroMagnitude), .double(1), .double(1e300), .string(""), .string("1"),
      .date(Timestamp(microseconds: -5)), .date(Timestamp(microseconds: 5)),
      .uuid(RawUUID(high: 0, low: 9)), .uuid(RawUUID(high: 1 << 63, low: 0)), .url("a"), .url("b"),
      .data([]), .data([0]), .data([255]), .json("[]"), .json("{}"),
      .day(.earliest), .day(CalendarDay(nearestTo: -1)), .day(CalendarDay(nearestTo: 0)),
      .day(.latest),
    ])
    try expectOrder(
      [
        "-1e164", "-12.5", "-12", "-1.01", "-1", "-0.001", "-1e-128", "0", "1e-128", "0.1", "0.11",
        "1", "1.0000000000000000000000000000000000001", "2", "10", "12", "12.5", "1e164",
      ].map { .decimal(RawDecimal($0) ?? .zero) })
  }

  @Test func `nulls stand where they are asked for`() throws {
    let (a, b) = (Value.int(1), Value.int(2))
    #expect(try ordered([.null, a, b], type: .int64) == [.null, a, b])
    #expect(try ordered([.null, a, b], type: .int64, nullsFirst: false) == [a, b, .null])
    #expect(try ordered([.null, a, b], type: .int64, isDescending: true) == [b, a, .null])
    #expect(
      try ordered([.null, a, b], type: .int64, isDescending: true, nullsFirst: true)
        == [.null, b, a])
  }

  @Test func `texts are in the order of their bytes`() throws {
    try expectOrder(
      [
        "", "\0", "\0\0", "\0a", "\u{1}", "A", "Z", "a", "a\0", "a\0\0", "a\0b", "a\u{1}", "aa",
        "ea", "e\u{301}", "é", "ü", "日本", "😀",
      ].map { .string($0) })
  }

  @Test func `texts that share 256 bytes are in the order of all their bytes`() throws {
    let beginning = String(repeating: "0123456789abcdef", count: 16)
    try expectOrder(
      [
        String(beginning.dropLast()), beginning, beginning + "\0", beginning + "\0\0",
        beginning + "A", beginning + "AA", beginning + "B" + String(repeating: "x", count: 3000),
        beginning + "Bz", String(beginning.dropLast()) + "g",
      ].map { .string(String($0)) })
    let zeros = [UInt8](repeating: 0, count: 256)
    try expectOrder([
      .data(Array(zeros.dropLast())), .data(zeros), .data(zeros + [0]), .data(zeros + [1]),
    ])
  }

  @Test func `a value over 4 KiB stands behind all others and fails no write`() throws {
    let large = (1...3).map {
      Value.large(LargeValue(tag: .string, number: $0, length: 5000, checksum: 1))
    }
    let values = [.string("z"), .null, large[1], .string("a"), large[0]]
    #expect(Set(try ordered(values, type: .string).suffix(2)) == [large[0], large[1]])
    var model = OrderedModel()
    for value in values {
      let row = try model.state.insertRow(1)
      model.objects[row] = [:]
      try model.set(row, OrderedModel.text, to: value)
    }
    #expect(try model.state.checkUniqueness() == [])
    #expect(try model.state.index(1, 10)?.orderedCount() == 3)
    #expect(try model.state.index(1, 10)?.count == 5)
    try model.set(3, OrderedModel.text, to: .string("b"))
    try model.set(1, OrderedModel.text, to: large[2])
    try model.state.deleteRow(1, 5)
    model.objects[5] = nil
    try OrderedIndexTests.expectOrder(model, "large")
  }

  @Test func `keys of many long texts end early and are ordered by their values`() throws {
    var entity = OrderedModel.entity(hasIndexes: false)
    var second = Attribute("second", .string)
    second.number = 7
    var third = Attribute("third", .string)
    third.number = 8
    entity.attributes += [second, third]
    entity.indexes = [
      OrderedModel.index(
        10, [OrderedModel.element(1), OrderedModel.element(7), OrderedModel.element(8)])
    ]
    var state = State(schema: Schema(entities: [entity]))
    let texts = [255, 256].map { Value.string(String(repeating: "x", count: $0)) }
    let more = [String(repeating: "y", count: 2000), String(repeating: "y", count: 2000) + "z"]
    var objects: [Int64: [PropertyNumber: Value]] = [:]
    for number in 0..<16 {
      let row = try state.insertRow(1)
      objects[row] = [
        1: texts[number & 1], 7: number & 2 == 0 ? texts[1] : .string(more[number >> 3]),
        8: .string("\(number & 4)"),
      ]
      for (property, value) in objects[row] ?? [:] { try state.set(1, row, property, to: value) }
    }
    let view = try #require(try state.index(1, 10))
    #expect(try view.checkedRows("long") == NaiveOrder(view.shape).rows(objects))
    for object in objects.values {
      let values = [1, 7, 8].map { object[$0] ?? .null }
      let bounds = [false, true].map { IndexBound(values: values, isAfter: $0) }
      let same = objects.values.count { $0 == object }
      #expect(try view.count(from: bounds[0], to: bounds[1]) == same)
    }
  }
}
