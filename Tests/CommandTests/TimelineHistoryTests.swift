import Annals
import AnnalsExchange
import Foundation
import Testing

@testable import AnnalsCommand

/// Timelines of real dates, beside rows, overlaps and buckets that are computed from the lines of
/// the histories by other means.
@Suite(.serialized) struct TimelineHistoryTests {
  /// An object with a start, as the lines say.
  private struct Life {
    var id: String
    /// In the order of their making.
    var order: Int
    /// Days since 1970.
    var start: Int
    var end: Int?
    var isOngoing: Bool
  }

  private static let formatter: DateFormatter = {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = .gmt
    formatter.isLenient = false
    formatter.dateFormat = "yyyy-MM-dd"
    return formatter
  }()

  /// The day that a date stands for, by another way than the engine's.
  private static func day(_ text: String?) -> Int? {
    guard let text, text.wholeMatch(of: /\d{4}(-\d\d(-\d\d)?)?/) != nil else { return nil }
    let whole = text + "-01-01".suffix(10 - text.count)
    guard let date = formatter.date(from: whole) else { return nil }
    return Int(date.timeIntervalSince1970) / 86_400
  }

  private static func text(_ day: Int) -> String {
    formatter.string(from: Date(timeIntervalSince1970: Double(day) * 86_400))
  }

  /// Objects by what the lines say up to a transaction.
  private struct Replay {
    var objects: [String: (order: Int, values: [String: Any])] = [:]
    var count = 0

    mutating func apply(_ line: [String: Any], _ entity: String) {
      for change in line["changes"] as? [[String: Any]] ?? [] {
        guard change["entity"] as? String == entity, let id = change["id"] as? String else {
          continue
        }
        switch change["op"] as? String {
        case "insert":
          count += 1
          objects[id] = (count, [:])
        case "delete": objects[id] = nil
        default: break
        }
        for (name, value) in change["set"] as? [String: Any] ?? [:] {
          objects[id]?.values[name] = value is NSNull ? nil : value
        }
      }
    }

    func lives(_ start: String, _ end: String, isOpen: Bool) -> (lives: [Life], unplaced: Int) {
      var lives: [Life] = []
      var unplaced = 0
      for (id, object) in objects {
        let written = object.values[end] as? String
        guard let first = TimelineHistoryTests.day(object.values[start] as? String) else {
          unplaced += 1
          continue
        }
        lives.append(
          Life(
            id: id, order: object.order, start: first, end: TimelineHistoryTests.day(written),
            isOngoing: isOpen && written == nil))
      }
      return (lives, unplaced)
    }
  }

  /// The rows as texts: date, role, id.
  private func rows(_ lives: [Life]) -> [String] {
    var rows: [(key: [Int], text: String)] = []
    for life in lives {
      func add(_ day: Int?, _ rank: Int, _ second: Int, _ role: String) {
        rows.append(
          (
            [day == nil ? 1 : 0, day ?? 0, rank, life.order, second],
            "\(day.map(Self.text) ?? "-") \(role) \(life.id)"
          ))
      }
      if life.isOngoing {
        add(life.start, 2, 0, "start")
        add(nil, 0, 0, "ongoing")
      } else if let end = life.end {
        add(life.start, end == life.start ? 1 : 2, 0, "start")
        add(end, end == life.start ? 1 : 0, 1, "end")
      } else {
        add(life.start, 1, 0, "single")
      }
    }
    return rows.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.text)
  }

  private func lines(_ output: String) throws -> (rows: [String], unplaced: Int) {
    var rows: [String] = []
    var unplaced = 0
    for line in output.split(separator: "\n") {
      let row = try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let id = (row["object"] as? String ?? "").drop { $0 != "/" }.dropFirst()
      guard let role = row["role"] as? String else {
        unplaced += 1
        continue
      }
      rows.append("\((row["date"] as? String)?.prefix(10) ?? "-") \(role) \(id)")
    }
    return (rows, unplaced)
  }

  private func unpacked(_ path: String) throws -> [[String: Any]] {
    let source = UnpackingSource(FileSource(try #require(FileHandle(forReadingAtPath: path))))
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = try buffer.withUnsafeMutableBytes { try source.read(into: $0) }
      if count == 0 { break }
      data.append(contentsOf: buffer[..<count])
    }
    return try data.split(separator: 0x0A).compactMap {
      try JSONSerialization.jsonObject(with: $0) as? [String: Any]
    }
  }

  /// Compares overlaps and weights by year with sums over all.
  private func compareIntervals(_ spans: TimelineIntervals, _ lives: [Life], now: Int) throws {
    func moment(_ day: Int) -> Date { Date(timeIntervalSince1970: Double(day) * 86_400) }
    let sound = lives.filter { ($0.end ?? $0.start) >= $0.start }
    #expect(spans.count == sound.count)
    // A day of no length counts as its first microsecond.
    func overlaps(_ life: Life, _ from: Int, _ to: Int) -> Bool {
      if life.isOngoing { return life.start < to }
      let end = life.end ?? life.start
      return life.start < to && (end > from || end == life.start && end >= from)
    }
    for year in stride(from: 1996, through: 2030, by: 2) {
      let from = try #require(Self.day("\(year)"))
      let to = try #require(Self.day("\(year)-03-15"))
      let expected = sound.filter { overlaps($0, from, to) }
      let window = moment(from)..<moment(to)
      #expect(spans.count(overlapping: window) == expected.count, "\(year)")
      #expect(
        spans.overlapping(window).map { Int($0.start.timeIntervalSince1970) / 86_400 }
          == expected.map(\.start).sorted())
      #expect(
        spans.underWay(at: moment(from)).count
          == sound.filter {
            overlaps($0, from, from + 1)
              && $0.start <= from
          }.count, "\(year)")
    }
    let first = try #require(Self.day("1990"))
    let last = try #require(Self.day("2040"))
    for bucket in try spans.counts(by: .year, in: moment(first)..<moment(last)) {
      let year = try #require(Int(bucket.bucket.label))
      let from = try #require(Self.day("\(year)"))
      let to = try #require(Self.day("\(year + 1)"))
      var expected = 0.0
      for life in sound {
        let end = life.isOngoing ? max(now, life.start) : life.end ?? life.start
        if end == life.start {
          expected += from <= end && end < to ? 1 : 0
        } else {
          expected +=
            Double(max(0, min(end, to) - max(life.start, from))) / Double(end - life.start)
        }
      }
      #expect(abs(bucket.count - expected) < 1e-6, "\(year)")
    }
  }

  @Test(.realHistories) func theGraveyard() throws {
    let histories = try #require(HistoryTests.folder)
    let path = "\(histories)/graveyard-records.jsonl.gz"
    let folder = try CommandFolder()
    // A whole day, so that what goes on has lasted for days.
    folder.now = Timestamp(microseconds: 20_000 * 86_400_000_000)
    #expect(folder.run("import", "@g.annals", path).status == .done)
    let store = try Store(
      path: folder.file("g.annals"), options: .readOnly, environment: folder.store)
    var replay = Replay()
    for line in try unpacked(path) {
      replay.apply(line, "Product")
      let number = line["n"] as? Int ?? 0
      guard number % 97 == 1 || number == 388 else { continue }
      for isOpen in [false, true] {
        let (lives, unplaced) = replay.lives("dateOpen", "dateClose", isOpen: isOpen)
        let arguments = [
          "timeline", "@g.annals", "--entity", "Product", "--start", "dateOpen", "--end",
          "dateClose", "--format", "jsonl", "--open", isOpen ? "nil" : "never", "--at",
          "\(number)",
        ]
        let found = try lines(folder.run(arguments).output)
        #expect(found.rows == rows(lives), "transaction \(number)")
        #expect(found.unplaced == unplaced)
        let reverse = try lines(folder.run(arguments + ["--order", "desc"]).output)
        #expect(reverse.rows == found.rows.reversed())
        let timeline = try store.snapshot(at: number).timeline(
          TimelineDefinition(
            "Product", start: "dateOpen", end: "dateClose",
            openEnd: isOpen ? .whenEndIsNil : .never), now: Date(folder.now))
        try compareIntervals(timeline.intervals(), lives, now: 20_000)
      }
    }
  }

  /// The terms of the last state, in one transaction.
  @Test(.realHistories) func theCongress() throws {
    let histories = try #require(HistoryTests.folder)
    var changes: [[String: Any]] = []
    for object in try unpacked("\(histories)/congress-records.oracle/final.dump.jsonl.gz")
    where object["entity"] as? String == "Term" {
      let names = ["start", "end", "holder", "type"]
      changes.append([
        "op": "insert", "entity": "Term", "id": object["id"] ?? "",
        "set": object.filter { names.contains($0.key) },
      ])
    }
    #expect(changes.count > 2_000)
    let line: [String: Any] = ["changes": changes]
    let folder = try CommandFolder()
    folder.now = Timestamp(microseconds: 20_000 * 86_400_000_000)
    try folder.write(
      String(decoding: JSONSerialization.data(withJSONObject: line), as: UTF8.self), to: "c")
    #expect(folder.run("import", "@c.annals", "@c").status == .done)
    var replay = Replay()
    replay.apply(line, "Term")
    let (lives, unplaced) = replay.lives("start", "end", isOpen: true)
    let found = try lines(
      folder.run(
        "timeline", "@c.annals", "--entity", "Term", "--start", "start", "--end", "end", "--open",
        "nil", "--format", "jsonl"
      ).output)
    #expect(found.rows == rows(lives))
    #expect(found.unplaced == unplaced)
    let store = try Store(
      path: folder.file("c.annals"), options: .readOnly, environment: folder.store)
    let timeline = try store.snapshot().timeline(
      TimelineDefinition(
        "Term", start: "start", end: "end", openEnd: .whenEndIsNil, group: "holder", label: "id"),
      now: Date(folder.now))
    let spans = timeline.intervals()
    try compareIntervals(spans, lives, now: 20_000)
    // Terms of one holder: where one is not over when the next begins, and the time between.
    var holders: [String: [Life]] = [:]
    for life in lives { holders[String(life.id.prefix { $0 != "/" }), default: []].append(life) }
    for (holder, terms) in holders {
      let sorted = terms.sorted { ($0.start, $0.order) < ($1.start, $1.order) }
      var pairs: [String] = []
      for (index, a) in sorted.enumerated() {
        for b in sorted[(index + 1)...] where a.isOngoing || b.start < a.end ?? a.start {
          pairs.append("\(a.id) \(b.id)")
        }
      }
      let overlaps = spans.overlaps(inGroup: .string(holder))
      #expect(overlaps.map { "\($0.first.label) \($0.second.label)" } == pairs, "\(holder)")
      var gaps: [String] = []
      var reach = sorted[0].isOngoing ? Int.max : sorted[0].end ?? sorted[0].start
      for term in sorted.dropFirst() {
        if term.start > reach { gaps.append("\(Self.text(reach)) \(Self.text(term.start))") }
        reach = max(reach, term.isOngoing ? .max : term.end ?? term.start)
      }
      #expect(
        spans.gaps(inGroup: .string(holder)).map {
          "\(Self.formatter.string(from: $0.lowerBound)) "
            + Self.formatter.string(from: $0.upperBound)
        } == gaps, "\(holder)")
    }
  }
}
