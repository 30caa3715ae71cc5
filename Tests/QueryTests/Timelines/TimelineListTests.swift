import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsQuery

/// A timeline that moves on with its state is the one that is made anew, and each difference makes
/// the new rows of the old ones.
@Suite struct TimelineListTests {
  /// A row as somebody sees it.
  private struct Row: Hashable {
    var row: Int64
    var role: TimelineRole
    var date: Timestamp?
    var kind: TimelineKind
    var marks: TimelineMarks
    var start: Int64
    var end: Int64
    var content: String
  }

  private func rows(_ list: QueryList, _ world: TimelineWorld) throws -> [Row] {
    let columns = try list.columns(at: 0..<list.count)
    let order = try #require(list.query.timeline?.order)
    return (0..<list.count).map { position in
      let found = list.entry(at: position)
      #expect(columns.objects[position].row == found.row)
      let object = world.objects.first { $0.row == found.row }
      let content = object.map { "\($0.values.sorted { $0.key < $1.key })" } ?? "gone"
      return Row(
        row: found.row, role: found.role, date: order.date(found), kind: columns.kind(position),
        marks: columns.marks(position), start: columns.starts[position],
        end: columns.ends[position], content: content)
    }
  }

  private func compare(_ list: QueryList, _ world: TimelineWorld, _ comment: String) throws {
    let timeline = try #require(list.query.timeline)
    let columns = try world.columns(timeline.definition)
    let order = timeline.order
    let entries = TimelineEntries(columns, order, now: list.now)
    #expect(list.count == entries.count, "\(comment)")
    for position in 0..<min(list.count, entries.count) {
      let entry = entries[position]
      let found = list.entry(at: position)
      #expect(
        found.row == columns.objects[entries.index(entry)].row && found.role == entry.role
          && order.date(found) == order.date(entry), "\(comment), \(position)")
    }
    #expect(list.unplaced.map(\.row) == columns.unplaced.map(\.object.row), "\(comment)")
    #expect(list.unplaced.map(\.reason) == columns.unplaced.map(\.reason), "\(comment)")
    for unit in [CalendarUnit.month, nil] {
      #expect(list.sections(by: unit) == entries.sections(by: unit, in: timeline.zone))
    }
    for object in world.objects.prefix(10) {
      #expect(
        try list.positions(of: object.row)
          == entries.positions(of: ObjectReference(entity: 1, row: object.row)), "\(comment)")
    }
  }

  /// The rows by the sections that the list has.
  private func divided(_ list: QueryList, _ rows: [Row]) -> [[Row]] {
    (0..<list.sectionCount).map { Array(rows[list.range(ofSection: $0)]) }
  }

  private static func list(
    _ definition: TimelineDefinition, _ order: TimelineOrder, in state: State,
    now: Timestamp = Timestamp(microseconds: 0), sections unit: CalendarUnit? = nil,
    zone: TimeZone = .gmt
  ) throws -> QueryList {
    try QueryList(
      ListQuery(TimelineQuery(definition, of: 1, order, in: zone), sections: unit), in: state,
      sources(now))
  }

  private static func sources(_ now: Timestamp) -> ListSources {
    ListSources(TimelineWorld.sources, { _ in [] }, clock: { now })
  }

  static func definition(_ random: inout SeededRandom) -> TimelineDefinition {
    let isText = random.chance(30)
    return TimelineDefinition(
      "Event", start: isText ? "startText" : random.chance(20) ? ["place", "start"] : "start",
      end: isText ? "endText" : "end",
      openEnd: TimelineOrderTests.openEnds[random.below(4)],
      endCondition: random.chance(30) ? .compare("includesEnd", .equal, .bool(true)) : nil,
      group: "title",
      condition: random.chance(30) ? .compare("title", .notEqual, .string("t1")) : nil)
  }

  /// Changes some objects.
  private static func change(
    _ world: inout TimelineWorld, using random: inout SeededRandom
  ) throws {
    let source = try TimelineWorld.random(count: 8, using: &random)
    for index in 0..<random.below(4) where !world.objects.isEmpty {
      switch random.below(4) {
      case 0: try world.delete(random.below(world.objects.count))
      case 1: try world.insert(source.objects[index].values)
      default:
        try world.replace(random.below(world.objects.count), by: source.objects[index].values)
      }
    }
  }

  /// What moved is the same row elsewhere, and nothing is told that did not happen.
  private func check(_ diff: ListDiff, _ old: [Row], _ new: [Row], _ comment: String) {
    for step in diff.moves + diff.updates {
      #expect(old[step.from.position].row == new[step.to.position].row, "\(comment)")
      #expect(old[step.from.position].role == new[step.to.position].role, "\(comment)")
    }
    for step in diff.updates {
      let isChanged = old[step.from.position] != new[step.to.position]
      #expect(isChanged || !step.changed.isEmpty, "\(comment)")
    }
    let kept = Set(new.map { "\($0.row) \($0.role)" })
    for place in diff.deletes {
      #expect(!kept.contains("\(old[place.position].row) \(old[place.position].role)"))
    }
  }

  @Test(arguments: 0..<40)
  func stepsAreThoseOfRebuilding(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var world = try TimelineWorld.random(count: 40, using: &random)
    var now = Timestamp(microseconds: Int64(random.below(20)) * 3_600_000_000)
    let orders = TimelineOrderTests.orders
    let zone = try #require(TimeZone(identifier: "America/New_York"))
    let unit: CalendarUnit = seed.isMultiple(of: 2) ? .day : .month
    var list = try Self.list(
      Self.definition(&random), orders[random.below(16)], in: world.state, now: now,
      sections: unit, zone: zone)
    var shown: [Row] = []
    var divided: [[Row]] = []
    let first = list.initialDiff()
    var new = try rows(list, world)
    first.apply(to: &shown) { new[$0.position] }
    first.apply(to: &divided) { new[$0.position] }
    #expect(shown == new)
    #expect(divided == self.divided(list, new))
    for step in 0..<12 {
      let comment = "seed \(seed), step \(step), \(list.query)"
      let before = world.state
      if random.chance(85) { try Self.change(&world, using: &random) }
      if random.chance(50) {
        now = Timestamp(microseconds: Int64(random.below(20)) * 3_600_000_000)
      }
      let changes = try ListChanges.all(of: [1], from: before, to: world.state)
      let diff: ListDiff
      if random.chance(75) {
        diff = try list.advance(to: world.state, changes, Self.sources(now))
      } else {
        let definition = try #require(list.query.timeline?.definition)
        var other = try Self.list(
          random.chance(50) ? definition : Self.definition(&random),
          orders[random.below(16)], in: world.state, now: now, sections: unit, zone: zone)
        diff = try other.diff(fromOther: list, changes)
        list = other
      }
      try compare(list, world, comment)
      let old = shown
      new = try rows(list, world)
      diff.apply(to: &shown) { new[$0.position] }
      #expect(Bool(shown == new), "\(comment)")
      diff.apply(to: &divided) { new[$0.position] }
      let ranges = (0..<list.sectionCount).map { list.range(ofSection: $0) }
      #expect(Bool(divided == self.divided(list, new)), "\(comment)")
      #expect(ranges == list.sections(by: unit).map(\.positions), "\(comment)")
      check(diff, old, new, comment)
    }
  }

  /// Of two neighbours that change places one moves.
  @Test func neighboursThatChangePlaces() throws {
    func values(_ hour: Int64, _ title: String) -> [String: Value] {
      ["start": .date(Timestamp(microseconds: hour * 3_600_000_000)), "title": .string(title)]
    }
    var world = TimelineWorld()
    for hour in 1...4 { try world.insert(values(Int64(hour), "\(hour)")) }
    let definition = TimelineDefinition("Event", start: "start")
    var list = try Self.list(definition, TimelineOrder(), in: world.state)
    var shown = try rows(list, world)
    let before = world.state
    try world.replace(1, by: values(3, "2"))
    try world.replace(2, by: values(2, "3"))
    let diff = try list.advance(
      to: world.state, try .all(of: [1], from: before, to: world.state),
      Self.sources(Timestamp(microseconds: 0)))
    #expect(diff.moves.count == 1 && diff.updates.count == 1)
    let new = try rows(list, world)
    diff.apply(to: &shown) { new[$0.position] }
    #expect(shown == new && new.map(\.row) == [1, 3, 2, 4])
  }

  /// Turning the order round moves all rows but one; hiding the ends moves none.
  @Test func changesOfTheOrder() throws {
    var random = SeededRandom(seed: 9)
    let world = try TimelineWorld.random(count: 30, using: &random)
    let definition = TimelineDefinition("Event", start: "start", end: "end")
    func diff(_ order: TimelineOrder, from old: QueryList) throws -> ListDiff {
      var list = try Self.list(definition, order, in: world.state)
      return try list.diff(fromOther: old, ListChanges())
    }
    let all = try Self.list(definition, TimelineOrder(), in: world.state)
    let turned = try diff(TimelineOrder(isDescending: true), from: all)
    #expect(turned.moves.count == all.count - 1)
    let hidden = try diff(TimelineOrder(hidesEnds: true), from: all)
    #expect(hidden.moves.isEmpty && hidden.inserts.isEmpty && !hidden.deletes.isEmpty)
  }

  @Test func anEntityThatIsEmptyFirst() throws {
    var world = TimelineWorld()
    let now = Timestamp(microseconds: 0)
    var list = try Self.list(
      TimelineDefinition("Event", start: "start"), TimelineOrder(), in: world.state)
    #expect(list.initialDiff().inserts.isEmpty && list.initialDiff().insertedSections == [0])
    for _ in 0..<2 {
      let empty = world.state
      try world.insert(["start": .date(Timestamp(microseconds: 5))])
      let came = try list.advance(
        to: world.state, try .all(of: [1], from: empty, to: world.state), Self.sources(now))
      #expect(came.inserts.count == 1 && list.count == 1)
      let full = world.state
      try world.delete(0)
      let gone = try list.advance(
        to: world.state, try .all(of: [1], from: full, to: world.state), Self.sources(now))
      #expect(gone.deletes.count == 1 && list.count == 0)
    }
  }
}
