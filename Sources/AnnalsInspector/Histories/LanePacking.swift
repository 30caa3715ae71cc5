/// Puts bars into lanes so that none overlap: each, in the order of their starts, into the lane
/// that became free first.
package struct LanePacking<Place: Comparable> {
  /// How many lanes there are.
  package var count: Int { ends.count }
  /// Where the last bar of each lane ends.
  private var ends: [Place] = []
  /// As many lanes are looked through; a further bar goes to the one that is free first.
  private let most: Int

  package init(most: Int = 400) { self.most = most }

  /// The lane of the next bar.
  package mutating func lane(from start: Place, to end: Place) -> Int {
    if let free = ends.firstIndex(where: { $0 <= start }) {
      ends[free] = end
      return free
    }
    if ends.count < most {
      ends.append(end)
      return ends.count - 1
    }
    let first = ends.indices.min { ends[$0] < ends[$1] } ?? 0
    ends[first] = max(ends[first], end)
    return first
  }
}
