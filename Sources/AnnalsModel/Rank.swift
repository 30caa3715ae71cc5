extension RandomAccessCollection where Index == Int {
  /// How many elements stand at the front of which `isBefore` is true; it is true of none behind
  /// them. O(log n).
  @inlinable @inline(__always)
  package func rank<E: Error>(_ isBefore: (Element) throws(E) -> Bool) throws(E) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = low + (high - low) / 2
      if try isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low - startIndex
  }
}

extension Array where Element: Comparable {
  /// Inserts an element where it belongs in a list that rises, unless it is there; returns whether
  /// it was not. O(n).
  @inlinable @inline(__always)
  package mutating func insertRising(_ element: Element) -> Bool {
    let place = rank { $0 < element }
    if place < count, self[place] == element { return false }
    insert(element, at: place)
    return true
  }
}

extension Sequence where Element: Comparable {
  /// The distinct elements, rising. For few of them, neighbours mostly equal.
  @inlinable
  package var distinctRising: [Element] {
    var result: [Element] = []
    var last: Element?
    for element in self where element != last {
      last = element
      _ = result.insertRising(element)
    }
    return result
  }
}

extension [Int] {
  /// The places of one of the longest sequences of the numbers, not necessarily next to each other,
  /// that rise; the places rise, too. O(n log n).
  package var placesOfLongestRise: [Int] {
    // By length, where the sequence of that length ends whose end is the least; and what is before
    // each in its sequence.
    var ends: [Int] = []
    var before = [Int](repeating: -1, count: count)
    for (place, number) in enumerated() {
      let length = ends.rank { self[$0] < number }
      if length > 0 { before[place] = ends[length - 1] }
      if length < ends.count { ends[length] = place } else { ends.append(place) }
    }
    var places: [Int] = []
    var place = ends.last ?? -1
    while place >= 0 {
      places.append(place)
      place = before[place]
    }
    return places.reversed()
  }
}
