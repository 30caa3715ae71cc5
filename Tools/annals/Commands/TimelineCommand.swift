import Annals
import AnnalsInspector
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
    let snapshot = try console.snapshot(at, in: store, withOnly: lifetimes ? [] : nil)
    let sheet = try request.sheet(
      of: snapshot, in: store, zone: console.zone, now: console.now())
    if picture.svg != nil {
      let document = try document(sheet, at: snapshot.number, of: store)
      let drawn = TimelinePicture(document, zone: sheet.zone, window: sheet.window)
      return try picture.write(drawn.svg, drawn.notes, console)
    }
    switch format ?? .text {
    case .text: try TimelineText(sheet, console).write()
    case .jsonl: try TimelineLines(sheet, console).write()
    }
    return .done
  }

  /// What is drawn.
  func document(
    _ sheet: TimelineSheet, at number: Int64, of store: Store
  ) throws -> TimelineDocument {
    try TimelineShowing(sheet).document(
      bars: TimelinePicture.mostBars,
      at: ShownMoment(number: number, head: store.token.number, base: store.base.number),
      command: request.command(CommandWords("timeline", file)).option("at", at))
  }

  var request: TimelineRequest {
    var request = TimelineRequest()
    request.prefix = "--"
    (request.entity, request.start, request.end) = (entity, start, end)
    (request.open, request.group, request.label) = (open, group, label)
    (request.from, request.to, request.isOfLifetimes) = (from, to, lifetimes)
    request.order = TimelineOrder(
      isDescending: order == .desc, hidesEnds: hideEnds, hidesOngoing: hideOngoing)
    return request
  }
}
