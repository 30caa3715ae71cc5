import AnnalsModel
import AnnalsTestSupport

/// The schema of the model tests: two entities with a property of every type.
enum ModelSchema {
  static let first: EntityNumber = 1
  static let second: EntityNumber = 2
  /// The number of the relationship to one object; those before it are the attributes by type.
  static let toOne: PropertyNumber = 15
  static let toMany: PropertyNumber = 16

  static func make(isUnique: Bool = false) -> Schema {
    Schema(entities: [entity(first, isUnique: isUnique), entity(second, isUnique: isUnique)])
  }

  static func entity(_ number: EntityNumber, isUnique: Bool) -> Entity {
    var entity = Entity("Entity\(number)")
    entity.number = number
    for (place, type) in AttributeType.allCases.enumerated() {
      var attribute = Attribute("\(type)", type)
      attribute.number = PropertyNumber(place + 1)
      attribute.isUnique = isUnique && [.string, .uuid, .any, .int64, .decimal].contains(type)
      entity.attributes.append(attribute)
    }
    var one = Relationship("one", to: "")
    one.number = toOne
    one.destination = second
    one.deleteRule = .cascade
    var many = Relationship("many", to: "", isToMany: true)
    many.number = toMany
    many.destination = second
    many.inverseName = "all"
    entity.relationships = [one, many]
    entity.indexes = [
      index(17, [.init("", isDescending: true)], of: [7]),
      index(18, [.init("", nullsFirst: false), .init("", isDescending: true)], of: [12, toOne]),
      index(19, ["", ""], of: [4, 7], isBox: true),
      index(20, ["", "", "", "", ""], of: [5, 2, 3, 4, 7], isBox: true),
      index(21, ["", .init("", isDescending: true)], of: [13, 14]),
      index(22, ["", ""], of: [14, 4], isBox: true),
    ]
    entity.nextPropertyNumber = 23
    return entity
  }

  private static func index(
    _ number: PropertyNumber, _ elements: [IndexElement], of properties: [PropertyNumber],
    isBox: Bool = false
  ) -> IndexDescription {
    var index = IndexDescription("index \(number)", elements)
    index.number = number
    index.isBox = isBox
    for (place, property) in properties.enumerated() { index.elements[place].property = property }
    return index
  }

  static let properties: [PropertyNumber] = Array(1...16)

  /// A value that the property admits, or null.
  static func value(
    of property: PropertyNumber, using random: inout SeededRandom
  ) -> Value {
    if random.below(8) == 0 { return .null }
    switch property {
    case toOne: return .object(ObjectReference(entity: second, row: Int64(random.below(50) + 1)))
    case toMany:
      var rows = Array(1...12).shuffled(using: &random)
      rows.removeLast(random.below(12))
      return .objects(rows.map { ObjectReference(entity: second, row: Int64($0)) })
    default: return value(AttributeType.allCases[Int(property) - 1], using: &random)
    }
  }

  static func value(_ type: AttributeType, using random: inout SeededRandom) -> Value {
    switch type {
    case .bool: .bool(random.below(2) == 0)
    case .int16: .int(Int64(Int16.random(in: .min ... .max, using: &random)))
    case .int32: .int(Int64(Int32.random(in: .min ... .max, using: &random)))
    case .int64: .int(Int64.random(in: .min ... .max, using: &random) >> random.below(64))
    case .double: .double(Double.random(in: -1e9...1e9, using: &random))
    case .string: .string(text(using: &random))
    case .date: .date(Timestamp(microseconds: Int64(random.below(1 << 50))))
    case .uuid: .uuid(RawUUID(high: random.next(), low: random.next() & 3))
    case .url: .url("https://example.com/" + text(using: &random))
    case .data: large(.data, using: &random) ?? .data(Array(text(using: &random).utf8))
    case .json: large(.json, using: &random) ?? .json("{\"a\":\(random.below(1000))}")
    case .decimal: .decimal(decimal(using: &random))
    case .day: .day(CalendarDay(nearestTo: Int64(random.below(7_000_000)) - 4_000_000))
    case .any: value(narrow[random.below(narrow.count)], using: &random)
    }
  }

  private static let narrow = AttributeType.allCases.filter { $0 != .any }

  private static func decimal(using random: inout SeededRandom) -> RawDecimal {
    let digits = Int128(Int64.random(in: .min ... .max, using: &random) >> random.below(64))
    return RawDecimal(significand: digits, exponent: random.below(9) - 4) ?? .zero
  }

  private static func large(_ tag: ValueTag, using random: inout SeededRandom) -> Value? {
    guard random.below(6) == 0 else { return nil }
    return .large(
      LargeValue(
        tag: tag, number: random.next() >> 32, length: 5000, checksum: UInt32(random.below(99))))
  }

  private static func text(using random: inout SeededRandom) -> String {
    let letters = ["a", "b", "e\u{301}", "é", "日", "\0", "xyz", " "]
    return (0..<random.below(random.below(20) == 0 ? 400 : 12))
      .map { _ in letters[random.below(letters.count)] }.joined()
  }
}
