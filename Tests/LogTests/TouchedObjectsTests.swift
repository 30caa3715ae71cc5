import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsLog

struct TouchedObjectsTests {
  @Test(arguments: 0..<20 as Range<UInt64>)
  func theObjectsAreThoseAdded(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var touched = TouchedObjects()
    var added: Set<ObjectReference> = []
    for _ in 0..<Int(random.next() % 400 + 1) {
      let entity = EntityNumber(random.next() % 3 + 1)
      let first = Int64(random.next() % 2_000) + 1
      for row in first...first + Int64(random.next() % 3) {
        touched.add(RowRange(entity, row...row))
        added.insert(ObjectReference(entity: entity, row: row))
      }
    }
    var listed: Set<ObjectReference> = []
    for range in try touched.ofSegment.ranges() {
      for row in range.first...range.last {
        listed.insert(ObjectReference(entity: range.entity, row: row))
      }
    }
    #expect(listed == added)
  }

  @Test func consecutiveRowsAreOneRange() {
    var touched = TouchedObjects()
    for row in 1...100_000 as ClosedRange<Int64> { touched.add(RowRange(1, row...row)) }
    #expect(touched.ranges == [RowRange(1, 1...100_000)])
  }

  /// Objects between those of a very large transaction are among its objects, too.
  @Test func manyRangesBecomeFewer() throws {
    var random = SplitMix64(seed: 9)
    var touched = TouchedObjects()
    var rows: [Int64] = []
    for _ in 0..<200_000 {
      let row = Int64(random.next() % 5_000_000) + 1
      touched.add(RowRange(3, row...row))
      rows.append(row)
    }
    #expect(touched.ranges.count <= 4 * RowRange.maximumCount)
    let objects = touched.ofSegment
    let ranges = try objects.ranges()
    #expect((1...RowRange.maximumCount).contains(ranges.count))
    for row in rows {
      let place = ranges.rank { $0.first <= row } - 1
      #expect(place >= 0 && ranges[place].last >= row)
    }
  }

  /// A row of each of more entities than a segment has ranges.
  @Test func tooManyEntitiesAreUnknown() throws {
    var touched = TouchedObjects()
    for entity in 1...100_000 as ClosedRange<EntityNumber> {
      touched.add(RowRange(entity, 5...5))
    }
    #expect(touched.ranges.count == 100_000)
    #expect(touched.ofSegment == .unknown)
  }

  /// Tables that are given up, as those of a checkpoint that failed, have closed a segment that the
  /// others go on with.
  @Test func aSegmentThatACopyClosesStaysOpen() throws {
    let moment = Timestamp(microseconds: 7)
    func objects(_ row: Int64) -> TouchedObjects {
      var result = TouchedObjects()
      result.add(RowRange(1, row...row))
      return result
    }
    var index = HistoryIndex()
    let isFirst = index.note(
      firstNumber: 1, at: 12_288, timestamp: moment, after: .min, entities: [1])
    #expect(isFirst)
    index.open?.add(objects(1))
    var copy = index
    copy.open?.add(objects(3))
    copy.closeSegment(moment)
    index.open?.add(objects(5))
    index.closeSegment(moment)
    #expect(index.open == nil)
    #expect(try copy.objects.entries.map { try $0.ranges().map(\.first) } == [[1, 3]])
    // What the copy added may be there, too.
    #expect(try index.objects.entries.map { try $0.ranges().map(\.first) } == [[1, 3, 5]])
  }
}
