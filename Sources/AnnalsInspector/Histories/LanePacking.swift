import AnnalsQuery

/// Puts bars into lanes so that none overlap: each, in the order of their starts, into the lane
/// that became free first.
struct LanePacking {
  /// How many lanes there are.
  var count: Int { ends.count }
  /// Where the last bar of each lane ends.
  private var ends: [Int64] = []
  /// As many lanes are looked through; a further bar goes to the one that is free first.
  private static let most = 400

  /// The lane of the next bar.
  mutating func lane(from start: Int64, to end: Int64) -> Int {
    if let free = ends.firstIndex(where: { $0 <= start }) {
      ends[free] = end
      return free
    }
    if ends.count < LanePacking.most {
      ends.append(end)
      return ends.count - 1
    }
    let first = ends.indices.min { ends[$0] < ends[$1] } ?? 0
    ends[first] = max(ends[first], end)
    return first
  }
}
