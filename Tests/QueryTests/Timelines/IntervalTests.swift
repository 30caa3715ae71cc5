import AnnalsModel
import AnnalsTestSupport
import Testing

@testable import AnnalsQuery

/// Questions of intervals are answered as by looking at all of them.
@Suite struct IntervalTests {
  private func timeline(
    _ count: Int, _ openEnd: TimelineDefinition.OpenEnd = .whenEndIsNil,
    using random: inout SeededRandom
  ) throws -> (TimelineColumns, NaiveTimeline) {
    let world = try TimelineWorld.random(count: count, using: &random)
    let columns = try world.columns(
      TimelineDefinition(
        "Event", start: "start", end: "end", openEnd: openEnd, group: "title"))
    let naive = NaiveTimeline(world, start: "start", end: "end", openEnd, hasCondition: false)
    return (columns, naive)
  }

  @Test(arguments: 0..<12)
  func answersAreTheNaiveOnes(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let (columns, naive) = try timeline(random.below(90), using: &random)
    let index = IntervalIndex(columns, now: Timestamp(microseconds: 0))
    let sorted = naive.intervals.sorted { ($0.first, $0.row) < ($1.first, $1.row) }
    #expect(index.count == sorted.count)
    func rows(_ places: [Int]) -> [Int64] { places.map { columns.objects[$0].row } }
    var moments: [Int64] = [.min, .min + 1, -1, .max - 1, .max]
    for hour in 0..<21 as Range<Int64> {
      moments += [-1, 0, 1].map { hour * 3_600_000_000 + $0 }
    }
    for moment in moments {
      #expect(
        rows(index.underWay(at: Timestamp(microseconds: moment)))
          == sorted.filter { $0.first <= moment && moment <= $0.last }.map(\.row), "seed \(seed)")
      let other = moments[random.below(moments.count)]
      let window =
        Timestamp(microseconds: min(moment, other))..<Timestamp(microseconds: max(moment, other))
      let expected = sorted.filter {
        !window.isEmpty && $0.first < window.upperBound.microseconds
          && window.lowerBound.microseconds <= $0.last
      }
      #expect(rows(index.overlapping(window)) == expected.map(\.row), "seed \(seed)")
      #expect(index.count(overlapping: window) == expected.count)
    }
  }

  @Test(arguments: 0..<60)
  func gapsAndOverlapsAreTheNaiveOnes(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let (columns, naive) = try timeline(
      random.below(14), seed.isMultiple(of: 4) ? .whenEndIsNil : .never, using: &random)
    let index = IntervalIndex(columns, now: Timestamp(microseconds: 0))
    for group in [nil] + columns.groups.indices.map({ $0 as Int? }) {
      let members = naive.intervals.filter { interval in
        guard let group else { return true }
        let place = columns.places(of: .init(entity: 1, row: interval.row)).lowerBound
        return columns.group(place) == group
      }.sorted { ($0.first, $0.row) < ($1.first, $1.row) }
      var pairs: [[Int64]] = []
      for (place, a) in members.enumerated() {
        for b in members[(place + 1)...] where b.first <= a.last {
          let last = min(a.last, b.last)
          pairs.append([a.row, b.row, b.first, last == .max ? last : last + 1])
        }
      }
      var found: [[Int64]] = []
      index.forEachOverlap(inGroup: group) { a, b, range in
        found.append([
          columns.objects[a].row, columns.objects[b].row, range.lowerBound.microseconds,
          range.upperBound.microseconds,
        ])
        return true
      }
      #expect(found == pairs, "seed \(seed)")
      // A gap begins behind an end and ends with a start, and nothing is under way in it.
      var gaps: [Range<Timestamp>] = []
      for end in Set(members.map(\.last)).sorted() where end < .max {
        guard let next = members.map(\.first).filter({ $0 > end }).min(), next > end + 1,
          !members.contains(where: { $0.first <= end + 1 && $0.last > end })
        else { continue }
        gaps.append(Timestamp(microseconds: end + 1)..<Timestamp(microseconds: next))
      }
      #expect(index.gaps(inGroup: group) == gaps, "seed \(seed)")
    }
  }

  @Test(arguments: 0..<12)
  func weightsAreTheNaiveOnes(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let (columns, naive) = try timeline(120, using: &random)
    let now = Int64(random.below(20)) * 3_600_000_000
    let index = IntervalIndex(columns, now: Timestamp(microseconds: now))
    let bounds: [Int64] =
      [.min, -5] + (0..<25).map { $0 * 2_700_000_000 } + [4_000_000_000_000_000, .max]
    let found = index.weights(between: bounds.map { Timestamp(microseconds: $0) })
    for (place, (low, high)) in zip(bounds, bounds.dropFirst()).enumerated() {
      var expected = 0.0
      for object in naive.placed {
        var end = object.start
        if object.kind == .range { end = object.end ?? end }
        if object.kind == .ongoing { end = max(now, object.start) }
        if end < object.start { continue }
        if end == object.start {
          expected += object.start >= low && object.start < high ? 1 : 0
          continue
        }
        // Ends may be as far apart as moments can be.
        let part = Double(min(end, high)) - Double(max(object.start, low))
        let exact = max(object.start, low) < min(end, high)
        guard exact else { continue }
        let short = end.subtractingReportingOverflow(object.start)
        let inside = min(end, high).subtractingReportingOverflow(max(object.start, low))
        expected +=
          (inside.overflow ? part : Double(inside.partialValue))
          / (short.overflow ? Double(end) - Double(object.start) : Double(short.partialValue))
      }
      #expect(abs(found[place] - expected) < 1e-9, "seed \(seed), bucket \(place)")
    }
  }

  @Test func sixMinutesAcrossAnHour() throws {
    var columns = TimelineColumns()
    let minute: Int64 = 60_000_000
    let noon = try #require(Timestamp("2026-11-23T12:00:00Z")).microseconds
    columns.append(
      ObjectReference(entity: 1, row: 1), start: noon + 57 * minute, end: noon + 62 * minute,
      kind: .range)
    let index = IntervalIndex(columns, now: Timestamp(microseconds: 0))
    let bounds = (0..<4).map { Timestamp(microseconds: noon + $0 * 60 * minute) }
    #expect(index.weights(between: bounds) == [0.6, 0.4, 0])
  }
}
