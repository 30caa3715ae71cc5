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
  package func forEachRow<E: Error>(
    in places: Range<Int>, isBackward: Bool, reversesTies: Bool,
    _ body: (Int64) throws(E) -> Bool, fault: (StateFault) -> E
  ) throws(E) {
    let places = places.clamped(to: 0..<count)
    var reader = TieReader(view: self)
    var cursor = cursor(at: isBackward ? places.upperBound : places.lowerBound)
    for step in 0..<places.count {
      let row: Int64?
      do throws(StateFault) {
        if reversesTies {
          row = try reader.row(
            at: isBackward ? places.upperBound - 1 - step : places.lowerBound + step)
        } else {
          row = try isBackward ? cursor.previous() : cursor.next()
        }
      } catch {
        throw fault(error)
      }
      guard let row, try body(row) else { return }
    }
  }
}

extension IndexView {
  /// The places of the objects with the same values as the one at a place.
  func ties(at place: Int) throws(StateFault) -> Range<Int> {
    var reader = TieReader(view: self)
    try reader.findTies(at: place)
    return reader.ties
  }

  /// The leaves that have these places, with the place of the first entry of each.
  func leaves(
    in places: Range<Int>
  ) throws(StateFault) -> ContiguousArray<(leaf: IndexLeaf, start: Int)> {
    try index.tree.leaves(in: places)
  }
}

/// Reads an index in which objects with the same values come by falling rows.
private struct TieReader {
  let view: IndexView
  private var span: IndexSpan?
  /// The places of the objects with the same values as the one read last.
  private(set) var ties = 0..<0
  /// Their rows, where a cut key says less than the values do.
  private var cutRows: [Int64] = []

  init(view: IndexView) { self.view = view }

  mutating func row(at place: Int) throws(StateFault) -> Int64? {
    if !ties.contains(place) { try findTies(at: place) }
    let mirrored = ties.lowerBound + ties.upperBound - 1 - place
    if !cutRows.isEmpty { return cutRows[mirrored - ties.lowerBound] }
    return try seek(mirrored)?.row(at: mirrored)
  }

  private mutating func seek(_ place: Int) throws(StateFault) -> IndexSpan? {
    if let span, place >= span.start, place < span.end { return span }
    span = try view.span(at: place)
    return span
  }

  mutating func findTies(at place: Int) throws(StateFault) {
    ties = place..<place + 1
    cutRows = []
    guard let span = try seek(place) else { return }
    if let run = try view.run(at: place, in: span) {
      let position = place - run.places.lowerBound
      let values = run.keys[position].dropLast(KeyBytes.rowLength)
      var (low, high) = (position, position + 1)
      while low > 0, run.keys[low - 1].dropLast(KeyBytes.rowLength) == values { low -= 1 }
      while high < run.keys.count, run.keys[high].dropLast(KeyBytes.rowLength) == values {
        high += 1
      }
      ties = run.places.lowerBound + low..<run.places.lowerBound + high
      cutRows = Array(run.rows[low..<high])
      return
    }
    let values = span.key(at: place).dropLast(KeyBytes.rowLength)
    var (low, high) = (place, place + 1)
    while low > span.start, span.key(at: low - 1).dropLast(KeyBytes.rowLength) == values {
      low -= 1
    }
    while high < span.end, span.key(at: high).dropLast(KeyBytes.rowLength) == values { high += 1 }
    // A run that reaches the end of the leaf may go on in the next.
    if low == span.start || high == span.end {
      ties = try view.places(of: ContiguousArray(values))
    } else {
      ties = low..<high
    }
  }
}
