import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// The objects that changes are of, as ranges of rows.
///
/// Consecutive rows are one range. Of many ranges, neighbours become one: then objects between them
/// are among these, too. Memory: 24 bytes a range, of which there are at most 32,768 unless as many
/// entities are changed.
struct TouchedObjects: Sendable {
  /// In the order in which they were added.
  private(set) var ranges: ContiguousArray<RowRange> = []

  /// So many ranges are put in order, and made fewer.
  private var limit = 4 * RowRange.maximumCount

  /// Forgets all objects, and keeps the memory.
  @inline(__always)
  mutating func removeAll() {
    if ranges.count == 1 { ranges.removeLast() } else { ranges.removeAll(keepingCapacity: true) }
  }

  /// Adds a range of rows.
  @inline(__always)
  mutating func add(_ added: RowRange) {
    if let last = ranges.last, last.entity == added.entity, added.first - 1 == last.last {
      ranges[ranges.count - 1] = RowRange(last.entity, last.first...added.last)
      return
    }
    ranges.append(added)
    if ranges.count > limit { makeFewer() }
  }

  /// Adds all objects of another list.
  mutating func add(_ other: TouchedObjects) {
    guard let first = other.ranges.first else { return }
    add(first)
    if other.ranges.count == 1 { return }
    ranges.append(contentsOf: other.ranges.dropFirst())
    if ranges.count > limit { makeFewer() }
  }

  private mutating func makeFewer() {
    if let fewer = coarsened(until: { $0.count <= limit / 2 ? $0 : nil }) {
      ranges = fewer
    } else {
      // Ranges of many entities stay many.
      limit *= 2
    }
  }

  /// The objects of a segment whose changes are of these.
  var ofSegment: SegmentObjects { coarsened { SegmentObjects($0) } ?? .unknown }

  /// What `body` makes of the ranges, rising and apart from each other: of more and more neighbours
  /// as one, until it makes something; nil if it never does.
  private func coarsened<Result>(
    until body: (ContiguousArray<RowRange>) -> Result?
  ) -> Result? {
    let rising = ranges.sorted {
      $0.entity != $1.entity ? $0.entity < $1.entity : $0.first < $1.first
    }
    var ranges = TouchedObjects.united(rising, within: 0)
    var gap: Int64 = 1
    while true {
      if let result = body(ranges) { return result }
      guard gap <= FormatLimits.maximumRow else { return nil }
      ranges = TouchedObjects.united(ranges, within: gap)
      gap *= 2
    }
  }

  /// Makes one range of neighbours with at most so many rows between them.
  private static func united(
    _ ranges: some Sequence<RowRange>, within gap: Int64
  ) -> ContiguousArray<RowRange> {
    var result: ContiguousArray<RowRange> = []
    for range in ranges {
      if let last = result.last, last.entity == range.entity, range.first - last.last <= gap + 1 {
        result[result.count - 1] = RowRange(
          last.entity, last.first...max(last.last, range.last))
      } else {
        result.append(range)
      }
    }
    return result
  }
}

/// The objects of a segment that still accepts transactions.
///
/// A reference, so that a commit does not copy them for the views that hold the tables before it.
/// Tables that were copied share it: those that go on get the objects of those that were given up,
/// too.
final class OpenSegment: Sendable {
  private let touched = Locked(TouchedObjects())

  func add(_ objects: TouchedObjects) {
    touched.withLock { touched in
      touched.add(objects)
    }
  }

  /// The objects so far.
  var objects: SegmentObjects { touched.withLock { $0.ofSegment } }
}
