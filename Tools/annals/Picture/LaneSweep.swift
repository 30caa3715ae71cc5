/// Assigns bars to lanes so that none overlap, with as few lanes as bars overlap at one point: in
/// the order of their starts, each bar goes into the first free lane. O(n log n).
struct LaneSweep {
  /// The lane of each bar.
  private(set) var lanes: [Int] = []
  /// The number of lanes.
  private(set) var count = 0

  /// The lanes of bars sorted by start. A bar may begin where another one ends.
  init(_ bars: [ClosedRange<Double>]) {
    // Two heaps: the free lanes, and the ends of the occupied ones.
    var free = Heap<Int>()
    var ends = Heap<Busy>()
    for bar in bars {
      while let first = ends.first, first.end <= bar.lowerBound {
        ends.removeFirst()
        free.insert(first.lane)
      }
      let lane = free.first ?? count
      if free.first == nil { count += 1 } else { free.removeFirst() }
      lanes.append(lane)
      ends.insert(Busy(end: bar.upperBound, lane: lane))
    }
  }

  private struct Busy: Comparable {
    var end: Double
    var lane: Int

    static func < (a: Busy, b: Busy) -> Bool {
      a.end != b.end ? a.end < b.end : a.lane < b.lane
    }
  }
}

/// A binary heap with the least element first.
private struct Heap<Element: Comparable> {
  private var elements: [Element] = []

  var first: Element? { elements.first }

  mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0, elements[child] < elements[(child - 1) / 2] {
      elements.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func removeFirst() {
    elements.swapAt(0, elements.count - 1)
    elements.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < elements.count && elements[child] < elements[least] {
        least = child
      }
      if least == parent { return }
      elements.swapAt(parent, least)
      parent = least
    }
  }
}
