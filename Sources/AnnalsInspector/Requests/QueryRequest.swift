import Annals
import AnnalsModel
import AnnalsQuery

/// What a query asks for, as `annals query` and the page say it.
package struct QueryRequest {
  package var condition: String?
  package var sort: String?
  /// A property, or a calendar unit and a date: `day:timestamp`.
  package var groupBy: String?
  /// The properties whose sums, means, least and greatest values each group has.
  package var aggregated: [(function: Aggregate.Function, texts: [String])] = []
  /// The name of `groupBy` where a fault names it.
  package var nameOfGroupBy = "by"
  /// What stands before the names of the other parts there.
  package var prefix = ""

  package init() {}

  /// The objects that meet the condition, in their order.
  package func fetch(
    _ entity: Entity, in snapshot: Snapshot, zone: LocalZone, now: Timestamp
  ) throws -> DynamicFetch {
    let texts = OptionTexts(over: entity, in: snapshot)
    let found = try condition.map {
      try texts.condition($0, of: prefix + "where", zone: zone, now: now)
    }
    let keys = try sort.map { try texts.sortKeys($0, of: prefix + "sort") } ?? []
    return DynamicFetch(entity.name).where(found).sorted(by: keys)
  }

  /// What objects are grouped by; nil if all of them are one group.
  package func groupKey(_ entity: Entity, in schema: Schema, zone: LocalZone) throws -> GroupKey? {
    guard let text = groupBy else { return nil }
    let unit = CalendarUnit.allCases.first { text.hasPrefix($0.rawValue + ":") }
    if unit == nil, let colon = text.firstIndex(of: ":"), !text.hasPrefix("`") {
      let word = String(text[..<colon])
      let units = CalendarUnit.allCases.map(\.rawValue)
      let near = NearName.hint(word, among: units)
      throw RequestFault(
        "\(nameOfGroupBy): there is no unit \"\(word)\"\(near.isEmpty ? "." : near) Units are "
          + units.joined(separator: ", ") + ".", .usage, parameter: nameOfGroupBy)
    }
    // Spaces replace the unit, so that errors name the right column.
    let length = unit.map { $0.rawValue.count + 1 } ?? 0
    let path = try path(
      String(repeating: " ", count: length) + text.dropFirst(length), nameOfGroupBy, entity, schema)
    return unit.map { .each($0, of: path, by: zone.clock) } ?? .value(path)
  }

  /// What is computed of each group.
  package func aggregates(_ entity: Entity, in schema: Schema) throws -> [Aggregate] {
    try aggregated.flatMap { function, texts in
      try texts.map {
        Aggregate(function, of: try path($0, prefix + function.rawValue, entity, schema))
      }
    }
  }

  private func path(
    _ text: String, _ option: String, _ entity: Entity, _ schema: Schema
  ) throws -> PropertyPath {
    let paths = try OptionTexts(over: entity, in: schema).paths(text, of: option)
    guard paths.count == 1 else {
      throw RequestFault("\(option) takes one property", .usage, parameter: option)
    }
    return paths[0]
  }
}
