import Annals
import AnnalsQuery
import ArgumentParser

struct TimelineCommand: FileCommand {
  static let isPaged = true
  static let configuration = CommandConfiguration(
    commandName: "timeline",
    abstract: "Prints or draws what happened when, by dates of objects.",
    discussion: """
      Each object of the entity is a single date, a range from --start to --end, or ongoing. \
      --open says which objects are ongoing: never any, nil (those without an end), flag:P (where \
      P is true), or kind:P (P is single, range or ongoing). Dates are attributes of type date, or \
      texts: 2004, 2004-05, 2004-05-17, RFC 3339. --lifetimes shows the life of each object, from \
      insert to delete, from the history.

      There are two axes of time. --from and --to select when things happened: only rows with such \
      dates, and in a picture also what was under way. --at selects when things were recorded: all \
      that was known then. A DATE is 2019, -0044, 2019-10, 2019-10-22, "2019-10-22 20:15", \
      2019-10-22T18:15:04Z, now, today, yesterday or an age; a year, month or day is all of it. \
      \(Vocabulary.token)
      """)

  @Argument(help: "The store.", completion: .file()) var file: String
  @Option(parsing: .unconditional, help: "The entity.") var entity: String?
  @Option(parsing: .unconditional, help: "The property with the start, or the single date.")
  var start: String?
  @Option(parsing: .unconditional, help: "The property with the end.") var end: String?
  @Option(parsing: .unconditional, help: "Which objects are ongoing: never, nil, flag:P or kind:P.")
  var open: String?
  @Option(parsing: .unconditional, help: "The property to group by.")
  var group: String?
  @Option(parsing: .unconditional, help: "The property that names an object.") var label: String?
  @Flag(help: "Show the lives of objects, from insert to delete.") var lifetimes = false
  @Option(parsing: .unconditional, help: "Only what happened at this DATE or later.")
  var from: String?
  @Option(parsing: .unconditional, help: "Only what happened at this DATE or earlier.")
  var to: String?
  @Option(parsing: .unconditional, help: "asc or desc.") var order = Direction.asc
  @Flag(help: "Leave out the rows for the ends of ranges.") var hideEnds = false
  @Flag(help: "Leave out the rows for ongoing objects.") var hideOngoing = false
  @Option(
    parsing: .unconditional, help: "As recorded at this TOKEN; head if left out.")
  var at: String?
  @OptionGroup var picture: PictureOptions
  @Option(parsing: .unconditional, help: "text or jsonl; text if left out.")
  var format: LineFormat?

  enum Direction: String, ExpressibleByArgument, CaseIterable {
    case asc, desc
  }

  func validate() throws {
    guard picture.svg == nil || format == nil else {
      throw ValidationError("--svg draws a picture, --format is for lines: leave one out")
    }
    try picture.check()
    if lifetimes {
      guard start == nil, end == nil, open == nil, group == nil, label == nil else {
        throw ValidationError(
          "--lifetimes takes its dates from history: leave out --start, --end, --open, --group and "
            + "--label")
      }
    } else {
      guard entity != nil, start != nil else {
        throw ValidationError("say --entity E --start P, or --lifetimes")
      }
      guard open != "nil" || end != nil else {
        throw ValidationError("--open nil is of an end: say --end P, too")
      }
    }
  }

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file, holdingValues: !lifetimes)
    defer { try? store.close() }
    let sheet =
      lifetimes ? try lifetimeSheet(store, console) : try entitySheet(store, console)
    if picture.svg != nil {
      let drawn = try sheet.picture()
      return try picture.write(drawn.svg, drawn.notes, console)
    }
    switch format ?? .text {
    case .text: try TimelineText(sheet, console).write()
    case .jsonl: try TimelineLines(sheet, console).write()
    }
    return .done
  }

  private func lifetimeSheet(_ store: Store, _ console: Console) throws -> TimelineSheet {
    let snapshot = try console.snapshot(at, in: store, withOnly: [])
    let found = try entity.map { try snapshot.entity(named: $0) }
    let (columns, keys) = try Lifetimes.columns(in: store, of: found, through: snapshot.number)
    return TimelineSheet(
      entries(columns, console), title: "\(found?.name ?? "All objects"): lifetimes",
      groupNames: columns.groups.map { ValueText.plain($0.plainText) }, showsGroups: found == nil,
      zone: console.zone, today: today(console), window: try window(console.zone, console)
    ) { object in
      // Many objects are deleted; the history has their names.
      guard let place = columns.places(of: object).first, let group = columns.group(place) else {
        return "#\(object.row)"
      }
      let name = columns.groups[group].plainText
      return keys[object].map { "\(name)/\($0)" } ?? "\(name)#\(object.row)"
    }
  }

  private func entitySheet(_ store: Store, _ console: Console) throws -> TimelineSheet {
    let snapshot = try console.snapshot(at, in: store)
    let reader = snapshot.reader
    let found = try snapshot.entity(named: entity ?? "")
    func path(_ option: String, _ text: String) throws -> PropertyPath {
      let keys = try OptionTexts(over: found, in: snapshot).sortKeys(text, of: option)
      guard keys.count == 1, let key = keys.first, key == SortKey(key.path) else {
        throw CommandFailure("\(option) is one property, not `\(text)`", status: .usage)
      }
      return key.path
    }
    var definition = TimelineDefinition(
      found.name, start: try path("--start", start ?? ""),
      end: try end.map { try path("--end", $0) },
      group: try group.map { try path("--group", $0) },
      label: try label.map { try path("--label", $0) })
    definition.openEnd = try openEnd { try path("--open", $0) }
    if label == nil, let name = found.displayName ?? found.keyAttribute?.name {
      definition.label = PropertyPath(name)
    }
    let columns = try reader.timelineColumns(definition, of: found.number)
    let names = try columns.groups.map { group in
      guard case .object(let object) = group else { return ValueText.plain(group.plainText) }
      return ValueText.plain(try reader.name(of: object).shortText)
    }
    let zone = columns.hasWrittenDates ? LocalZone.fixed(0) : console.zone
    return TimelineSheet(
      entries(columns, console),
      title: "\(found.name): \(start ?? "")\(end.map { " – \($0)" } ?? "")",
      groupNames: names, showsGroups: group != nil, zone: zone, today: today(console),
      window: try window(zone, console)
    ) { try reader.name(of: $0).text }
  }

  private func today(_ console: Console) -> CalendarDay {
    CalendarDay(of: console.now(), offset: console.zone.offset)
  }

  private func entries(_ columns: TimelineColumns, _ console: Console) -> TimelineEntries {
    TimelineEntries(
      columns,
      TimelineOrder(
        isDescending: order == .desc, hidesEnds: hideEnds, hidesOngoing: hideOngoing),
      now: console.now())
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
      throw CommandFailure(
        "--open is never, nil, flag:P or kind:P, not `\(text)`", status: .usage)
    }
  }

  private func window(_ zone: LocalZone, _ console: Console) throws -> TimelineSheet.Window {
    var window = TimelineSheet.Window()
    if let from {
      window.first = try TimelineCommand.date("--from", from, zone, console).start
    }
    if let to { window.last = try TimelineCommand.date("--to", to, zone, console).end }
    guard window.first <= window.last else {
      throw CommandFailure("--from is later than --to: there is no such time", status: .usage)
    }
    return window
  }

  /// The start and the end of a date.
  private static func date(
    _ option: String, _ text: String, _ zone: LocalZone, _ console: Console
  ) throws -> (start: Int64, end: Int64) {
    let date = TokenArgument.moment(text, zone, now: console.now(), allowsYears: true)
    guard let date, let start = date.start, let end = date.end else {
      throw CommandFailure(
        "\(option), `\(text)` is no date. Write 2019, \(TokenArgument.dateForms), or an age: 90m, "
          + "12h, 30d, 2w, 1y", status: .usage)
    }
    return (start.microseconds, end.microseconds)
  }
}
