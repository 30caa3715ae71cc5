import AnnalsModel
import AnnalsState
import AnnalsTestSupport

@testable import AnnalsQuery

/// Objects of one entity with everything that a timeline is made from, and the same as plain
/// values.
struct TimelineWorld {
  struct Object {
    var row: Int64
    var values: [String: Value] = [:]

    subscript(name: String) -> Value { values[name] ?? .null }
  }

  static let names: [(String, AttributeType)] = [
    ("start", .date), ("end", .date), ("isOngoing", .bool), ("kind", .string),
    ("includesEnd", .bool), ("title", .string), ("startText", .string), ("endText", .string),
    ("any", .any),
  ]

  static let schema: Schema = {
    var entity = Entity("Event")
    entity.number = 1
    for (place, (name, type)) in names.enumerated() {
      var attribute = Attribute(name, type)
      attribute.number = PropertyNumber(place + 1)
      entity.attributes.append(attribute)
    }
    var place = Relationship("place", to: "Event")
    place.number = PropertyNumber(names.count + 1)
    place.destination = 1
    entity.relationships = [place]
    entity.displayName = "title"
    entity.nextPropertyNumber = PropertyNumber(names.count + 2)
    return Schema(entities: [entity])
  }()

  static let sources = ConditionSources(
    largeValue: { _ in [] }, removingDiacritics: { $0 })

  private(set) var state = State(schema: schema)
  private(set) var objects: [Object] = []

  mutating func insert(_ values: [String: Value]) throws {
    let row = try state.insertRow(1)
    for (name, value) in values where !value.isNull {
      let number = TimelineWorld.schema.entities[0].propertyNumber(named: name) ?? 0
      try state.set(1, row, number, to: value)
    }
    objects.append(Object(row: row, values: values))
  }

  mutating func replace(_ index: Int, by values: [String: Value]) throws {
    for (name, _) in TimelineWorld.names {
      let number = TimelineWorld.schema.entities[0].propertyNumber(named: name) ?? 0
      try state.set(1, objects[index].row, number, to: values[name] ?? .null)
      objects[index].values[name] = values[name]
    }
  }

  mutating func delete(_ index: Int) throws {
    try state.deleteRow(1, objects[index].row)
    objects.remove(at: index)
  }

  /// Objects whose dates come from a few, so that many are equal.
  static func random(count: Int, using random: inout SeededRandom) throws -> TimelineWorld {
    var world = TimelineWorld()
    let texts = [
      "2004", "2004-05", "2004-05-17", "2004-05-17T00:00:00Z", "2004-05-17T02:00:00+02:00",
      "2019-11-1", "", "2003-12-31T23:59:59.999999Z", "soon",
    ]
    func date(_ random: inout SeededRandom) -> Value {
      let extreme: [Int64] = [.min, .min + 1, .max - 1, .max]
      if random.chance(10) {
        return .date(Timestamp(microseconds: extreme[random.below(extreme.count)]))
      }
      return .date(Timestamp(microseconds: Int64(random.below(20)) * 3_600_000_000))
    }
    for _ in 0..<count {
      var values: [String: Value] = [:]
      if random.chance(90) { values["start"] = date(&random) }
      if random.chance(60) { values["end"] = date(&random) }
      if random.chance(60) { values["isOngoing"] = .bool(random.chance(40)) }
      if random.chance(80) {
        let kinds = ["single", "range", "ongoing", "other"]
        values["kind"] = .string(kinds[random.below(kinds.count)])
      }
      if random.chance(90) { values["includesEnd"] = .bool(random.chance(70)) }
      if random.chance(90) { values["title"] = .string("t\(random.below(5))") }
      if random.chance(90) { values["startText"] = .string(texts[random.below(texts.count)]) }
      if random.chance(60) { values["endText"] = .string(texts[random.below(texts.count)]) }
      if random.chance(80) {
        values["any"] = random.chance(50) ? date(&random) : .string(texts[random.below(6)])
      }
      if random.chance(50) {
        values["place"] = .object(
          ObjectReference(entity: 1, row: Int64(random.below(count) + 1)))
      }
      try world.insert(values)
    }
    for _ in 0..<count / 10 { try world.delete(random.below(world.objects.count)) }
    return world
  }

  func columns(_ definition: TimelineDefinition) throws -> TimelineColumns {
    try TimelineColumns(definition, of: 1, in: state, TimelineWorld.sources)
  }
}

/// A timeline as the definition of the words has it, with no regard to speed.
struct NaiveTimeline {
  struct Placed {
    var row: Int64
    var start: Int64
    /// Of a range.
    var end: Int64?
    var kind: TimelineKind
    var isMarked = false
  }

  struct Row: Hashable {
    var row: Int64
    var role: TimelineRole
    var date: Int64?
  }

  var placed: [Placed] = []
  var unplaced: [Int64] = []

  static func moment(_ value: Value) -> Int64? {
    switch value {
    case .date(let moment): return moment.microseconds
    case .string(let text):
      switch text {
      case "2004": return 1_072_915_200_000_000
      case "2004-05": return 1_083_369_600_000_000
      case "2004-05-17", "2004-05-17T00:00:00Z", "2004-05-17T02:00:00+02:00":
        return 1_084_752_000_000_000
      case "2003-12-31T23:59:59.999999Z": return 1_072_915_199_999_999
      default: return nil
      }
    default: return nil
    }
  }

  init(
    _ world: TimelineWorld, start: String, end: String?, _ openEnd: TimelineDefinition.OpenEnd,
    hasCondition: Bool
  ) {
    for object in world.objects {
      guard let begun = NaiveTimeline.moment(object[start]) else {
        unplaced.append(object.row)
        continue
      }
      let value = end.map { object[$0] } ?? .null
      let ended = NaiveTimeline.moment(value)
      var kind = ended == nil ? TimelineKind.single : .range
      var isMarked = ended == nil && !value.isNull
      func settle(_ settled: TimelineKind) {
        kind = settled
        isMarked = false
      }
      switch openEnd {
      case .never: break
      case .whenEndIsNil: if value.isNull { settle(.ongoing) }
      case .flag: if object["isOngoing"] == .bool(true) { settle(.ongoing) }
      case .kind:
        if object["kind"] == .string("ongoing") { settle(.ongoing) }
        if object["kind"] == .string("single") { settle(.single) }
      }
      if hasCondition, object["includesEnd"] != .bool(true) { settle(.single) }
      placed.append(
        Placed(
          row: object.row, start: begun, end: kind == .range ? ended : nil, kind: kind,
          isMarked: isMarked))
    }
  }

  /// The rows in rising order.
  func rows(_ order: TimelineOrder, now: Int64) -> [Row] {
    var all: [(key: [Int64], row: Row)] = []
    for object in placed {
      // Last by a first number, then date, rank, id, and which row of the object it is.
      func add(_ isLast: Bool, _ date: Int64, _ rank: Int64, _ second: Int64, _ role: TimelineRole)
      {
        all.append(
          (
            [isLast ? 1 : 0, date, rank, object.row, second],
            Row(row: object.row, role: role, date: role == .ongoing ? nil : date)
          ))
      }
      switch object.kind {
      case .single: add(false, object.start, 1, 0, .single)
      case .range:
        let end = object.end ?? object.start
        let isInstant = end == object.start
        add(false, object.start, isInstant ? 1 : 2, 0, .start)
        if !order.hidesEnds { add(false, end, isInstant ? 1 : 0, 1, .end) }
      case .ongoing:
        add(false, object.start, 2, 0, .start)
        if order.hidesOngoing { break }
        if order.ongoing == .last {
          add(true, 0, 0, 0, .ongoing)
        } else {
          add(false, max(object.start, now), 3, 0, .ongoing)
        }
      }
    }
    return all.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.row)
  }

  /// The first and the last moment of those that take part in questions.
  var intervals: [(row: Int64, first: Int64, last: Int64)] {
    placed.compactMap { object in
      switch object.kind {
      case .single: return (object.row, object.start, object.start)
      case .ongoing: return (object.row, object.start, .max)
      case .range:
        guard let end = object.end, end >= object.start else { return nil }
        return (object.row, object.start, end == object.start ? end : end - 1)
      }
    }
  }
}
