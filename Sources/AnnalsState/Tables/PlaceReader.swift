import AnnalsFormat
import AnnalsModel

/// Objects whose keys are equal and cut, in the order of their values.
struct IndexRun: Sendable {
  /// Where they stand in the index.
  let places: Range<Int>
  let rows: [Int64]
  /// What orders them: their whole keys.
  let keys: [ContiguousArray<UInt8>]
}

/// Reads the rows of an index by place. Fastest from one place to the next, either way: it keeps
/// the leaf read last, and the last run of a cut key.
struct PlaceReader {
  private let view: IndexView
  /// The leaf that was read last.
  private var span: IndexSpan?
  /// The objects with a cut key that were read last.
  private var run: IndexRun?
  /// The places of objects with the same values, of an ordered index.
  private var ties = 0..<0

  init(_ view: IndexView) { self.view = view }

  /// The row at a place; nil if there is none.
  mutating func row(at place: Int) throws(StateFault) -> Int64? {
    if let run, run.places.contains(place) { return run.rows[place - run.places.lowerBound] }
    if span.map({ place < $0.start || place >= $0.end }) ?? true { span = try view.span(at: place) }
    guard let span else { return nil }
    run = try view.run(at: place, in: span)
    if let run { return run.rows[place - run.places.lowerBound] }
    return span.row(at: place)
  }

  /// The row at a place of the order in which objects with the same values come by falling rows.
  mutating func rowWithTiesReversed(at place: Int) throws(StateFault) -> Int64? {
    let ties = try ties(at: place)
    return try row(at: ties.lowerBound + ties.upperBound - 1 - place)
  }

  /// The places of the objects with the same values as the one at a place.
  mutating func ties(at place: Int) throws(StateFault) -> Range<Int> {
    if !ties.contains(place) { ties = try findTies(at: place) }
    return ties
  }

  private mutating func findTies(at place: Int) throws(StateFault) -> Range<Int> {
    guard try row(at: place) != nil, let span else { return place..<place + 1 }
    if let run {
      let start = run.places.lowerBound
      let ties = PlaceReader.ties(at: place - start, in: run.keys.indices) { run.keys[$0][...] }
      return start + ties.lowerBound..<start + ties.upperBound
    }
    let ties = PlaceReader.ties(at: place, in: span.start..<span.end) { span.key(at: $0) }
    // A run that reaches the end of the leaf may go on in the next.
    guard ties.lowerBound == span.start || ties.upperBound == span.end else { return ties }
    return try view.places(
      of: ContiguousArray(span.key(at: place).dropLast(KeyBytes.rowLength)))
  }

  /// The indexes around one of those given whose keys are the same, except for the row.
  private static func ties(
    at index: Int, in all: Range<Int>, key: (Int) -> ArraySlice<UInt8>
  ) -> Range<Int> {
    let values = key(index).dropLast(KeyBytes.rowLength)
    var (low, high) = (index, index + 1)
    while low > all.lowerBound, key(low - 1).dropLast(KeyBytes.rowLength) == values { low -= 1 }
    while high < all.upperBound, key(high).dropLast(KeyBytes.rowLength) == values { high += 1 }
    return low..<high
  }
}
