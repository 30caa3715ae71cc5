import AnnalsModel
import AnnalsQuery
import AnnalsState
import AnnalsTestSupport
import Testing

/// Objects with a value of every kind that an index has an order of, indexes of all sorts over
/// them, and random queries.
struct PlanWorld {
  static let types: [AttributeType] = [
    .int64, .int64, .int64, .double, .string, .url, .json, .data, .uuid, .date, .bool, .url,
    .decimal, .day,
  ]
  static let names = [
    "n", "a", "b", "x", "text", "link", "json", "data", "uuid", "date", "flag", "page",
    "price", "due",
  ]
  static let shapes = entity().indexShapes
  private static let numbers = Dictionary(
    uniqueKeysWithValues: names.enumerated().map { ($1, PropertyNumber($0 + 1)) })
  private static let doubles: [Double] = [-1e300, -2.5, -1, -0.0, 0, 0.5, 1, 3, 7.25, 1e300]

  var random: SeededRandom
  var state = State(schema: Schema(entities: [PlanWorld.entity()]))
  var objects: [Int64: [PropertyNumber: Value]] = [:]

  /// A world of so many objects; no two have the same `n`, `a` with `b`, or `page`.
  init(seed: UInt64, count: Int) throws {
    random = SeededRandom(seed: seed)
    for number in 0..<count {
      let row = try state.insertRow(1)
      var object: [PropertyNumber: Value] = [
        1: .int(Int64(number)), 2: .int(Int64(number % 20)), 3: .int(Int64(number / 20)),
        12: .url("a:\(number)"),
      ]
      for property in PropertyNumber(4)...11 { object[property] = value(property) }
      for property in PropertyNumber(13)...14 { object[property] = value(property) }
      for property in PropertyNumber(1)...14 where random.chance(8) { object[property] = .null }
      for (property, value) in object.sorted(by: { $0.key < $1.key }) {
        try state.set(1, row, property, to: value)
      }
      objects[row] = object
    }
    for row in objects.keys.sorted() where random.chance(8) {
      try state.deleteRow(1, row)
      objects[row] = nil
    }
    #expect(try state.checkUniqueness() == [])
  }

  static func entity() -> Entity {
    var entity = Entity("Thing")
    entity.number = 1
    for (place, type) in types.enumerated() {
      var attribute = Attribute(names[place], type)
      attribute.number = PropertyNumber(place + 1)
      attribute.isUnique = names[place] == "page"
      entity.attributes.append(attribute)
    }
    func index(_ elements: (PropertyNumber, Bool)..., isUnique: Bool = false, isBox: Bool = false) {
      let number = PropertyNumber(20 + entity.indexes.count)
      var index = IndexDescription("index \(number)", [], isUnique: isUnique)
      (index.number, index.isBox) = (number, isBox)
      for (property, isDescending) in elements {
        var element = IndexElement("", isDescending: isDescending)
        element.property = property
        index.elements.append(element)
      }
      entity.indexes.append(index)
    }
    index((1, true), isUnique: true)
    index((2, false), (3, true), isUnique: true)
    index((3, true), (2, true), isUnique: true)
    index((4, false))
    index((11, false), (4, true))
    index((5, true))
    index((6, false))
    index((7, true), (2, false))
    index((8, false), (5, false))
    index((9, true))
    index((10, false), (6, true))
    index((4, false), (10, false), isBox: true)
    index((13, false))
    index((13, true), (2, false))
    index((14, true), (13, false))
    index((14, false), (10, false), isBox: true)
    entity.nextPropertyNumber = 40
    return entity
  }

  private static func path(_ property: PropertyNumber) -> PropertyPath {
    PropertyPath(names[Int(property) - 1])
  }

  /// A value that objects have. Some texts are each other's beginnings, share 256 bytes, or hold
  /// zeros.
  mutating func value(_ property: PropertyNumber) -> Value {
    let long = String(repeating: "a long way ", count: 30)
    let texts = ["", "a", "ab", "a\0", "a\0b", "b", "é", long, long + "x", long + "a"]
    let text = texts[random.below(texts.count)]
    return switch PlanWorld.types[Int(property) - 1] {
    case .int64: .int(Int64(random.below(property == 1 ? 320 : 20)))
    case .double: .double(PlanWorld.doubles[random.below(PlanWorld.doubles.count)])
    case .url: .url(property == 12 ? "a:\(random.below(320))" : text)
    case .json: .json(text)
    case .data: .data(Array(text.utf8))
    case .uuid: .uuid(RawUUID(high: UInt64(random.below(2)), low: UInt64(random.below(3))))
    case .date: .date(Timestamp(microseconds: Int64(random.below(12)) - 4))
    case .bool: .bool(random.chance(50))
    case .decimal: .decimal(PlanWorld.decimal(random.below(20)))
    case .day: .day(CalendarDay(nearestTo: Int64(random.below(12)) - 4))
    default: .string(text)
    }
  }

  private static func decimal(_ number: Int) -> RawDecimal {
    RawDecimal(significand: Int128(number - 8), exponent: number % 3 - 1) ?? .zero
  }

  /// A value to compare with; of numbers also one with a fraction, and NaN.
  mutating func operand(_ property: PropertyNumber) -> Value {
    let value = value(property)
    let isNumber = [1, 2, 3, 4, 13].contains(property)
    if isNumber, random.chance(property == 4 ? 25 : 5) {
      return .double(random.chance(50) ? .nan : -.nan)
    }
    if isNumber, random.chance(5) { return .double(random.chance(50) ? .infinity : -.infinity) }
    switch value {
    case .int(let number) where random.chance(5):
      return .decimal(RawDecimal(significand: Int128(number) * 10 + 5, exponent: -1) ?? .zero)
    case .double where random.chance(5): return .decimal(PlanWorld.decimal(random.below(20)))
    case .decimal where random.chance(40):
      return random.chance(50)
        ? .int(Int64(random.below(9) - 3)) : .double([0.1, 0.5, -2.5, 1e300][random.below(4)])
    case .int(let number) where random.chance(20):
      return .double(Double(number) + [0, 0.5, -0.5][random.below(3)])
    case .double where random.chance(20): return .int(Int64(random.below(9) - 3))
    default: return value
    }
  }

  mutating func test(_ property: PropertyNumber) -> Condition {
    let path = PlanWorld.path(property)
    switch random.below(9) {
    case 0: return .isNil(path)
    case 1, 2, 3:
      var values: [Value] = []
      for _ in 0..<random.number(1...4) { values.append(operand(property)) }
      if random.chance(15) { values.append(.null) }
      return .isIn(path, values)
    case 4: return .isBetween(path, operand(property), operand(property))
    case 5: return .compare(path, .equal, operand(property))
    case 6 where [5, 6, 7, 12].contains(property):
      return .text(path, .begins, ["", "a", "a:1", "a long"][random.below(4)])
    default:
      let comparisons = Condition.Comparison.allCases
      return .compare(path, comparisons[random.below(comparisons.count)], operand(property))
    }
  }

  /// A test that leaves single values.
  private mutating func exactTest(_ property: PropertyNumber) -> Condition {
    let path = PlanWorld.path(property)
    if random.chance(40) { return .compare(path, .equal, operand(property)) }
    return .isIn(path, (0..<random.number(2...5)).map { _ in operand(property) })
  }

  /// A query that an index may well serve, in its order or the opposite one.
  mutating func query() -> RowQuery {
    let shapes = PlanWorld.shapes.filter { $0.isUnique || random.chance(60) }
    let shape = shapes[random.below(shapes.count)]
    var parts: [Condition] = []
    if random.chance(shape.isUnique ? 70 : 30) {
      // All that a unique index needs to serve.
      parts += shape.columns.map { exactTest($0.property) }
      if random.chance(50) { parts.append(test(PropertyNumber(random.below(14)) + 1)) }
    } else {
      for column in shape.columns where shape.kind == .box || random.chance(70) {
        parts.append(test(column.property))
      }
      for _ in 0..<random.below(3) { parts.append(test(PropertyNumber(random.below(14)) + 1)) }
    }
    var query = RowQuery(entity: 1, condition: .all(parts))
    let isOpposite = random.chance(50)
    if random.chance(70) {
      query.keys = shape.columns.map { column in
        SortKey(
          PlanWorld.path(column.property), isDescending: column.isDescending != isOpposite)
      }
    }
    query.areTiesDescending = random.chance(50)
    if random.chance(30) { query.limit = random.below(30) }
    if random.chance(20) { query.offset = random.below(10) }
    return query
  }
}

// What queries find, by comparing boxed values.
extension PlanWorld {
  /// All rows that a query finds, rising, and those that it returns.
  func expected(_ query: RowQuery) -> (all: [Int64], ordered: [Int64]) {
    let all = objects.filter { holds(query.condition, $0.value) }.keys.sorted()
    let paths = query.keys.map { PlanWorld.numbers[$0.path.names[0]] ?? 0 }
    var entries = all.map { row in (row: row, values: paths.map { objects[row]?[$0] ?? .null }) }
    entries.sort { a, b in
      for (index, key) in query.keys.enumerated() {
        let order = NaiveSort.compare(a.values[index], b.values[index], key)
        if order != 0 { return order < 0 }
      }
      return query.areTiesDescending ? a.row > b.row : a.row < b.row
    }
    return (all, entries.dropFirst(query.offset).prefix(query.limit ?? .max).map(\.row))
  }

  private func holds(_ condition: Condition, _ object: [PropertyNumber: Value]) -> Bool {
    func value(_ path: PropertyPath) -> Value {
      object[PlanWorld.numbers[path.names[0]] ?? 0] ?? .null
    }
    switch condition.form {
    case .constant(let flag): return flag
    case .contains, .some, .count:
      preconditionFailure("the objects here have no to-many relationship")
    case .not(let part): return !holds(part, object)
    case .all(let parts): return parts.allSatisfy { holds($0, object) }
    case .any(let parts): return parts.contains { holds($0, object) }
    case .isNil(let path): return value(path).isNull
    case .isIn(let path, let values):
      let value = value(path)
      return values.contains { value.isNull && $0.isNull || order(value, $0) == 0 }
    case .isBetween(let path, let low, let high):
      guard let a = order(value(path), low), let b = order(value(path), high) else { return false }
      return a >= 0 && b <= 0
    case .comparison(let path, let comparison, let other):
      let order = order(value(path), other)
      switch comparison {
      case .equal: return order == 0
      case .notEqual: return order != 0
      case .less: return order.map { $0 < 0 } ?? false
      case .lessOrEqual: return order.map { $0 <= 0 } ?? false
      case .greater: return order.map { $0 > 0 } ?? false
      case .greaterOrEqual: return order.map { $0 >= 0 } ?? false
      }
    case .text(let path, let test):
      switch value(path) {
      case .string(let text), .url(let text), .json(let text):
        return text.utf8.starts(with: test.text.utf8)
      default: return false
      }
    }
  }

  /// How two values compare; nil if they do not.
  private func order(_ a: Value, _ b: Value) -> Int? {
    func number(_ value: Value) -> Double? {
      switch value {
      case .int(let number): Double(number)
      case .double(let number): number
      default: nil
      }
    }
    // Integers are small, so only doubles may not be decimals.
    func exact(_ value: Value) -> RawDecimal? {
      switch value {
      case .int(let number): RawDecimal(number)
      case .decimal(let number): number
      default: nil
      }
    }
    if let x = exact(a), let y = exact(b) { return x < y ? -1 : x == y ? 0 : 1 }
    if case .double(let y) = b, case .decimal(let x) = a {
      if y.isNaN { return nil }
      let outcome = Outcome.ofNumbers(x, y)
      return outcome == .less ? -1 : outcome == .equal ? 0 : 1
    }
    if case .double = a, case .decimal = b { return order(b, a).map { -$0 } }
    if let x = number(a), let y = number(b) {
      return x.isNaN || y.isNaN ? nil : x < y ? -1 : x == y ? 0 : 1
    }
    if a.isNull || a.tag != b.tag { return nil }
    return NaiveSort.compare(a, b, SortKey("n"))
  }
}
