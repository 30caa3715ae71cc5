import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsQuery

/// The rows of timelines are those that the words say, in the order that they say.
@Suite struct TimelineOrderTests {
  static let openEnds: [TimelineDefinition.OpenEnd] = [
    .never, .whenEndIsNil, .flag("isOngoing"), .kind("kind"),
  ]

  static var orders: [TimelineOrder] {
    var result: [TimelineOrder] = []
    for flags in 0..<16 {
      result.append(
        TimelineOrder(
          isDescending: flags & 1 != 0, hidesEnds: flags & 2 != 0, hidesOngoing: flags & 4 != 0,
          ongoing: flags & 8 != 0 ? .atNow : .last))
    }
    return result
  }

  @Test(arguments: 0..<12)
  func rowsAreTheNaiveOnes(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let world = try TimelineWorld.random(count: 60, using: &random)
    let now: Int64 = 10 * 3_600_000_000
    for (start, end) in [("start", "end"), ("startText", "endText"), ("any", "end")] {
      for openEnd in Self.openEnds {
        let hasCondition = random.chance(50)
        let definition = TimelineDefinition(
          "Event", start: PropertyPath(start), end: PropertyPath(end), openEnd: openEnd,
          endCondition: hasCondition ? .compare("includesEnd", .equal, .bool(true)) : nil,
          group: "title", label: "place")
        let columns = try world.columns(definition)
        let naive = NaiveTimeline(
          world, start: start, end: end, openEnd, hasCondition: hasCondition)
        #expect(columns.unplaced.map(\.object.row) == naive.unplaced)
        for (index, object) in naive.placed.enumerated() {
          let marks = columns.marks(index)
          #expect(marks.contains(.unreadableEnd) == object.isMarked, "seed \(seed)")
          #expect(marks.contains(.inverted) == (object.end.map { $0 < object.start } ?? false))
        }
        for order in Self.orders {
          let entries = TimelineEntries(columns, order, now: Timestamp(microseconds: now))
          try compare(entries, naive.rows(order, now: now), "seed \(seed), \(openEnd), \(order)")
        }
      }
    }
  }

  private func compare(
    _ entries: TimelineEntries, _ rising: [NaiveTimeline.Row], _ comment: String
  ) throws {
    let expected = entries.order.isDescending ? rising.reversed() : rising
    let found = (0..<entries.count).map { position in
      let entry = entries[position]
      return NaiveTimeline.Row(
        row: entries.columns.objects[entries.index(entry)].row, role: entry.role,
        date: entries.order.date(entry)?.microseconds)
    }
    #expect(found == expected, "\(comment)")
    for row in 1...60 {
      let positions = entries.positions(of: ObjectReference(entity: 1, row: Int64(row)))
      #expect(positions == found.indices.filter { found[$0].row == row }, "\(comment)")
    }
    // The rows of a span: its first moment counts, its last does not.
    let moments = found.indices.map { entries.order.moment(entries[$0]).microseconds }
    let last = found.count - 1
    for (one, other) in [(0, last), (last / 3, last / 2), (last / 2, last), (last / 2, last / 2)]
    where last >= 0 {
      let (start, end) = (
        min(moments[one], moments[other]), max(moments[one], moments[other])
      )
      for (start, end) in [(start, end), (start, end &+ 1), (start &+ 1, end), (end, start)] {
        let positions = entries.positions(from: start, to: end)
        let wanted = moments.indices.filter { moments[$0] >= start && moments[$0] < end }
        #expect(Array(positions) == wanted, "\(comment), from \(start) to \(end)")
      }
    }
  }

  /// Groups keep the objects apart, and a label that is a to-one shows its object's name.
  @Test func groupsAndLabels() throws {
    var random = SeededRandom(seed: 5)
    let world = try TimelineWorld.random(count: 80, using: &random)
    let columns = try world.columns(
      TimelineDefinition("Event", start: "start", group: "title", label: "place"))
    let placed = world.objects.filter { !$0["start"].isNull }
    for (index, object) in placed.enumerated() {
      #expect(columns.group(index).map { columns.groups[$0] } ?? .null == object["title"])
      var expected = ""
      if case .object(let target) = object["place"],
        let other = world.objects.first(where: { $0.row == target.row }),
        case .string(let title) = other["title"]
      {
        expected = title
      }
      #expect(columns.labels[index] == expected)
    }
    for (number, value) in columns.groups.enumerated() {
      let entries = TimelineEntries(
        columns, TimelineOrder(), now: Timestamp(microseconds: 0), group: number)
      #expect(entries.count == placed.filter { $0["title"] == value }.count)
    }
  }

  @Test func sectionsAreRunsOfBuckets() throws {
    let zone = try #require(TimeZone(identifier: "America/New_York"))
    for seed in 0..<4 as Range<UInt64> {
      var random = SeededRandom(seed: seed)
      let world = try TimelineWorld.random(count: 50, using: &random)
      let definition = TimelineDefinition(
        "Event", start: "start", end: "end", openEnd: .whenEndIsNil)
      let columns = try world.columns(definition)
      for order in Self.orders {
        let now = Timestamp(microseconds: 12 * 3_600_000_000)
        let entries = TimelineEntries(columns, order, now: now)
        for unit in [CalendarUnit.year, .month, .day, nil] {
          var buckets = unit.map { CalendarBuckets($0, timeZone: zone) }
          var expected: [(label: String, count: Int)] = []
          for position in 0..<entries.count {
            let entry = entries[position]
            let date = order.date(entry) ?? (order.ongoing == .atNow ? now : nil)
            let late = order.date(entry) == nil ? order.moment(entry) : date
            var label = order.date(entry) == nil ? "ongoing" : "dated"
            if date != nil, let late, let found = buckets?.bucket(containing: late) {
              label = found.label
            }
            if expected.last?.label == label {
              expected[expected.count - 1].count += 1
            } else {
              expected.append((label, 1))
            }
          }
          let found = entries.sections(by: unit, in: zone)
          #expect(found.map(\.label) == expected.map(\.label), "seed \(seed), \(order)")
          #expect(found.map(\.positions.count) == expected.map(\.count))
          #expect(found.first?.positions.lowerBound ?? 0 == 0)
          for (section, next) in zip(found, found.dropFirst()) {
            #expect(section.positions.upperBound == next.positions.lowerBound)
          }
        }
      }
    }
  }

  @Test func whatDoesNotSuitIsRefused() throws {
    var world = TimelineWorld()
    try world.insert(["title": .string("x")])
    for definition in [
      TimelineDefinition("Event", start: "includesEnd"),
      TimelineDefinition("Event", start: "nothing"),
      TimelineDefinition("Event", start: "start", end: "place"),
      TimelineDefinition("Event", start: "start", openEnd: .flag("title")),
      TimelineDefinition("Event", start: "start", openEnd: .kind("isOngoing")),
      TimelineDefinition("Event", start: "start", group: "nothing"),
    ] {
      #expect(throws: StateFault.self) { try world.columns(definition) }
    }
  }
}
