import AnnalsModel

/// The objects of a timeline as intervals, for questions about what happened when.
///
/// Intervals are half-open, in microseconds. A single date, and a range that ends where it starts,
/// last one microsecond; days last until their end, in UTC. An ongoing object lasts for ever, but
/// its weight ends now. Ranges that end before their start are left out.
package struct IntervalIndex: Sendable {
  /// The places of the objects among the columns, in the order of their starts.
  private var places: ContiguousArray<Int32> = []
  private var firsts: ContiguousArray<Int64> = []
  /// The last moment of each, in the same order, and rising.
  private var lasts: ContiguousArray<Int64> = []
  private var risingLasts: ContiguousArray<Int64>
  private let tree: PrioritySearchTree
  private let weights: CumulativeWeights
  private let whole: Coverage
  /// By number of the group.
  private var parts: [Coverage] = []

  /// The intervals of the objects. O(n log n).
  package init(_ columns: TimelineColumns, now: Timestamp) {
    places.reserveCapacity(columns.count)
    for index in 0..<columns.count where !columns.marks(index).contains(.inverted) {
      places.append(Int32(index))
    }
    places.sort {
      let (a, b) = (columns.starts[Int($0)], columns.starts[Int($1)])
      return a != b ? a < b : $0 < $1
    }
    var spread: ContiguousArray<Range<Int64>> = []
    for place in places {
      let index = Int(place)
      let start = columns.starts[index]
      let isOfDays = columns.marks(index).contains(.days)
      let kind = columns.kind(index)
      let day: Int64 = isOfDays && kind != .ongoing ? 86_400_000_000 : 0
      let end = columns.ends[index] + day
      firsts.append(start)
      switch kind {
      case .single:
        lasts.append(isOfDays ? end - 1 : start)
        spread.append(start..<end)
      case .range:
        lasts.append(end > start ? end - 1 : start)
        spread.append(start..<end)
      case .ongoing:
        lasts.append(.max)
        spread.append(start..<max(start, now.microseconds))
      }
    }
    risingLasts = lasts
    risingLasts.sort()
    tree = PrioritySearchTree(firsts: firsts, lasts: lasts)
    weights = CumulativeWeights(spread)
    whole = Coverage(0..<Int32(places.count), firsts, lasts)
    var members = [ContiguousArray<Int32>](repeating: [], count: columns.groups.count)
    for (position, place) in places.enumerated() {
      if let group = columns.group(Int(place)) { members[group].append(Int32(position)) }
    }
    parts = members.map { Coverage($0, firsts, lasts) }
  }

  /// How many intervals there are.
  package var count: Int { places.count }

  /// The places of the objects that overlap the window, in the order of their starts.
  /// O(log n + answer), and what sorting the answer costs.
  package func overlapping(_ window: Range<Timestamp>) -> [Int] {
    guard !window.isEmpty else { return [] }
    return meeting(window.lowerBound.microseconds, window.upperBound.microseconds - 1)
  }

  /// The places of the objects that were under way at the moment, in the order of their starts.
  package func underWay(at moment: Timestamp) -> [Int] {
    meeting(moment.microseconds, moment.microseconds)
  }

  private func meeting(_ low: Int64, _ high: Int64) -> [Int] {
    var found: ContiguousArray<Int32> = []
    tree.forEach(from: low, through: high) { found.append($0) }
    found.sort()
    return found.map { Int(places[Int($0)]) }
  }

  /// How many objects overlap the window. O(log n).
  package func count(overlapping window: Range<Timestamp>) -> Int {
    guard !window.isEmpty else { return 0 }
    // What ended before the window began before it, too.
    return firsts.rank { $0 < window.upperBound.microseconds }
      - risingLasts.rank { $0 < window.lowerBound.microseconds }
  }

  /// The count of each bucket, from each of the bounds, which rise, to the next: an object counts
  /// in each for the part of its length that lies there. O(log n) a bucket.
  package func weights(between bounds: [Timestamp]) -> [Double] {
    zip(bounds, bounds.dropFirst()).map { low, high in
      weights.weight(in: low.microseconds..<high.microseconds)
    }
  }

  /// The times between the first start and the last end in which nothing was under way; with a
  /// group, nothing of it. O(answer).
  package func gaps(inGroup group: Int? = nil) -> [Range<Timestamp>] {
    (group.map { parts[$0] } ?? whole).gaps
  }

  /// Calls `body` with the places of each two objects that overlap, in the order of their starts,
  /// and the time in which they do, until it returns false; with a group, of objects of it.
  /// O(answer).
  package func forEachOverlap(
    inGroup group: Int? = nil, _ body: (Int, Int, Range<Timestamp>) -> Bool
  ) {
    let part = group.map { parts[$0] } ?? whole
    for start in part.overlapping {
      let position = Int(part.members[Int(start)])
      for other in part.members[(Int(start) + 1)...] {
        let first = firsts[Int(other)]
        guard first <= lasts[position] else { break }
        let last = min(lasts[position], lasts[Int(other)])
        let range =
          Timestamp(microseconds: first)..<Timestamp(microseconds: last == .max ? .max : last + 1)
        guard body(Int(places[position]), Int(places[Int(other)]), range) else { return }
      }
    }
  }
}

/// The gaps and overlaps of a group's intervals.
private struct Coverage: Sendable {
  /// The intervals, in the order of their starts.
  var members: ContiguousArray<Int32> = []
  var gaps: [Range<Timestamp>] = []
  /// Which of the members overlap the next one; those that do not overlap none behind.
  var overlapping: ContiguousArray<Int32> = []

  init(
    _ positions: some Sequence<Int32>, _ firsts: ContiguousArray<Int64>,
    _ lasts: ContiguousArray<Int64>
  ) {
    members = ContiguousArray(positions)
    var reach = members.first.map { lasts[Int($0)] } ?? .max
    for (index, position) in members.enumerated().dropFirst() {
      let first = firsts[Int(position)]
      if first <= lasts[Int(members[index - 1])] { overlapping.append(Int32(index - 1)) }
      if reach < .max, first > reach + 1 {
        gaps.append(Timestamp(microseconds: reach + 1)..<Timestamp(microseconds: first))
      }
      reach = max(reach, lasts[Int(position)])
    }
  }
}
