import Annals
import AnnalsQuery

/// Reads the texts of options about the objects of an entity. A fault in a text is a usage error
/// that names its option.
struct OptionTexts {
  private let entity: Entity
  private let schema: Schema
  /// What a fault says of a state of the past; empty for others.
  private let time: String

  init(over entity: Entity, in schema: Schema) {
    (self.entity, self.schema, time) = (entity, schema, "")
  }

  /// Of a state that may be one of the past, with another schema than today's.
  init(over entity: Entity, in snapshot: Snapshot) {
    (self.entity, schema) = (entity, snapshot.schema)
    time = snapshot.isOfOlderSchema ? ", as of transaction \(snapshot.number)" : ""
  }

  /// The condition of `--where`. Its dates are those of DATE options.
  func condition(
    _ text: String, zone: LocalZone, now: Timestamp
  ) throws(CommandFailure) -> Condition {
    try reading("--where") { () throws(ConditionTextError) in
      try ConditionParser.parse(text, over: entity, in: schema, now: now, zone: zone.offset)
    }
  }

  /// Sort keys, as in `-timestamp,title[c]`.
  func sortKeys(_ text: String, of option: String) throws(CommandFailure) -> [SortKey] {
    try reading(option) { () throws(ConditionTextError) in
      try ConditionParser.parseSortKeys(text, over: entity, in: schema)
    }
  }

  /// Properties, as in `title,place.name`.
  func paths(_ text: String, of option: String) throws(CommandFailure) -> [PropertyPath] {
    try reading(option) { () throws(ConditionTextError) in
      try ConditionParser.parsePaths(text, over: entity, in: schema)
    }
  }

  private func reading<T>(
    _ option: String, _ body: () throws(ConditionTextError) -> T
  ) throws(CommandFailure) -> T {
    do throws(ConditionTextError) {
      return try body()
    } catch {
      throw CommandFailure("\(option)\(time), \(error)", status: .usage)
    }
  }
}
