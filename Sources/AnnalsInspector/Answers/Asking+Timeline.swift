import Annals
import AnnalsModel
import AnnalsQuery
import AnnalsState

extension Asking {
  /// The timeline of an entity's objects, or of their lives: bars for the picture, and rows.
  package func timeline() throws -> TimelineDocument {
    let store = try opened()
    let snapshot = try snapshot(of: store)
    var request = TimelineRequest()
    (request.entity, request.start) = (parameters["entity"], parameters["start"])
    (request.end, request.open) = (parameters["end"], parameters["open"])
    (request.group, request.label) = (parameters["group"], parameters["label"])
    (request.from, request.to) = (parameters["from"], parameters["to"])
    request.isOfLifetimes = parameters.flag("lifetimes")
    request.order = TimelineOrder(
      isDescending: parameters["order"] == "desc", hidesEnds: parameters.flag("hideEnds"),
      hidesOngoing: parameters.flag("hideOngoing"))
    let moment = try store.moment(snapshot.number)
    let suggestions = TimelineDocument.Suggestions(
      entities: snapshot.schema.liveEntities.compactMap { entity in
        TimelineDocument.Suggestion(entity, in: snapshot)
      })
    guard request.isOfLifetimes || request.entity != nil && request.start != nil else {
      return TimelineDocument(
        moment: moment, title: "", groups: [], nowUs: store.now.microseconds, hasDays: false,
        bars: [], rows: [], lanes: [], offset: 0, total: 0, rowTotal: 0, unplaced: [],
        unplacedCount: 0, suggestions: suggestions, command: command("timeline").text)
    }
    let sheet = try request.sheet(
      of: snapshot, in: store.store, zone: store.zone, now: store.now)
    try cancellation.check()
    let page = TimelinePage(
      sheet, snapshot, offset: try offset(), limit: try limit(500, most: 2_000))
    return try page.document(
      moment, suggestions,
      command: request.command(command("timeline")).option("at", parameters["at"]).text,
      cancellation: cancellation)
  }
}

extension TimelineDocument.Suggestion {
  /// The properties of an entity that may be parts of a timeline; nil if it has no dates.
  fileprivate init?(_ entity: Entity, in snapshot: Snapshot) {
    let attributes = entity.attributes.filter { !$0.isRemoved }
    func path(_ name: String) -> String { PropertyPath([name]).description }
    var starts = attributes.filter { [.date, .day].contains($0.type) }.map(\.name)
    starts += attributes.filter { $0.type == .string }.filter { attribute in
      snapshot.looksLikeDate(attribute, of: entity)
    }.map(\.name)
    guard !starts.isEmpty else { return nil }
    self.init(
      entity: entity.name, starts: starts.map(path),
      flags: attributes.filter { $0.type == .bool }.map { path($0.name) },
      groups: attributes.filter { $0.type == .string && !$0.isUnique }.map { path($0.name) }
        + entity.relationships.filter { !$0.isRemoved && !$0.isToMany }.map { path($0.name) },
      labels: attributes.filter { $0.type == .string }.map { path($0.name) })
  }
}

extension Snapshot {
  /// Whether the texts of an attribute are dates, as the first objects have it.
  fileprivate func looksLikeDate(_ attribute: Attribute, of entity: Entity) -> Bool {
    var rows = reader.state.rows(of: entity.number)
    var (dates, others) = (0, 0)
    while dates + others < 20, let row = try? rows.next() {
      guard
        case .string(let text)? = try? reader.state.value(entity.number, row, attribute.number),
        !text.isEmpty
      else {
        others += 1
        if others > 200 { break }
        continue
      }
      if WrittenDate(text) != nil { dates += 1 } else { return false }
    }
    return dates > 0
  }
}

/// A page of a timeline.
private struct TimelinePage {
  private let showing: TimelineShowing
  private let snapshot: Snapshot
  private let offset: Int
  private let limit: Int
  private var sheet: TimelineSheet { showing.sheet }
  private var shown: [Int] { showing.shown }

  /// A label takes such a share of the width of the window.
  private static let labelShare: Int64 = 10
  private static let mostUnplaced = 100

  init(_ sheet: TimelineSheet, _ snapshot: Snapshot, offset: Int, limit: Int) {
    showing = TimelineShowing(sheet)
    self.snapshot = snapshot
    self.offset = offset
    self.limit = limit
  }

  func document(
    _ moment: ShownMoment, _ suggestions: TimelineDocument.Suggestions, command: String,
    cancellation: Cancellation
  ) throws -> TimelineDocument {
    let columns = sheet.columns
    let extent = extent
    var packings = [Int: LanePacking<Int64>]()
    // At least one microsecond, so that equal dates do not share a lane.
    let labelWidth = max(1, (extent.map { ($0.1 - $0.0) / TimelinePage.labelShare } ?? 1))
    var bars: [TimelineDocument.Bar] = []
    var places: [Int: Int] = [:]
    for index in shown.dropFirst(offset).prefix(limit) {
      var bar = try showing.bar(index, object(columns.objects[index]))
      let (reach, isBeyond) = bar.startUs.addingReportingOverflow(labelWidth)
      bar.lane = packings[bar.group ?? -1, default: LanePacking()].lane(
        from: bar.startUs, to: max(bar.endUs, isBeyond ? .max : reach))
      places[index] = bars.count
      bars.append(bar)
    }
    let rows = try rows(places, cancellation)
    let groupCount = sheet.showsGroups ? sheet.groupNames.count : 0
    var lanes = (0..<groupCount).map { packings[$0]?.count ?? 0 }
    if let rest = packings[-1] { lanes.append(rest.count) }
    return TimelineDocument(
      moment: moment, title: sheet.title, groups: sheet.showsGroups ? sheet.groupNames : [],
      startUs: extent?.0, endUs: extent?.1, nowUs: sheet.now.microseconds,
      hasDays: columns.hasWrittenDates, bars: bars, rows: rows.shown, lanes: lanes,
      offset: offset, total: shown.count, rowTotal: rows.total,
      unplaced: try columns.unplaced.prefix(TimelinePage.mostUnplaced).map {
        TimelineDocument.Unplaced(object: try object($0.object), reason: $0.reason.text)
      }, unplacedCount: columns.unplaced.count, suggestions: suggestions, command: command)
  }

  /// The extent of what is shown: the window where it has an end, otherwise that of the objects.
  private var extent: (Int64, Int64)? {
    guard let first = shown.first else { return nil }
    let columns = sheet.columns
    let last = shown.map { showing.span($0).1 }.max() ?? 0
    let least =
      shown.map { min(columns.starts[$0], showing.span($0).1) }.min() ?? columns.starts[first]
    return (
      sheet.window.first == .min ? least : sheet.window.first,
      sheet.window.last == .max ? max(last, least) : sheet.window.last
    )
  }

  /// The rows, as the command prints them, from `offset` on.
  private func rows(
    _ bars: [Int: Int], _ cancellation: Cancellation
  ) throws -> (shown: [TimelineDocument.Row], total: Int) {
    var left = TimelineRows(sheet, from: offset)
    try cancellation.check()
    var rows: [TimelineDocument.Row] = []
    while rows.count < limit, let next = try left.nextRow() {
      let index = next.index
      var row = next.row
      row.bar = bars[index]
      row.object = try object(sheet.columns.objects[index])
      rows.append(row)
    }
    return (rows, left.total)
  }

  private func object(_ reference: ObjectReference) throws -> ShownObject {
    var shown = try ShownObject(reference, in: snapshot.reader)
    // Of lives, many have ended: the sheet knows their names.
    if !shown.exists { shown.name = try sheet.name(reference) }
    return shown
  }
}
