import AnnalsModel

extension ContiguousArray {
  /// As `rank(_:)`, looking first around an index. O(log distance) for a rank near it.
  @inline(__always)
  func rank<E: Error>(
    around guess: Int, _ isBefore: (Element) throws(E) -> Bool
  ) throws(E) -> Int {
    // Ever farther away, until the rank is between the two.
    var (low, high) = (startIndex, endIndex)
    var distance = 4
    var place = guess
    if place < high, try isBefore(self[place]) {
      low = place + 1
      place += distance
      while place < high, try isBefore(self[place]) {
        low = place + 1
        distance *= 2
        place += distance
      }
      high = Swift.min(place, high)
    } else {
      high = Swift.min(place, high)
      place -= distance
      while place >= low, try !isBefore(self[place]) {
        high = place
        distance *= 2
        place -= distance
      }
      low = Swift.max(place + 1, low)
    }
    return low - startIndex + (try self[low..<high].rank(isBefore))
  }
}
