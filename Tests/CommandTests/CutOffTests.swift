import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// Where output is cut, counted or left out: just below each limit, at it, and just beyond.
@Suite struct CutOffTests {
  private func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map(String.init)
  }

  private func folder(_ set: (Int) -> String, _ count: Int) throws -> CommandFolder {
    let folder = try CommandFolder()
    let changes = (1...count).map {
      #"{"op":"insert","entity":"Trip","id":"t\#($0)","set":{\#(set($0))}}"#
    }
    try folder.write(
      #"{"entities":[{"name":"Trip","attributes":[{"name":"id","type":"string","unique":true},"#
        + #"{"name":"from","type":"date"},{"name":"to","type":"date"},"#
        + #"{"name":"text","type":"string"}]}]}"#, to: "s.json")
    try folder.write(#"{"changes":[\#(changes.joined(separator: ","))]}"#, to: "c.jsonl")
    let run = folder.run("import", "@t.annals", "@c.jsonl", "--schema", "@s.json")
    #expect(run.status == .done, "\(run)")
    return folder
  }

  private let timeline = [
    "timeline", "@t.annals", "--entity", "Trip", "--start", "from", "--end", "to",
  ]

  @Test(arguments: [1, 19, 20, 21, 22, 45])
  func twentyObjectsWithoutAPlaceAreNamed(_ count: Int) throws {
    let folder = try folder({ _ in "" }, count)
    let found = lines(folder.run(timeline).output)
    let more = count > 20 ? ["    … \(count - 20) more: --format jsonl lists them"] : []
    #expect(
      found == ["without a place: \(counted(count, "object"))"]
        + (1...min(count, 20)).map { "    Trip/t\($0): no start" } + more)
    #expect(lines(folder.run(timeline + ["--format", "jsonl"]).output).count == count)
  }

  /// The time since the row above is the same in both directions, and so is that of every row.
  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func gapsAndLengthsAreThoseOfTheDates(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    // Days of October 2019, before the change of the clock; midnight in Berlin.
    var trips: [(from: Int, to: Int)] = []
    for _ in 0..<8 {
      let from = 2 + random.below(20)
      trips.append((from, from + random.below(4)))
    }
    func day(_ number: Int) -> String {
      "2019-10-\(number - 1 < 10 ? "0" : "")\(number - 1)T22:00:00Z"
    }
    let folder = try folder(
      { #""from":"\#(day(trips[$0 - 1].from))","to":"\#(day(trips[$0 - 1].to))""# }, trips.count)
    let days = trips.flatMap { [$0.from, $0.to] }.sorted()
    func text(_ days: Int) -> String { days == 1 ? "1 day" : "\(days) days" }
    for (order, days) in [("asc", days), ("desc", days.reversed())] {
      let run = folder.run(timeline + ["--order", order])
      let found = lines(run.output)
      try #require(found.count == days.count, "\(run)")
      for (place, line) in found.enumerated() {
        #expect(line.hasPrefix("2019-10-\(days[place] < 10 ? "0" : "")\(days[place])  "), "\(line)")
        let gap = place == 0 ? 0 : abs(days[place] - days[place - 1])
        let told = line.firstMatch(of: #/\+(-?\d+ days?)/#)?.1
        #expect(told.map(String.init) == (gap == 0 ? nil : text(gap)), "\(run.output)")
        let name = try #require(line.firstMatch(of: #/ t(\d+) /#)?.1)
        let trip = trips[(Int(name) ?? 1) - 1]
        let length = trip.to - trip.from
        #expect(
          line.contains("  for \(length == 0 ? "0 seconds" : text(length)) "), "\(run.output)")
      }
    }
  }

  @Test(arguments: 56...64)
  func aLineOfAPictureHasSixtyCharacters(_ length: Int) throws {
    let folder = try CommandFolder()
    let name = String(repeating: "n", count: length - ": int64".count)
    try Store(
      path: folder.file("s.annals"),
      schema: Schema { Entity("E") { Attribute(name, .int64) } }
    ).close()
    let picture = folder.run("schema", "@s.annals", "--svg", "-").output
    let whole = name + ": int64"
    let shown = length > 60 ? whole.prefix(59) + "…" : whole
    #expect(picture.contains(">\(shown)</text>"), "\(picture)")
  }

  /// The widths of a table come from its first thousand rows.
  @Test(arguments: [999, 1_000, 1_001, 1_002])
  func aThousandRowsMakeTheWidths(_ long: Int) throws {
    let folder = try folder(
      { #""text":"\#($0 == long ? "much longer than all" : "short")""# }, 1_003)
    let found = lines(
      folder.run("query", "@t.annals", "Trip", "--properties", "text", "--format", "table").output)
    try #require(found.count == 1_004)
    #expect(found[long] == (long <= 1_000 ? "much longer than all" : "much…"))
  }

  /// So do those of a timeline, and each row is printed once.
  @Test(arguments: [999, 1_000, 1_001, 2_001])
  func rowsOfALongTimeline(_ count: Int) throws {
    func time(_ number: Int) -> String {
      let (hour, minute) = (number / 60 % 20, number % 60)
      return "2019-0\(1 + number / 1_200)-01T\(hour < 10 ? "0" : "")\(hour):"
        + "\(minute < 10 ? "0" : "")\(minute):00Z"
    }
    let folder = try folder(
      { #""from":"\#(time($0))","text":"row \#($0)""# }, count)
    let rows = ["timeline", "@t.annals", "--entity", "Trip", "--start", "from", "--label", "text"]
    for (order, numbers) in [("asc", Array(1...count)), ("desc", (1...count).reversed())] {
      let found = lines(folder.run(rows + ["--order", order]).output)
      let shown = found.compactMap { $0.firstMatch(of: #/ row (\d+) /#).flatMap { Int($0.1) } }
      // Only whether they are equal: how two long lists differ takes minutes.
      let isWhole = shown == numbers
      #expect(isWhole, "\(shown.count) of \(count), \(order)")
    }
  }

  /// More than a tenth of the changes, or as many transactions as are left, are worth a rewrite of
  /// a file of a megabyte.
  @Test func aTenthIsWorthARewrite() throws {
    let folder = try CommandFolder()
    let store = try Store(
      path: folder.file("m.annals"),
      schema: Schema { Entity("Note") { Attribute("data", .data) } }, environment: folder.store)
    for number in store.token.number + 1...40 {
      let bytes = [UInt8](repeating: UInt8(number), count: 40_000)
      try store.write { _ = try $0.insert("Note", ["data": .data(bytes)]) }
    }
    try store.close()
    for dropped in [1, 3, 4, 5, 6, 39] {
      folder.run("retain", "@m.annals", "--transactions", "\(40 - dropped)")
      for all in [[], ["--all"]] {
        let plan = folder.run(["maintain", "@m.annals", "--dry-run"] + all).output
        // The first transaction has the schema alone.
        let isWorthIt = Double(dropped - 1) / 39 >= 0.1 || dropped >= 40 - dropped || all != []
        let what = isWorthIt ? "drops " : "drops nothing yet: too little, "
        #expect(
          plan.hasPrefix("\(what)\(counted(dropped, "transaction")) before \(dropped + 1), with "),
          "\(plan)")
      }
    }
  }
}
