import AnnalsModel
import AnnalsState

extension ContiguousArray<ListEntry> {
  /// How many of these entries, which are in order, precede an entry; looks first around an index.
  /// O(log distance) for a rank near it.
  @inline(__always)
  func rank(
    of entry: ListEntry, by order: some ListOrder, around guess: Int
  ) throws(StateFault) -> Int {
    // Ever farther away, until the rank is between the two.
    var (low, high) = (0, count)
    var distance = 4
    var place = guess
    if place < high, try order.precedes(self[place], entry) {
      low = place + 1
      place += distance
      while place < high, try order.precedes(self[place], entry) {
        low = place + 1
        distance *= 2
        place += distance
      }
      high = Swift.min(place, high)
    } else {
      high = Swift.min(place, high)
      place -= distance
      while place >= low, try !order.precedes(self[place], entry) {
        high = place
        distance *= 2
        place -= distance
      }
      low = Swift.max(place + 1, low)
    }
    return low
      + (try (low..<high).rank { (place) throws(StateFault) in
        try order.precedes(self[place], entry)
      })
  }
}
