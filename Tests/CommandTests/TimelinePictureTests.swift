import Annals
import AnnalsInspector
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// Pictures are clean: nothing overlaps, nothing is lost without being counted, and no text or date
/// breaks them.
@Suite struct TimelinePictureTests {
  /// A box of the picture, with its text if it is one.
  private struct Box {
    var left: Double
    var right: Double
    var top: Double
    var text: String?
  }

  private static let day: Int64 = 86_400_000_000

  private func picture(
    _ bars: [TimelinePicture.Bar], bands: Int = 1, notes: [String] = [], zone: LocalZone = berlin
  ) -> TimelinePicture {
    TimelinePicture(
      title: "Trips", bands: (0..<bands).map { "band \($0)" },
      bars: bars.sorted { $0.start < $1.start }, notes: notes, now: 18_000 * Self.day, zone: zone,
      window: (nil, nil))
  }

  private func bar(
    _ label: String, _ start: Int64, _ end: Int64, _ kind: TimelineDocument.Bar.Kind, band: Int = 0
  ) -> TimelinePicture.Bar {
    TimelinePicture.Bar(
      label: label, band: band, start: start, end: end, kind: kind, dates: "dates", remark: "",
      isInverted: end < start)
  }

  private func bars(_ count: Int, bands: Int, _ dice: inout SeededRandom) -> [TimelinePicture.Bar] {
    (0..<count).map { index in
      let start = Int64(17_000 + dice.below(900)) * Self.day
      let length = Int64(dice.below(120)) * Self.day
      let kind = TimelineDocument.Bar.Kind.allCases[dice.below(3)]
      let name = String(repeating: "name ", count: 1 + dice.below(4)) + "\(index)"
      return bar(
        name, start, kind == .single ? start : start + length, kind, band: dice.below(bands))
    }
  }

  /// The boxes of bars, and those of texts as the picture counts them.
  private func boxes(_ svg: String) throws -> (bars: [Box], texts: [Box]) {
    func numbers(_ text: Substring) -> [Double] {
      text.split { $0 == "," || $0 == " " }.compactMap { Double($0) }
    }
    var bars: [Box] = []
    var texts: [Box] = []
    for line in svg.split(separator: "\n") {
      func value(_ name: String) -> Double {
        guard let start = line.range(of: " \(name)=\"") else { return 0 }
        return Double(line[start.upperBound...].prefix { $0 != "\"" }) ?? 0
      }
      if line.hasPrefix("<rect x=") {
        bars.append(Box(left: value("x"), right: value("x") + value("width"), top: value("y")))
      } else if line.hasPrefix("<circle") {
        bars.append(Box(left: value("cx") - 4, right: value("cx") + 4, top: value("cy") - 6.5))
      } else if line.hasPrefix("<polygon points=\"") {
        let points = numbers(line.dropFirst("<polygon points=\"".count).prefix { $0 != "\"" })
        let xs = stride(from: 0, to: points.count, by: 2).map { points[$0] }
        bars.append(Box(left: xs.min() ?? 0, right: xs.max() ?? 0, top: points[1]))
      } else if line.hasPrefix("<text"), let open = line.firstIndex(of: ">") {
        let text = String(line[line.index(after: open)...].prefix { $0 != "<" })
        let size = value("font-size")
        let width = SVGDocument.width(text, size: size)
        var left = value("x")
        if line.contains("\"end\"") { left -= width }
        if line.contains("\"middle\"") { left -= width / 2 }
        texts.append(
          Box(left: left, right: left + width, top: value("y") - size, text: text))
      }
    }
    return (bars, texts)
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func nothingOverlaps(seed: UInt64) throws {
    var dice = SeededRandom(seed: seed)
    let all = bars(60, bands: 3, &dice)
    let svg = picture(all, bands: 3).svg
    let (bars, texts) = try boxes(svg)
    #expect(bars.count == all.count)
    for (index, a) in bars.enumerated() {
      #expect(a.left >= 0 && a.right <= TimelinePicture.width)
      for b in bars[(index + 1)...] where abs(a.top - b.top) < 1 {
        #expect(a.right <= b.left + 0.2 || b.right <= a.left + 0.2, "seed \(seed)")
      }
    }
    for (index, a) in texts.enumerated() {
      #expect(a.left >= 0 && a.right <= TimelinePicture.width, "\(a)")
      for b in texts[(index + 1)...] where abs(a.top - b.top) < 9 {
        #expect(a.right <= b.left || b.right <= a.left, "seed \(seed): \(a), \(b)")
      }
      // A label is within its bar, or touches none.
      for b in bars where abs(a.top - b.top) < 9 {
        let isInside = a.left >= b.left && a.right <= b.right
        #expect(isInside || a.right <= b.left || b.right <= a.left, "seed \(seed): \(a), \(b)")
      }
    }
    for bar in all { #expect(texts.contains { $0.text?.contains(bar.label) == true }) }
  }

  /// As many lanes as there are bars at one place, no more.
  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func lanesAreAsFewAsCanBe(seed: UInt64) {
    var dice = SeededRandom(seed: seed)
    let bars = (0..<80).map { _ in
      let low = Double(dice.below(100))
      return low...low + Double(1 + dice.below(30))
    }.sorted { $0.lowerBound < $1.lowerBound }
    var packing = LanePacking<Double>(most: .max)
    let lanes = bars.map { packing.lane(from: $0.lowerBound, to: $0.upperBound) }
    let deepest = (0..<130).map { place in
      bars.filter { $0.lowerBound <= Double(place) && Double(place) < $0.upperBound }.count
    }.max()
    #expect(packing.count == deepest)
    for (index, bar) in bars.enumerated() {
      for (other, later) in bars.enumerated().dropFirst(index + 1)
      where lanes[index] == lanes[other] {
        #expect(bar.upperBound <= later.lowerBound)
      }
    }
  }

  @Test func hostileTextsAreEscaped() throws {
    let texts = [
      "</text><script>alert(1)</script>", "a & b \"c\" 'd'", "\u{0}\u{1B}[31m\u{FFFE}\u{202E}",
      String(repeating: "\u{301}", count: 500), String(repeating: "W", count: 5_000), "\n]]>", "",
    ]
    let svg = picture(
      texts.enumerated().map { bar($1, Int64($0) * Self.day, Int64($0) * Self.day, .single) },
      notes: ["<&"]
    ).svg
    let allowed = ["svg", "title", "rect", "text", "line", "circle"]
    for part in svg.split(separator: "<").dropFirst() {
      let name = part.drop { $0 == "/" }.prefix { $0.isLetter }
      #expect(allowed.contains(String(name)), "\(part)")
    }
    #expect(!svg.replacing(/&(amp|lt|gt|quot);/, with: "").contains("&"))
    for scalar in svg.unicodeScalars {
      #expect(scalar == "\n" || scalar.value >= 0x20 && scalar.value != 0xFFFE, "\(scalar.value)")
    }
    #expect(!svg.unicodeScalars.contains("\u{202E}"))
  }

  @Test func extremeDatesHaveAPicture() throws {
    let extremes: [(Int64, Int64, TimelineDocument.Bar.Kind)] = [
      (.min, .max, .range), (.min, .min, .single), (.max, .max, .single), (.max, .max, .ongoing),
      (0, 1, .range), (.max - 1, .max, .range), (.min, 0, .ongoing),
    ]
    for count in 0...extremes.count {
      let all = extremes.prefix(count).enumerated().map {
        bar("x\($0)", $1.0, $1.1, $1.2)
      }
      let svg = picture(Array(all)).svg
      #expect(svg.hasSuffix("</svg>\n") && !svg.contains("nan") && !svg.contains("inf"))
    }
    for moment in [Int64.min, .max, 0] {
      #expect(picture([bar("one", moment, moment, .single)]).svg.contains("one"))
    }
  }

  static let axes: [(String, String, [String])] = [
    ("1990-01-01T00:00:00Z", "2026-01-01T00:00:00Z", ["1992", "1994", "1996"]),
    ("2019-01-01T00:00:00Z", "2019-11-01T00:00:00Z", ["2019-02", "2019-03", "2019-04"]),
    ("2019-10-01T00:00:00Z", "2019-10-09T00:00:00Z", ["2019-10-02", "2019-10-03"]),
    ("2019-10-01T00:00:00Z", "2019-10-01T10:00:00Z", ["10-01 02:00", "10-01 03:00"]),
    ("2019-10-01T00:00:00Z", "2019-10-01T00:00:05Z", ["10-01 02:00:00", "10-01 02:00:01"]),
  ]

  /// Ticks are round dates of the zone.
  @Test(arguments: axes)
  func ticksAreRound(from: String, to: String, labels: [String]) throws {
    let (a, b) = (try #require(Timestamp(from)), try #require(Timestamp(to)))
    let axis = AxisTicks(from: a.microseconds, to: b.microseconds, room: 1_000, zone: berlin)
    #expect(axis.ticks.map(\.label).starts(with: labels), "\(axis.ticks.map(\.label))")
    #expect(axis.ticks.count <= 24)
    for tick in axis.ticks { #expect((a.microseconds...b.microseconds).contains(tick.moment)) }
  }

  @Test func whatIsTooMuchIsCounted() throws {
    let folder = try CommandFolder()
    let changes = (0..<2_300).map { index in
      #"{"op":"insert","entity":"E","id":"a long name \#(index)","#
        + #""set":{"d":"2019-10-\#(10 + index % 20)"}}"#
    }
    try folder.write(#"{"changes":[\#(changes.joined(separator: ","))]}"#, to: "c")
    folder.run("import", "@e.annals", "@c")
    let svg = folder.run(
      "timeline", "@e.annals", "--entity", "E", "--start", "d", "--svg", "-"
    ).output
    let (bars, _) = try boxes(svg)
    #expect(bars.count == TimelinePicture.mostBars)
    #expect(svg.contains("2,300 objects  ·  300 of them, the latest, not drawn"))
    #expect(svg.contains("more</text>"), "the list is cut, and says so")
    #expect(svg.utf8.count < 600_000)
  }
}
