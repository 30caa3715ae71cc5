import AnnalsModel
import AnnalsQuery
import AnnalsState
import AnnalsTestSupport
import Foundation
import Testing

/// Groups whose number is beyond what calendar buckets are cached for, and sums whose terms differ
/// by more than a double holds.
@Suite struct ManyGroupsTests {
  private static let day: Int64 = 86_400_000_000
  private static let sources = ConditionSources(
    largeValue: { _ in [] }, removingDiacritics: { $0 })

  private static func groups(
    _ query: GroupQuery, of model: NoteModel
  ) throws -> [GroupedRows] {
    try GroupPlan(query, of: RowQuery(entity: 1), in: model.state, sources).groups()
  }

  private static func insert(
    _ values: [Value], of property: PropertyNumber, into model: NoteModel
  ) throws {
    for value in values {
      let row = try model.state.insertRow(1)
      try model.state.set(1, row, property, to: value)
    }
  }

  /// In whatever order they come; those that were dropped from the cache come again, too.
  @Test(arguments: [1, 2, 3] as [UInt64]) func `days are counted`(seed: UInt64) throws {
    let model = NoteModel(seed: seed)
    let count: Int64 = 5_000
    var days = Array(0..<count) + Array((0..<count).reversed())
    if seed > 1 { days.shuffle(using: &model.random) }
    try Self.insert(
      days.enumerated().map { place, day in
        .date(Timestamp(microseconds: day * Self.day + Int64(place)))
      }, of: NoteModel.date, into: model)
    let zone = try #require(TimeZone(identifier: "UTC"))
    let found = try Self.groups(GroupQuery(.bucket("date", .day, ZoneClock(zone))), of: model)
    #expect(found.map(\.count) == Array(repeating: 2, count: Int(count)))
    let starts = found.map { group -> Int64? in
      guard case .bucket(let bucket) = group.key else { return nil }
      return bucket.range.lowerBound.microseconds
    }
    #expect(starts == (0..<count).map { $0 * Self.day })
  }

  /// Each is the bucket that one computes who asks for the first time.
  @Test(arguments: [CalendarUnit.hour, .day]) func `buckets asked for again`(
    unit: CalendarUnit
  ) throws {
    let zone = try #require(TimeZone(identifier: "America/St_Johns"))
    var buckets = CalendarBuckets(unit, timeZone: zone)
    var random = SeededRandom(seed: 5)
    let step: Int64 = unit == .hour ? 3_600_000_000 : Self.day
    var moments = Array(0..<Int64(4_200)) + Array((0..<Int64(4_200)).reversed())
    moments += (0..<4_200).map { _ in Int64(random.below(6_000)) }
    for (place, number) in moments.enumerated() {
      let moment = Timestamp(microseconds: number * step + 12_345_678)
      let bucket = buckets.bucket(containing: moment)
      var isRight = bucket.contains(moment)
      if place % 7 == 0 {
        var fresh = CalendarBuckets(unit, timeZone: zone)
        isRight = fresh.bucket(containing: moment) == bucket
      }
      guard isRight else {
        Issue.record("\(unit) \(number), asked for as number \(place): \(bucket)")
        return
      }
    }
  }

  @Test(
    arguments: [
      ([1, 1e100, 1, -1e100], 2), ([1e100, 1, -1e100, 1], 2), ([1, -1e100, 1e100, 1, 1], 3),
      ([0.1, 0.2, 0.3, -0.6], 2.7755575615628914e-17),
    ] as [([Double], Double)])
  func `sums lose nothing of small terms`(terms: [Double], sum: Double) throws {
    let model = NoteModel(seed: 1)
    try Self.insert(terms.map { .double($0) }, of: NoteModel.real, into: model)
    let query = GroupQuery(.all, [Aggregate(.sum, of: "real"), Aggregate(.average, of: "real")])
    let values = try #require(try Self.groups(query, of: model).first).values
    #expect(values == [.double(sum), .double(sum / Double(terms.count))])
  }
}
