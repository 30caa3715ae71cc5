import AnnalsFormat
import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Testing

/// Unique rules against a dictionary from key to rows, in all the ways that keys come and go.
@Suite struct UniquenessTests {
  static let text: PropertyNumber = 1
  static let anything: PropertyNumber = 2
  static let number: PropertyNumber = 3
  static let target: PropertyNumber = 4
  static let pair: PropertyNumber = 5

  static func entity(isUnique: Bool = true) -> Entity {
    var entity = Entity("Thing")
    entity.number = 1
    var first = Attribute("text", .string, isUnique: isUnique)
    first.number = text
    var second = Attribute("anything", .any, isUnique: isUnique)
    second.number = anything
    var third = Attribute("number", .int64)
    third.number = number
    entity.attributes = [first, second, third]
    var relationship = Relationship("target", to: "")
    relationship.number = target
    relationship.destination = 1
    entity.relationships = [relationship]
    var numberElement = IndexElement("")
    numberElement.property = number
    var targetElement = IndexElement("")
    targetElement.property = target
    var index = IndexDescription("pair", [targetElement, numberElement], isUnique: true)
    index.number = pair
    entity.indexes = isUnique ? [index] : []
    entity.nextPropertyNumber = 6
    return entity
  }

  /// What each rule's key is made of.
  static let rules: [(rule: PropertyNumber, properties: [PropertyNumber])] = [
    (text, [text]), (anything, [anything]), (pair, [target, number]),
  ]

  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
  func `random transactions agree with a dictionary`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var state = State(schema: Schema(entities: [UniquenessTests.entity()]))
    var model: [Int64: [PropertyNumber: Value]] = [:]
    let domain = [20, 300, 5000][Int(seed % 3)]
    let chunks = MemoryChunks()
    for step in 0..<50 {
      let before = (state, model)
      let count = random.below(15) == 0 ? 1500 : random.below(20)
      for _ in 0..<count {
        try UniquenessTests.change(&state, &model, domain: domain, using: &random)
        if random.below(50) == 0 { try UniquenessTests.lookUp(&state, model, domain, &random) }
      }
      let comment: Comment = "seed \(seed), step \(step)"
      let violations = try state.checkUniqueness()
      #expect(
        UniquenessTests.summary(violations) == UniquenessTests.expectedViolations(model), comment)
      for violation in violations { try UniquenessTests.confirm(violation, in: state) }
      #expect(try state.invariantViolations() == [], comment)
      if !violations.isEmpty, random.below(3) > 0 { (state, model) = before }
      for _ in 0..<20 { try UniquenessTests.lookUp(&state, model, domain, &random) }
      if try state.checkUniqueness().isEmpty, random.below(5) == 0 {
        let directory = try state.save(to: chunks)
        state = try State(directory: directory, source: chunks)
      }
    }
  }

  private static func change(
    _ state: inout State, _ model: inout [Int64: [PropertyNumber: Value]], domain: Int,
    using random: inout SeededRandom
  ) throws {
    let row = Int64(random.below(Int(state.nextRow(of: 1))) + 1)
    switch random.below(6) {
    case 0, 1:
      let row = try state.insertRow(1)
      model[row] = [:]
      for property in [text, anything, number, target] {
        let value = value(of: property, domain, &random)
        try state.set(1, row, property, to: value)
        model[row]?[property] = value.isNull ? Value?.none : value
      }
    case 2 where model[row] != nil:
      try state.deleteRow(1, row)
      model[row] = nil
    case 3 where row < state.nextRow(of: 1) && model[row] == nil:
      try state.insertRow(1, row: row)
      model[row] = [:]
      fallthrough
    default:
      guard model[row] != nil else { return }
      let property = PropertyNumber(random.below(4) + 1)
      let value = value(of: property, domain, &random)
      try state.set(1, row, property, to: value)
      model[row]?[property] = value.isNull ? Value?.none : value
    }
  }

  private static func value(
    of property: PropertyNumber, _ domain: Int, _ random: inout SeededRandom
  ) -> Value {
    let x = random.below(domain)
    if random.below(10) == 0 { return .null }
    switch property {
    case text:
      let beginning = ["", "https://example.com/a/long/shared/beginning/", "\0"][x % 3]
      return .string(beginning + "\(x / 3)")
    case anything:
      switch x % 6 {
      case 0 where x % 12 == 6:
        return .decimal(RawDecimal(significand: Int128(x / 12) - 5, exponent: -1) ?? .zero)
      case 0: return .int(Int64(x / 6) - 10)
      case 1: return .bool(x / 6 % 2 == 0)
      case 2: return .string("\(x / 6)")
      case 3: return .double(Double(x / 6) - 7.5)
      case 4: return .uuid(RawUUID(high: UInt64(x / 6) &* 0x9E37_79B9_7F4A_7C15, low: 7))
      default: return .data([0, UInt8(x / 6 % 3), 0] + Array(repeating: 0, count: x / 6 % 4))
      }
    case number: return .int(Int64(x % 40))
    default: return .object(ObjectReference(entity: 1, row: Int64(x / 40) + 1))
    }
  }

  private static func lookUp(
    _ state: inout State, _ model: [Int64: [PropertyNumber: Value]], _ domain: Int,
    _ random: inout SeededRandom
  ) throws {
    for (rule, properties) in rules {
      let values = properties.map { value(of: $0, domain, &random) }
      let rows = model.filter { entry in
        !values.contains(.null) && zip(properties, values).allSatisfy { entry.value[$0] == $1 }
      }.map(\.key)
      var arena: ContiguousArray<UInt8> = []
      let cells = values.map { ValueCell($0, appendingTo: &arena) }
      let isMutating = random.below(2) == 0
      let found = try arena.withUnsafeBytes { arena in
        if isMutating { try state.updateUniqueIndexes(of: 1) }
        return try state.lookup(1, rule: rule, key: cells, in: arena)
      }
      if let found {
        #expect(rows.contains(found))
      } else {
        #expect(rows.isEmpty)
      }
    }
  }

  /// How many objects are one too many, by rule.
  private static func expectedViolations(
    _ model: [Int64: [PropertyNumber: Value]]
  ) -> [PropertyNumber: Int] {
    var result: [PropertyNumber: Int] = [:]
    for (rule, properties) in rules {
      var seen: [[Value]: Int] = [:]
      for object in model.values {
        let key = properties.compactMap { object[$0] }
        if key.count == properties.count { seen[key, default: 0] += 1 }
      }
      let extra = seen.values.reduce(0) { $0 + $1 - 1 }
      if extra > 0 { result[rule] = extra }
    }
    return result
  }

  private static func summary(_ violations: [UniqueViolation]) -> [PropertyNumber: Int] {
    violations.reduce(into: [:]) { $0[$1.rule, default: 0] += 1 }
  }

  private static func confirm(_ violation: UniqueViolation, in state: State) throws {
    let properties = rules.first { $0.rule == violation.rule }?.properties ?? []
    let other = try #require(violation.otherRow)
    #expect(other != violation.row)
    for property in properties {
      #expect(
        try state.value(1, violation.row, property) == state.value(1, other, property))
    }
  }

  @Test func `values may be exchanged within a transaction`() throws {
    var state = State(schema: Schema(entities: [UniquenessTests.entity()]))
    let (a, b) = (try state.insertRow(1), try state.insertRow(1))
    try state.set(1, a, 1, to: .string("a"))
    try state.set(1, b, 1, to: .string("b"))
    #expect(try state.checkUniqueness() == [])
    try state.set(1, a, 1, to: .string("b"))
    #expect(try state.lookup(1, rule: 1, value: .string("b")) == b)
    #expect(try state.lookup(1, rule: 1, value: .string("a")) == nil)
    try state.set(1, b, 1, to: .string("a"))
    #expect(try state.checkUniqueness() == [])
    #expect(try state.lookup(1, rule: 1, value: .string("b")) == a)
    #expect(try state.lookup(1, rule: 1, value: .string("a")) == b)
  }

  @Test func `canonically equal strings are different keys`() throws {
    var state = State(schema: Schema(entities: [UniquenessTests.entity()]))
    for text in ["é", "e\u{301}"] {
      try state.set(1, try state.insertRow(1), 1, to: .string(text))
    }
    #expect(try state.checkUniqueness() == [])
    #expect(try state.lookup(1, rule: 1, value: .string("e\u{301}")) == 2)
  }

  @Test func `a rule added over duplicates names them`() throws {
    var state = State(schema: Schema(entities: [UniquenessTests.entity(isUnique: false)]))
    for text in ["a", "b", "a", "c", "a"] {
      try state.set(1, try state.insertRow(1), 1, to: .string(text))
    }
    #expect(try state.checkUniqueness() == [])
    state.changeSchema([UniquenessTests.entity()])
    let violations = try state.checkUniqueness()
    #expect(violations.map(\.row) == [3, 5])
    #expect(violations.map(\.otherRow) == [1, 1])
  }

  @Test func `a value over 4 KiB cannot be unique`() throws {
    var state = State(schema: Schema(entities: [UniquenessTests.entity()]))
    let row = try state.insertRow(1)
    let large = LargeValue(tag: .string, number: 1, length: 5000, checksum: 1)
    try state.set(1, row, 1, to: .large(large))
    let violations = try state.checkUniqueness()
    #expect(violations.count == 1)
    #expect(violations.first?.row == row)
    #expect(violations.first?.otherRow == nil)
  }

  @Test(arguments: [1, 40])
  func `keys that differ late stay apart over the ends of leaves`(rowsAtOnce: Int) throws {
    // Pairs that share forty bytes: where a leaf ends within one, its last key needs more bytes to
    // be told from the next leaf's than from its own.
    var state = State(schema: Schema(entities: [UniquenessTests.entity()]))
    var random = SeededRandom(seed: 3)
    func key(_ number: Int) -> Value {
      let beginning = String(repeating: "\(number / 2 % 7)", count: 40)
      return .string("\(number / 2 * 7919 % 5000) \(beginning) \(number % 2)")
    }
    var rows: [Int: Int64] = [:]
    for number in 0..<1203 where number != 1 {
      let row = try state.insertRow(1)
      try state.set(1, row, 1, to: key(number))
      rows[number] = row
    }
    #expect(try state.checkUniqueness() == [])
    // Each is taken out and put in again, so that the last of each leaf comes back there.
    var order = rows.keys.sorted()
    while !order.isEmpty {
      let taken = order.suffix(rowsAtOnce)
      order.removeLast(taken.count)
      for number in taken { try state.deleteRow(1, rows[number] ?? 0) }
      #expect(try state.checkUniqueness() == [])
      for number in taken.shuffled(using: &random) {
        let row = try state.insertRow(1)
        try state.set(1, row, 1, to: key(number))
        rows[number] = row
      }
      #expect(try state.checkUniqueness() == [])
      if order.count % 8 < rowsAtOnce { #expect(try state.invariantViolations() == []) }
    }
    #expect(try state.invariantViolations() == [])
    let chunks = MemoryChunks()
    let loaded = try State(directory: try state.save(to: chunks), source: chunks)
    #expect(try loaded.invariantViolations() == [])
    for (number, row) in rows {
      #expect(try loaded.lookup(1, rule: 1, value: key(number)) == row)
    }
  }

  @Test func `opening and one look-up touch one chunk of the index`() throws {
    var state = State(schema: Schema(entities: [UniquenessTests.entity()]))
    for number in 0..<30_000 {
      let row = try state.insertRow(1)
      let text = "key \((number &* 7919) % 30_000)"
      try state.set(1, row, 1, to: .string(text))
    }
    #expect(try state.checkUniqueness() == [])
    let chunks = MemoryChunks()
    let directory = try state.save(to: chunks)
    let index = try #require(directory.entities[0].indexes.first { $0.rule == 1 })
    let offsets = Set(index.chunks.map(\.reference.offset))
    #expect(offsets.count > 4)
    chunks.forgetReads()
    let loaded = try State(directory: directory, source: chunks)
    #expect(chunks.reads.isEmpty)
    let row = try loaded.lookup(1, rule: 1, value: .string("key 15838"))
    #expect(row == 3)
    #expect(chunks.reads.filter { offsets.contains($0) }.count == 1)
    #expect(chunks.reads.count == 2, "and the chunk of the column that has the rest of the key")
  }
}
