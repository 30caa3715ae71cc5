import AnnalsFormat
import AnnalsModel

// Objects with the same values stand in the order of their rows. Whoever wants them the other way
// round reads each such run backward.

extension IndexView {
  /// The rows of a range of places to `body`, as long as that returns true; from the last to the
  /// first if `isBackward`. O(log n) and the rows read.
  ///
  /// If `reversesTies`, places are those of the order in which objects with the same values come by
  /// falling rows.
  package func forEachRow(
    in places: Range<Int>, isBackward: Bool, reversesTies: Bool,
    _ body: (Int64) throws(StateFault) -> Bool
  ) throws(StateFault) {
    let places = places.clamped(to: 0..<count)
    // No two objects of a unique index have the same values; its keys end without a row.
    let reversesTies = reversesTies && !shape.isUnique
    var reader = PlaceReader(self)
    for step in 0..<places.count {
      let place = isBackward ? places.upperBound - 1 - step : places.lowerBound + step
      let row = try reversesTies ? reader.rowWithTiesReversed(at: place) : reader.row(at: place)
      guard let row, try body(row) else { return }
    }
  }
}
