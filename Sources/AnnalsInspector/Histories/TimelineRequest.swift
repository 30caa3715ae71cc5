import Annals
import AnnalsModel
import AnnalsQuery

/// What a timeline shows, as `annals timeline` and the page ask for it.
package struct TimelineRequest {
  package var entity: String?
  package var start: String?
  package var end: String?
  /// Which objects are ongoing: `never`, `nil`, `flag:P` or `kind:P`.
  package var open: String?
  package var group: String?
  package var label: String?
  /// Whether the lives of objects are shown, from the history.
  package var isOfLifetimes = false
  package var from: String?
  package var to: String?
  package var order = TimelineOrder()
  /// What stands before the names of these parts where a fault names them.
  package var prefix = ""

  package init() {}

  /// The command that prints it, from its verb and file on.
  package func command(_ words: CommandWords) -> CommandWords {
    words.option("entity", entity).option("start", start).option("end", end)
      .option("open", open).option("group", group).option("label", label)
      .flag("lifetimes", isOfLifetimes).option("from", from).option("to", to)
      .option("order", order.isDescending ? "desc" : nil)
      .flag("hide-ends", order.hidesEnds).flag("hide-ongoing", order.hidesOngoing)
  }

  /// The timeline of a state; of lifetimes, that up to it.
  package func sheet(
    of snapshot: Snapshot, in store: Store, zone: LocalZone, now: Timestamp
  ) throws -> TimelineSheet {
    isOfLifetimes
      ? try lifetimeSheet(snapshot, store, zone, now) : try entitySheet(snapshot, zone, now)
  }

  private func lifetimeSheet(
    _ snapshot: Snapshot, _ store: Store, _ zone: LocalZone, _ now: Timestamp
  ) throws -> TimelineSheet {
    let found = try entity.map { try snapshot.entity(named: $0) }
    let (columns, keys) = try Lifetimes.columns(in: store, of: found, through: snapshot.number)
    return TimelineSheet(
      TimelineEntries(columns, order, now: now),
      title: "\(found?.name ?? "All objects"): lifetimes",
      groupNames: columns.groups.map { TextEscaping.line.text($0.plainText) },
      showsGroups: found == nil, zone: zone, today: today(zone, now), window: try window(zone, now)
    ) { object in
      // Many objects are deleted; the history has their names.
      guard let place = columns.places(of: object).first, let group = columns.group(place) else {
        return "#\(object.row)"
      }
      let name = columns.groups[group].plainText
      return keys[object].map { "\(name)/\($0)" } ?? "\(name)#\(object.row)"
    }
  }

  private func entitySheet(
    _ snapshot: Snapshot, _ zone: LocalZone, _ now: Timestamp
  ) throws -> TimelineSheet {
    let reader = snapshot.reader
    let found = try snapshot.entity(named: entity ?? "")
    func path(_ name: String, _ text: String) throws -> PropertyPath {
      let option = prefix + name
      let keys = try OptionTexts(over: found, in: snapshot).sortKeys(text, of: option)
      guard keys.count == 1, let key = keys.first, key == SortKey(key.path) else {
        throw RequestFault(
          "\(option) is one property, not `\(text)`", .usage, parameter: option)
      }
      return key.path
    }
    var definition = TimelineDefinition(
      found.name, start: try path("start", start ?? ""),
      end: try end.map { try path("end", $0) },
      group: try group.map { try path("group", $0) },
      label: try label.map { try path("label", $0) })
    definition.openEnd = try openEnd { try path("open", $0) }
    if label == nil, let name = found.displayName ?? found.keyAttribute?.name {
      definition.label = PropertyPath(name)
    }
    let columns = try reader.timelineColumns(definition, of: found.number)
    let names = try columns.groups.map { group in
      guard case .object(let object) = group else {
        return TextEscaping.line.text(group.plainText)
      }
      return TextEscaping.line.text(try reader.name(of: object).shortText)
    }
    let zone = columns.hasWrittenDates ? LocalZone.fixed(0) : zone
    return TimelineSheet(
      TimelineEntries(columns, order, now: now),
      title: "\(found.name): \(start ?? "")\(end.map { " – \($0)" } ?? "")",
      groupNames: names, showsGroups: group != nil, zone: zone, today: today(zone, now),
      window: try window(zone, now)
    ) { try reader.name(of: $0).text }
  }

  private func today(_ zone: LocalZone, _ now: Timestamp) -> CalendarDay {
    CalendarDay(of: now, offset: zone.offset)
  }

  private func openEnd(
    _ path: (String) throws -> PropertyPath
  ) throws -> TimelineDefinition.OpenEnd {
    switch open {
    case nil, "never": return .never
    case "nil": return .whenEndIsNil
    case let text?:
      if text.hasPrefix("flag:") { return .flag(try path(String(text.dropFirst(5)))) }
      if text.hasPrefix("kind:") { return .kind(try path(String(text.dropFirst(5)))) }
      throw RequestFault(
        "\(prefix)open is never, nil, flag:P or kind:P, not `\(text)`", .usage,
        parameter: "\(prefix)open")
    }
  }

  private func window(_ zone: LocalZone, _ now: Timestamp) throws -> TimelineSheet.Window {
    var window = TimelineSheet.Window()
    if let from { window.first = try date("from", from, zone, now).start }
    if let to { window.last = try date("to", to, zone, now).end }
    guard window.first <= window.last else {
      throw RequestFault(
        "\(prefix)from is later than \(prefix)to: there is no such time", .usage,
        parameter: "\(prefix)from")
    }
    return window
  }

  /// The start and the end of a date.
  private func date(
    _ name: String, _ text: String, _ zone: LocalZone, _ now: Timestamp
  ) throws -> (start: Int64, end: Int64) {
    let date = TokenArgument.moment(text, zone, now: now, allowsYears: true)
    guard let date, let start = date.start, let end = date.end else {
      throw RequestFault(
        "\(prefix)\(name), `\(text)` is no date. Write 2019, \(TokenArgument.dateForms), or an "
          + "age: 90m, 12h, 30d, 2w, 1y", .usage, parameter: "\(prefix)\(name)")
    }
    return (start.microseconds, end.microseconds)
  }
}
