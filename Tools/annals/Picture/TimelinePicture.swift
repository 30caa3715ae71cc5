import Annals
import AnnalsInspector
import AnnalsQuery

/// A timeline as an SVG picture: bars in lanes over an axis of dates, in bands by group.
///
/// - A range is a bar, a single date a dot, an ongoing object an arrow to the edge.
/// - Bars use as few lanes as possible, and neither bars nor labels overlap. A label is in its bar,
///   or beside it, or else in the list below, with its dates.
/// - Ranges that end before they start are listed without a bar.
/// - At most 2,000 bars are drawn and 300 lines listed; the rest is counted.
struct TimelinePicture {
  /// One object.
  struct Bar {
    var label: String
    var band: Int
    /// The start and end in microseconds, within the span shown.
    var start: Int64
    var end: Int64
    var kind: TimelineDocument.Bar.Kind
    /// Its dates, for the list and the tooltip.
    var dates: String
    var remark: String
    var isInverted: Bool
  }

  static let mostBars = 2_000
  static let mostListed = 300
  static let width = 1_200.0
  private static let longestLabel = 48
  private static let margin = 20.0
  private static let laneHeight = 18.0
  private static let barHeight = 13.0
  private static let colors = [
    "#3b76af", "#c8763c", "#4d9a5b", "#a65697", "#8a7a30", "#3d9c9c", "#b5525c", "#6f74b5",
  ]

  let title: String
  let bands: [String]
  /// The bars, sorted by start.
  let bars: [Bar]
  /// The counts below the title.
  let notes: [String]
  let now: Int64
  let zone: LocalZone
  /// The ends of the axis.
  private let first: Double
  private let last: Double
  private let axis: (from: Int64, to: Int64)

  init(
    title: String, bands: [String], bars: [Bar], notes: [String], now: Int64, zone: LocalZone,
    window: (from: Int64?, to: Int64?)
  ) {
    self.title = title
    self.bands = bands
    self.bars = bars
    self.notes = notes
    self.now = now
    self.zone = zone
    let drawn = bars.filter { !$0.isInverted }
    var from = drawn.map(\.start).min() ?? now
    var to = drawn.map { $0.kind == .ongoing ? max($0.start, now) : $0.end }.max() ?? now
    // Some room on both sides, at least a second.
    let room = max((Double(to) - Double(from)) * 0.02, 1e6)
    from = TimelinePicture.clamped(Double(from) - room)
    to = TimelinePicture.clamped(Double(to) + room)
    axis = (window.from ?? from, window.to ?? to)
    first = Double(axis.from)
    last = max(Double(axis.to), first + 1e6)
  }

  private static func clamped(_ value: Double) -> Int64 {
    value <= -9.2e18
      ? -9_200_000_000_000_000_000
      : value >= 9.2e18
        ? 9_200_000_000_000_000_000
        : Int64(value)
  }

  /// The position of a time on the axis.
  private func x(_ moment: Int64) -> Double {
    let share = (Double(moment) - first) / (last - first)
    let room = TimelinePicture.width - 2 * TimelinePicture.margin
    return TimelinePicture.margin + min(max(share, 0), 1) * room
  }

  /// A bar with its position.
  private struct Placed {
    var bar: Bar
    var left: Double
    var right: Double
    var lane = 0
  }

  /// The whole file.
  var svg: String {
    var document = SVGDocument()
    let margin = TimelinePicture.margin
    document.text(title, x: margin, y: 28, size: 16, isBold: true)
    document.text(notes.joined(separator: "  ·  "), x: margin, y: 46, fill: "#57606a")
    let top = 72.0
    var body = SVGDocument()
    var y = top + 10
    var listed: [Bar] = bars.filter(\.isInverted)
    for (band, name) in bands.enumerated() {
      let members = placed(in: band)
      guard !members.bars.isEmpty else { continue }
      if bands.count > 1 {
        body.line(
          x1: margin, y1: y, x2: TimelinePicture.width - margin, y2: y, stroke: "#d0d7de")
        body.text(name.isEmpty ? "(none)" : name, x: margin, y: y + 14, isBold: true)
        y += 20
      }
      let color = TimelinePicture.colors[band % TimelinePicture.colors.count]
      listed += draw(members.bars, lanes: members.lanes, at: y, color, into: &body)
      y += Double(members.lanes) * TimelinePicture.laneHeight + 8
    }
    drawAxis(into: &document, from: top, to: y)
    document.append(body)
    y = list(listed, at: y + 34, into: &document)
    return document.file(width: TimelinePicture.width, height: y + 10, title: title)
  }

  private func placed(in band: Int) -> (bars: [Placed], lanes: Int) {
    var members: [Placed] = []
    for bar in bars where bar.band == band && !bar.isInverted {
      let left = x(bar.start)
      switch bar.kind {
      case .single: members.append(Placed(bar: bar, left: left - 4, right: left + 5))
      case .range: members.append(Placed(bar: bar, left: left, right: max(x(bar.end), left + 3)))
      case .ongoing:
        let edge = TimelinePicture.width - TimelinePicture.margin
        members.append(Placed(bar: bar, left: min(left, edge - 12), right: edge))
      }
    }
    members.sort { $0.left < $1.left }
    var lanes = LanePacking<Double>(most: .max)
    for index in members.indices {
      members[index].lane = lanes.lane(from: members[index].left, to: members[index].right)
    }
    return (members, lanes.count)
  }

  /// Draws bars with their labels. Returns those without room for their label.
  private func draw(
    _ members: [Placed], lanes: Int, at y: Double, _ color: String,
    into body: inout SVGDocument
  ) -> [Bar] {
    var byLane = [[Placed]](repeating: [], count: lanes)
    for member in members { byLane[member.lane].append(member) }
    var homeless: [Bar] = []
    for (lane, row) in byLane.enumerated() {
      let top = y + Double(lane) * TimelinePicture.laneHeight
      let middle = top + TimelinePicture.barHeight / 2
      /// The right end of the bars and labels so far.
      var taken = 0.0
      for (index, member) in row.enumerated() {
        draw(member, top, color, into: &body)
        let next = index + 1 < row.count ? row[index + 1].left : TimelinePicture.width - 2
        let label = member.bar.label.cut(to: TimelinePicture.longestLabel)
        let width = SVGDocument.width(label)
        if member.right - member.left >= width + 10 {
          body.text(label, x: member.left + 5, y: middle + 4, fill: "#ffffff")
          taken = member.right
        } else if member.right + 4 + width <= next - 4 {
          body.text(label, x: member.right + 4, y: middle + 4)
          taken = member.right + 4 + width
        } else if member.left - 4 - width >= taken + 6 {
          body.text(label, x: member.left - 4, y: middle + 4, anchor: .end)
          taken = member.right
        } else {
          homeless.append(member.bar)
          taken = member.right
        }
      }
    }
    return homeless
  }

  private func draw(
    _ member: Placed, _ top: Double, _ color: String, into body: inout SVGDocument
  ) {
    let bar = member.bar
    let height = TimelinePicture.barHeight
    let title = "\(bar.label): \(bar.dates)" + (bar.remark.isEmpty ? "" : ", \(bar.remark)")
    switch bar.kind {
    case .single:
      body.circle(
        x: member.left + 4, y: top + height / 2, radius: 4, fill: color, title: title)
    case .range:
      body.rectangle(
        x: member.left, y: top, width: member.right - member.left - 1, height: height, fill: color,
        radius: 2, title: title)
    case .ongoing:
      let tip = min(8, (member.right - member.left) / 2)
      body.polygon(
        [
          (member.left, top), (member.right - tip, top), (member.right, top + height / 2),
          (member.right - tip, top + height), (member.left, top + height),
        ], fill: color, title: title)
    }
  }

  private func drawAxis(into document: inout SVGDocument, from top: Double, to bottom: Double) {
    let room = TimelinePicture.width - 2 * TimelinePicture.margin
    let ticks = AxisTicks(from: axis.from, to: axis.to, room: room, zone: zone).ticks
    for tick in ticks {
      let place = x(tick.moment)
      document.line(x1: place, y1: top, x2: place, y2: bottom, stroke: "#eaeef2")
      let half = SVGDocument.width(tick.label) / 2
      let inside = min(max(place, half + 4), TimelinePicture.width - half - 4)
      document.text(tick.label, x: inside, y: top - 4, fill: "#57606a", anchor: .middle)
      // In a tall picture the labels at the top are out of sight.
      guard bottom - top > 500 else { continue }
      document.text(tick.label, x: inside, y: bottom + 8, fill: "#57606a", anchor: .middle)
    }
    let margin = TimelinePicture.margin
    document.line(
      x1: margin, y1: top, x2: TimelinePicture.width - margin, y2: top, stroke: "#afb8c1")
    if Double(now) > first, Double(now) < last {
      document.line(
        x1: x(now), y1: top, x2: x(now), y2: bottom, stroke: "#cf222e", dashes: "3 3")
    }
  }

  /// Lists the objects without a label in the picture, in columns. Returns the position of the next
  /// line.
  private func list(
    _ bars: [Bar], at top: Double, into document: inout SVGDocument
  ) -> Double {
    guard !bars.isEmpty else { return top - 20 }
    let margin = TimelinePicture.margin
    document.text("Without a label above", x: margin, y: top, isBold: true)
    let sorted = bars.enumerated().sorted {
      ($0.element.start, $0.offset) < ($1.element.start, $1.offset)
    }
    let shown = sorted.prefix(TimelinePicture.mostListed).map(\.element)
    let texts = shown.map { bar in
      "\(bar.dates)  \(bar.label.cut(to: TimelinePicture.longestLabel))"
        + (bar.remark.isEmpty ? "" : " (\(bar.remark))")
    }
    // As many columns as the longest lines permit, at most four.
    let widest = texts.map { SVGDocument.width($0, size: 9.5) }.max() ?? 0
    let room = TimelinePicture.width - 2 * margin
    let columns = max(1, min(4, Int(room / (widest + 16))))
    let rows = (shown.count + columns - 1) / columns
    for (index, text) in texts.enumerated() {
      document.text(
        TimelinePicture.fitted(text, room, size: 9.5),
        x: margin + Double(index / rows) * room / Double(columns),
        y: top + 16 + Double(index % rows) * 14, size: 9.5, fill: "#424a53")
    }
    var bottom = top + 16 + Double(rows) * 14
    if bars.count > shown.count {
      document.text(
        "… and \(Numerals.grouped(bars.count - shown.count)) more", x: margin, y: bottom,
        size: 9.5, fill: "#424a53")
      bottom += 14
    }
    return bottom
  }

  /// The text, cut to a width.
  private static func fitted(_ text: String, _ width: Double, size: Double) -> String {
    guard SVGDocument.width(text, size: size) > width else { return text }
    var result = text.prefix(160)
    while !result.isEmpty, SVGDocument.width(result + "…", size: size) > width {
      result.removeLast()
    }
    return result + "…"
  }
}
