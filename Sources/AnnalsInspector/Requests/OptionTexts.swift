import Annals
import AnnalsQuery

/// Reads the texts of options about the objects of an entity. A fault in a text is a usage error
/// that names its option.
package struct OptionTexts {
  private let entity: Entity
  private let schema: Schema
  /// What a fault says of a state of the past; empty for others.
  private let time: String

  package init(over entity: Entity, in schema: Schema) {
    (self.entity, self.schema, time) = (entity, schema, "")
  }

  /// Of a state that may be one of the past, with another schema than today's.
  package init(over entity: Entity, in snapshot: Snapshot) {
    (self.entity, schema) = (entity, snapshot.schema)
    time = snapshot.isOfOlderSchema ? ", as of transaction \(snapshot.number)" : ""
  }

  /// The condition of `--where`. Its dates are those of DATE options.
  package func condition(
    _ text: String, of option: String = "--where", zone: LocalZone, now: Timestamp
  ) throws(RequestFault) -> Condition {
    try reading(option) { () throws(ConditionTextError) in
      try ConditionParser.parse(text, over: entity, in: schema, now: now, zone: zone.offset)
    }
  }

  /// Sort keys, as in `-timestamp,title[c]`.
  package func sortKeys(_ text: String, of option: String) throws(RequestFault) -> [SortKey] {
    try reading(option) { () throws(ConditionTextError) in
      try ConditionParser.parseSortKeys(text, over: entity, in: schema)
    }
  }

  /// Properties, as in `title,place.name`.
  package func paths(_ text: String, of option: String) throws(RequestFault) -> [PropertyPath] {
    try reading(option) { () throws(ConditionTextError) in
      try ConditionParser.parsePaths(text, over: entity, in: schema)
    }
  }

  private func reading<T>(
    _ option: String, _ body: () throws(ConditionTextError) -> T
  ) throws(RequestFault) -> T {
    do throws(ConditionTextError) {
      return try body()
    } catch {
      throw RequestFault(
        "\(option)\(time), \(error)", .usage, parameter: option, column: error.column)
    }
  }
}
