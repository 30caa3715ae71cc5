/// Assigns bars to lanes so that none overlap, with as few lanes as bars overlap at one point: in
/// the order of their starts, each bar goes into the first free lane. O(bars * lanes).
struct LaneSweep {
  /// The lane of each bar.
  private(set) var lanes: [Int] = []
  /// The end of the last bar in each lane.
  private var ends: [Double] = []

  /// The number of lanes.
  var count: Int { ends.count }

  /// The lanes of bars sorted by start. A bar may begin where another one ends.
  init(_ bars: [ClosedRange<Double>]) {
    for bar in bars {
      let lane = ends.firstIndex { $0 <= bar.lowerBound } ?? count
      if lane == count { ends.append(bar.upperBound) } else { ends[lane] = bar.upperBound }
      lanes.append(lane)
    }
  }
}
