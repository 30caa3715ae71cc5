import AnnalsModel
import AnnalsState
import AnnalsTestSupport

/// An entity with indexes of all sorts, its objects as dictionaries, and random changes to both.
struct OrderedModel {
  static let text: PropertyNumber = 1
  static let anything: PropertyNumber = 2
  static let date: PropertyNumber = 3
  static let flag: PropertyNumber = 4
  static let number: PropertyNumber = 5
  static let target: PropertyNumber = 6

  var state: State
  var objects: [Int64: [PropertyNumber: Value]] = [:]
  /// How many different values there are of a property.
  var domain = 50

  init() { state = State(schema: Schema(entities: [OrderedModel.entity()])) }

  static func entity(hasIndexes: Bool = true) -> Entity {
    var entity = Entity("Thing")
    entity.number = 1
    let types: [(String, AttributeType)] = [
      ("text", .string), ("anything", .any), ("date", .date), ("flag", .bool), ("number", .int64),
    ]
    for (place, (name, type)) in types.enumerated() {
      var attribute = Attribute(name, type)
      attribute.number = PropertyNumber(place + 1)
      entity.attributes.append(attribute)
    }
    // Objects without a number count as having 7.
    entity.attributes[4].isOptional = false
    entity.attributes[4].defaultValue = .int(7)
    var relationship = Relationship("target", to: "")
    relationship.number = target
    relationship.destination = 1
    entity.relationships = [relationship]
    entity.nextPropertyNumber = 30
    guard hasIndexes else { return entity }
    entity.indexes = [
      index(10, [element(text)]), index(11, [element(text, isDescending: true)]),
      index(12, [element(anything, nullsFirst: false)]),
      index(13, [element(anything, isDescending: true, nullsFirst: true)]),
      index(14, [element(date, isDescending: true)]),
      index(15, [element(flag), element(text, isDescending: true), element(number)]),
      index(16, [element(number), element(target, isDescending: true)]),
      index(17, [element(target, nullsFirst: false), element(anything), element(text)]),
      index(18, [element(date)], [test(flag, .equal, .bool(false))]),
      index(
        19, [element(number, isDescending: true), element(text)],
        [test(number, .greaterOrEqual, .int(3)), test(anything, .notEqual, .null)]),
      index(20, [element(text)], [test(anything, .less, .double(20.5))]),
      index(
        21, [element(number)], [test(date, .equal, .null), test(text, .notEqual, .string(""))]),
      index(22, [element(date), element(number)], isBox: true),
      index(
        23, [element(number), element(date)], [test(flag, .equal, .bool(false))], isBox: true),
    ]
    return entity
  }

  static func index(
    _ number: PropertyNumber, _ elements: [IndexElement], _ tests: [IndexTest] = [],
    isBox: Bool = false
  ) -> IndexDescription {
    var index = IndexDescription("index \(number)", elements)
    index.number = number
    index.isBox = isBox
    index.tests = tests
    return index
  }

  static func test(
    _ property: PropertyNumber, _ comparison: Condition.Comparison, _ value: Value
  ) -> IndexTest {
    var test = IndexTest("", comparison, value)
    test.property = property
    return test
  }

  static func element(
    _ property: PropertyNumber, isDescending: Bool = false, nullsFirst: Bool? = nil
  ) -> IndexElement {
    var element = IndexElement("", isDescending: isDescending, nullsFirst: nullsFirst)
    element.property = property
    return element
  }

  static var shapes: [IndexShape] { entity().indexShapes }

  /// One random change: an insert, an update, a delete, or the revival of a row.
  mutating func change(using random: inout SeededRandom) throws {
    let row = Int64(random.below(Int(state.nextRow(of: 1))) + 1)
    switch random.below(8) {
    case 0, 1, 2: try insert(using: &random)
    case 3 where objects[row] != nil:
      try state.deleteRow(1, row)
      objects[row] = nil
    case 4 where row < state.nextRow(of: 1) && objects[row] == nil:
      try state.insertRow(1, row: row)
      objects[row] = [:]
      if random.below(2) == 0 { try set(row, PropertyNumber(random.below(6) + 1), &random) }
    default:
      if objects[row] != nil { try set(row, PropertyNumber(random.below(6) + 1), &random) }
    }
  }

  mutating func insert(using random: inout SeededRandom) throws {
    let row = try state.insertRow(1)
    objects[row] = [:]
    for property in PropertyNumber(1)...6 where random.below(4) > 0 {
      try set(row, property, &random)
    }
  }

  private mutating func set(
    _ row: Int64, _ property: PropertyNumber, _ random: inout SeededRandom
  ) throws {
    try set(row, property, to: value(of: property, &random))
  }

  mutating func set(_ row: Int64, _ property: PropertyNumber, to value: Value) throws {
    try state.set(1, row, property, to: value)
    objects[row]?[property] = value.isNull ? Value?.none : value
  }

  func value(of property: PropertyNumber, _ random: inout SeededRandom) -> Value {
    let x = random.below(domain)
    if random.below(8) == 0 { return .null }
    switch property {
    case OrderedModel.text: return .string(OrderedModel.text(x))
    case OrderedModel.anything: return OrderedModel.anything(x)
    case OrderedModel.date:
      return .date(Timestamp(microseconds: Int64(x - domain / 2) * 1_000_003))
    case OrderedModel.flag: return .bool(x % 2 == 0)
    case OrderedModel.number: return .int(Int64(x % 20) - 5)
    default: return .object(ObjectReference(entity: 1, row: Int64(x % 9) + 1))
    }
  }

  /// Texts that are each other's beginnings, hold zeros, and share 256 bytes and more.
  static func text(_ x: Int) -> String {
    let long = String(repeating: "a long beginning ", count: 16)
    return switch x % 6 {
    case 0: String(repeating: "a", count: x / 6 % 7)
    case 1: "a\0" + String(repeating: "\0", count: x / 6 % 5)
    case 2: String(long.prefix(254 + x / 6 % 5))
    case 3: long + "\(x / 6)"
    case 4: ["é", "e\u{301}", "e", "É"][x / 6 % 4] + "\(x / 24)"
    default: "\(x / 6)"
    }
  }

  static func anything(_ x: Int) -> Value {
    let part = x / 12
    switch x % 12 {
    case 0: return .int(Int64(part) - 3)
    case 1: return .double(part == 0 ? -0.0 : part == 1 ? 0.0 : Double(part) - 7.5)
    case 2: return .bool(part % 2 == 0)
    case 3: return .string(text(part))
    case 4: return .url("https://example.com/" + text(part))
    case 5: return .uuid(RawUUID(high: UInt64(part) &* 0x9E37_79B9_7F4A_7C15, low: 7))
    case 6: return .data([0, UInt8(part % 3), 255] + Array(repeating: 0, count: part % 4 * 100))
    case 7: return .json("{\"a\":\(part)}")
    case 8: return .date(Timestamp(microseconds: Int64(part) - 2))
    case 9:
      return .decimal(RawDecimal(significand: Int128(part) - 5, exponent: part % 5 - 3) ?? .zero)
    case 10: return .day(CalendarDay(nearestTo: Int64(part) - 2))
    default:
      return .large(
        LargeValue(tag: .data, number: UInt64(part) + 1, length: 5000, checksum: 1))
    }
  }
}
