import AnnalsFormat
import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Testing

/// Conditions on columns give what they give on boxed values.
@Suite struct ConditionModelTests {
  static let accents: [Unicode.Scalar: String] = ["é": "e", "É": "E", "à": "a"]

  static let removingDiacritics: @Sendable (String) -> String = { text in
    text.unicodeScalars.map { accents[$0] ?? String($0) }.joined()
  }

  static let largeValues: [UInt64: String] = [
    1: "\"\(String(repeating: "a", count: 5_000))\"",
    2: "\"\(String(repeating: "b", count: 5_000))\"",
    3: "\"\(String(repeating: "b", count: 4_999))É\"",
  ]

  static let sources = ConditionSources(
    largeValue: { ContiguousArray((largeValues[$0.number] ?? "").utf8) },
    removingDiacritics: removingDiacritics)

  /// The schema of the model tests; an attribute of the second entity is required and was added to
  /// a store that had objects.
  static func schema() -> Schema {
    var schema = ModelSchema.make()
    for entity in 0..<2 {
      schema.entities[entity].attributes[5].isOptional = false
      schema.entities[entity].attributes[5].defaultValue = .string("mist")
    }
    return schema
  }

  static func value(_ type: AttributeType, using random: inout SeededRandom) -> Value {
    let numbers: [Int64] = [.min, -2, -1, 0, 1, 2, 1 << 53, 1 << 53 + 1, .max - 1, .max]
    let doubles: [Double] = [-0x1p63, -1.5, -1, -0.0, 0, 0.5, 1, 0x1p53, 0x1p53 + 2, 0x1p63, 1e300]
    let texts = [
      "", "a", "A", "ab", "aab", "é", "É", "e\u{301}", "mist", "Mist", "a*b", "a?b", "日",
    ]
    func text(_ random: inout SeededRandom) -> String {
      (0..<random.below(3)).map { _ in texts[random.below(texts.count)] }.joined()
    }
    switch type {
    case .bool: return .bool(random.chance(50))
    case .int16, .int32: return .int(Int64(random.below(5) - 2))
    case .int64: return .int(numbers[random.below(numbers.count)])
    case .double: return .double(doubles[random.below(doubles.count)])
    case .string: return .string(text(&random))
    case .date: return .date(Timestamp(microseconds: numbers[random.below(numbers.count)]))
    case .uuid: return .uuid(RawUUID(high: UInt64(random.below(2)), low: random.next() & 1 << 63))
    case .url: return .url("a:" + text(&random))
    case .data: return .data(Array(text(&random).utf8))
    case .json:
      guard random.chance(50) else { return .json("\"\(text(&random))\"") }
      let number = UInt64(random.number(1...3))
      let bytes = ContiguousArray((largeValues[number] ?? "").utf8)
      return .large(
        LargeValue(
          tag: .json, number: number, length: UInt64(bytes.count), checksum: UInt32(number)))
    case .decimal:
      let decimals = [
        "-9223372036854775808", "-1.5", "-1", "0", "0.5", "1", "9007199254740993", "1e164", "2.001",
      ]
      return .decimal(RawDecimal(decimals[random.below(decimals.count)]) ?? .zero)
    case .day: return .day(CalendarDay(nearestTo: numbers[random.below(numbers.count)]))
    case .any:
      let types = AttributeType.allCases.filter { $0 != .any }
      return value(types[random.below(types.count)], using: &random)
    }
  }

  static func state(using random: inout SeededRandom) throws -> State {
    var state = State(schema: schema())
    for entity: EntityNumber in 1...2 {
      for _ in 0..<200 {
        let row = try state.insertRow(entity)
        for (place, type) in AttributeType.allCases.enumerated() where random.chance(85) {
          try state.set(
            entity, row, PropertyNumber(place + 1), to: value(type, using: &random))
        }
        if random.chance(85) {
          let target = ObjectReference(entity: 2, row: Int64(random.number(1...220)))
          try state.set(entity, row, ModelSchema.toOne, to: .object(target))
        }
        if random.chance(85) {
          let targets = Set((0..<random.below(5)).map { _ in Int64(random.number(1...220)) })
          let list = targets.sorted().map { ObjectReference(entity: 2, row: $0) }
          try state.set(entity, row, ModelSchema.toMany, to: .objects(list))
        }
      }
    }
    for row: Int64 in 1...200 where random.chance(10) { try state.deleteRow(2, row) }
    return state
  }

  /// A value to ask for: of the type, of a number's other type, or nil; read, if it is large.
  static func operand(_ type: AttributeType, using random: inout SeededRandom) -> Value {
    if random.chance(5) { return .null }
    var type = type
    if [.int16, .int32, .int64, .double].contains(type), random.chance(40) {
      type = random.chance(50) ? .int64 : .double
    }
    if type == .double, random.chance(5) { return .double(.nan) }
    let value = value(type, using: &random)
    guard case .large(let large) = value else { return value }
    return .json(largeValues[large.number] ?? "")
  }

  static func condition(depth: Int, using random: inout SeededRandom) -> Condition {
    if depth > 0, random.chance(60) {
      let parts = (0..<random.number(0...3)).map { _ in
        condition(depth: depth - 1, using: &random)
      }
      let whole = random.chance(50) ? Condition.all(parts) : Condition.any(parts)
      return random.chance(30) ? whole.negated : whole
    }
    if random.chance(12) {
      let path = PropertyPath([["many"], ["one", "many"]][random.below(2)])
      if random.chance(70) { return .any(path, condition(depth: depth - 1, using: &random)) }
      return .contains(path, ObjectReference(entity: 2, row: Int64(random.number(1...220))))
    }
    let types = AttributeType.allCases
    let type = types[random.below(types.count)]
    let hops = [[], [], [], ["one"], ["one", "one"]][random.below(5)]
    if random.chance(8) {
      let object = ObjectReference(entity: 2, row: Int64(random.number(1...20)))
      let ends: [[String]] = [["one"], ["one", "id"], ["one", "one"]]
      let path = PropertyPath(ends[random.below(3)])
      let comparisons = Condition.Comparison.allCases
      return random.chance(20)
        ? .isNil(path) : .compare(path, comparisons[random.below(6)], .object(object))
    }
    let path = PropertyPath(hops + ["\(type)"])
    switch random.below(type.tag?.isText ?? true ? 7 : 4) {
    case 0: return .isNil(path)
    case 1:
      return .isIn(path, (0..<random.below(12)).map { _ in operand(type, using: &random) })
    case 2:
      return .isBetween(path, operand(type, using: &random), operand(type, using: &random))
    case 3:
      let comparisons = Condition.Comparison.allCases
      return .compare(path, comparisons[random.below(6)], operand(type, using: &random))
    default:
      let pieces = ["a", "A", "b", "É", "*", "?", "\\", "mist", "s", "\"", "日", ":"]
      let text = (0..<random.below(5)).map { _ in pieces[random.below(pieces.count)] }.joined()
      let match = Condition.TextMatch.allCases[random.below(5)]
      // Equal without options is a comparison with a string, which not every text is.
      let least = match == .equals && type.tag != .string ? 1 : 0
      return .text(
        path, match, text, Condition.TextOptions(rawValue: UInt8(random.number(least...3))))
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func filtersLikeTheNaiveOne(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var state = try Self.state(using: &random)
    let naive = NaiveCondition(
      state: state, largeValues: Self.largeValues, removingDiacritics: Self.removingDiacritics)
    if seed == 2 {
      // As it is read from a checkpoint.
      let chunks = MemoryChunks()
      let directory = try state.save(to: chunks)
      state = try State(directory: directory, source: chunks)
    }
    var found = 0
    for number in 0..<400 {
      let condition = Self.condition(depth: 3, using: &random)
      let entity = EntityNumber(random.number(1...2))
      let bound = try BoundCondition(condition, over: entity, in: state, Self.sources)
      var rows: [Int64] = []
      try bound.forEachRow {
        rows.append($0)
        return true
      }
      var expected: [Int64] = []
      var cursor = naive.state.rows(of: entity)
      while let row = try cursor.next() {
        if try naive.holds(condition, entity, row) { expected.append(row) }
      }
      #expect(rows == expected, "seed \(seed), condition \(number): \(condition)")
      if let row = expected.first { #expect(try bound.matches(row)) }
      found += rows.count
    }
    #expect(found > 10_000)
  }

  @Test(arguments: [
    ("a*b", "ab", true), ("a*b", "acb", true), ("a*b", "abc", false), ("a?b", "a日b", true),
    ("a?b", "ab", false), ("?", "e\u{301}", false), ("??", "e\u{301}", true), ("", "", true),
    ("*", "", true), ("**", "abc", true), ("a\\*b", "a*b", true), ("a\\*b", "acb", false),
    ("\\\\", "\\", true), ("\\", "\\", true), ("*b*d", "abcd", true), ("*b*d", "abcde", false),
    ("*" + String(repeating: "ab?", count: 50), String(repeating: "abc", count: 60), true),
    ("*" + String(repeating: "ab?", count: 50) + "d", String(repeating: "abc", count: 60), false),
    (String(repeating: "*a", count: 99) + "b", String(repeating: "a", count: 20_000), false),
    ("STRASSE", "straße", false), ("STRA?E", "straße", true), ("ΣΑΣ", "σας", true),
    ("\u{E9}T\u{C9}", "\u{C9}t\u{E9}", true),
  ])
  func patterns(pattern: String, text: String, isMatch: Bool) throws {
    var state = State(schema: Self.schema())
    let row = try state.insertRow(1)
    try state.set(1, row, 6, to: .string(text))
    let isCased = pattern.unicodeScalars.contains { $0.properties.isUppercase }
    let condition = Condition.text("string", .like, pattern, isCased ? .caseInsensitive : [])
    let bound = try BoundCondition(condition, over: 1, in: state, Self.sources)
    #expect(try bound.matches(row) == isMatch)
  }

  @Test(
    arguments: [
      (.isNil("strnig"), "Entity1 has no property \"strnig\"; did you mean string?"),
      (.isNil(["one", "x"]), "Entity2 has no property \"x\""),
      (
        .isNil(["string", "x"]),
        "\"string\" of Entity1 is an attribute: no name can follow it"
      ),
      (
        .isNil("many"),
        "\"many\" of Entity1 is to-many: a path goes through to-one only. A condition on its "
          + "objects is CONTAINS or ANY"
      ),
      (
        .contains("one", ObjectReference(entity: 2, row: 1)),
        "\"one\" of Entity1 is a to-one relationship, not to-many: it is compared without ANY or "
          + "CONTAINS"
      ),
      (
        .any("date", .always),
        "\"date\" of Entity1 is an attribute, not to-many: it is compared without ANY or CONTAINS"
      ),
      (.any("mnay", .always), "Entity1 has no property \"mnay\"; did you mean many?"),
      (.any(["id", "many"], .always), "Entity1 has no property \"id\""),
      (
        .any(["date", "many"], .always),
        "\"date.many\" leads through an attribute: no name can follow it"
      ),
      (.any([], .always), "the object itself is no to-many relationship"),
      (.any("many", .isNil("strnig")), "Entity2 has no property \"strnig\"; did you mean string?"),
      (
        .contains(["one", "many"], ObjectReference(entity: 1, row: 3)),
        "\"one.many\" leads to Entity2, and row 3 is one of Entity1"
      ),
      (
        .compare("date", .less, .int(1)),
        "\"date\" is of type date and does not compare with 1, of type int"
      ),
      (
        .compare("date", .less, .double(.nan)),
        "\"date\": a date lies between -290308-12-21 and +294247-01-10"
      ),
      (
        .isIn("one", [.string("a")]),
        "\"one\" is of type object and does not compare with \"a\", of type string"
      ),
      (.text("int64", .begins, "1"), "\"int64\" is of type int64, which is no text"),
      (.text("one", .begins, "1"), "\"one\" is of type object, which is no text"),
    ] as [(Condition, String)])
  func refusesWhatDoesNotFit(condition: Condition, message: String) {
    let state = State(schema: Self.schema())
    let error = #expect(throws: StateFault.self) {
      try BoundCondition(condition.or(.isNil("bool")), over: 1, in: state, Self.sources)
    }
    #expect(error?.description == message)
  }
}
