import Annals
import AnnalsModel

/// What is asked of each state: whether an object exists and meets a condition, or how many do.
struct Claim {
  private(set) var object: ObjectReference?
  private(set) var entity: String
  private var number: EntityNumber
  private var condition: String?
  private var comparison = (word: ">", count: 0)

  private static let comparisons = [">=", "<=", "==", "!=", ">", "<", "="]

  /// The attributes that the condition looks at; nil if it looks at other objects, or at which ones
  /// an object refers to.
  private var properties: Set<PropertyNumber>? = []

  /// Whether only its own changes can decide whether an object counts.
  var isOfOwnValues: Bool { properties != nil }

  /// Whether it is about how many objects there are, whatever their values.
  var isOfExistence: Bool { condition == nil }

  init(_ asking: Asking, _ store: OpenedStore, asOf end: Int64) throws {
    let snapshot = try store.snapshot(at: end)
    condition = asking.parameters["where"]
    if asking.parameters["object"] != nil {
      let found = try asking.object(in: snapshot, of: store)
      object = found
      number = found.entity
      entity = snapshot.schema.entity(numbered: number)?.name ?? ""
    } else {
      entity = try asking.parameters.required("entity")
      number = try snapshot.entity(named: entity).number
      if let text = asking.parameters["count"] { try read(text, of: asking.prefix + "count") }
    }
    if let condition, let found = snapshot.schema.entity(numbered: number) {
      let read = try OptionTexts(over: found, in: snapshot)
        .condition(condition, of: asking.prefix + "where", zone: store.zone, now: store.now)
      let numbers = read.dependencies.map { dependency in
        dependency.path.names.count == 1
          ? dependency.path.names.first.flatMap { found.attribute(named: $0)?.number } : nil
      }
      properties = numbers.contains(nil) ? nil : Set(numbers.compactMap { $0 })
    }
  }

  private mutating func read(_ text: String, of option: String) throws {
    let text = text.filter { $0 != " " }
    let word = Claim.comparisons.first { text.hasPrefix($0) } ?? ""
    guard let count = Int(text.dropFirst(word.count)) else {
      throw RequestFault(
        "\(option) is >=100, ==0 or <5, not `\(text)`", .usage, parameter: "count")
    }
    comparison = (word.isEmpty ? ">=" : word, count)
  }

  func concerns(_ change: Change) -> Bool {
    if let object { return ObjectReference(change.objectID) == object }
    return change.entry.entity == number
  }

  /// Whether a change can be one with which the answer changes, if own values decide.
  func mayDecide(_ change: Change) -> Bool {
    guard concerns(change) else { return false }
    guard change.kind == .update, let properties else { return true }
    return change.properties.contains { properties.contains($0.number) }
  }

  /// What is answered for a count of objects.
  func probe(_ at: Int64, counting count: Int) -> SinceDocument.Probe {
    SinceDocument.Probe(number: at, holds: holds(count), count: count)
  }

  /// Asks one state.
  func probe(_ at: Int64, in store: OpenedStore) throws -> SinceDocument.Probe {
    let snapshot = try store.snapshot(at: at)
    guard let wanted = wanted(under: snapshot.schema, store) else {
      return SinceDocument.Probe(
        number: at, holds: object == nil && holds(0), count: object == nil ? 0 : nil)
    }
    guard let object else {
      let name = snapshot.schema.entity(numbered: number)?.name ?? entity
      return probe(at, counting: try snapshot.count(DynamicFetch(name).where(wanted)))
    }
    let count = try snapshot.reader.count(of: wanted, among: [object.row], of: number)
    return SinceDocument.Probe(number: at, holds: count > 0)
  }

  /// How many more objects there are after a transaction's changes than before them.
  func rise(with changes: [Change]) -> Int {
    changes.lazy.filter(concerns).reduce(0) {
      $0 + ($1.kind == .insert ? 1 : $1.kind == .delete ? -1 : 0)
    }
  }

  /// How many more objects count after a transaction's changes than before them, under a schema
  /// that both states have; nil if it lacks the entity.
  func rise(
    with changes: [Change], from before: StateReader, to after: StateReader, under schema: Schema,
    _ store: OpenedStore
  ) throws -> Int? {
    guard let wanted = wanted(under: schema, store) else { return nil }
    let rows = Set(changes.lazy.filter(mayDecide).map { ObjectReference($0.objectID).row })
    return try after.count(of: wanted, among: rows, of: number)
      - before.count(of: wanted, among: rows, of: number)
  }

  /// The condition as a schema reads it; nil if that does not have the entity.
  private func wanted(under schema: Schema, _ store: OpenedStore) -> Condition? {
    guard let found = schema.entity(numbered: number), !found.isRemoved else { return nil }
    guard let condition else { return .always }
    // A property that did not exist then has no value: no object meets the condition.
    return
      (try? OptionTexts(over: found, in: schema)
      .condition(condition, of: "where", zone: store.zone, now: store.now)) ?? .never
  }

  private func holds(_ count: Int) -> Bool {
    switch comparison.word {
    case ">=": count >= comparison.count
    case "<=": count <= comparison.count
    case "!=": count != comparison.count
    case ">": count > comparison.count
    case "<": count < comparison.count
    default: count == comparison.count
    }
  }
}
