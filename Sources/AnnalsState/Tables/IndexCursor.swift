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

/// A place between the entries of an index, moving either way.
package struct IndexCursor: Sendable {
  private let view: IndexView
  /// How many entries stand before.
  package private(set) var place: Int
  /// The leaf of the entry that was read last.
  private var span: IndexSpan?
  /// The run that it belongs to.
  private var run: IndexRun?

  init(_ view: IndexView, at place: Int) {
    self.view = view
    self.place = place
  }

  /// Moves past the next entry and returns its row; nil, staying, at the end.
  package mutating func next() throws(StateFault) -> Int64? {
    guard place < view.count else { return nil }
    let row = try row(at: place)
    place += 1
    return row
  }

  /// Moves back before the previous entry and returns its row; nil, staying, at the beginning.
  package mutating func previous() throws(StateFault) -> Int64? {
    guard place > 0 else { return nil }
    let row = try row(at: place - 1)
    place -= 1
    return row
  }

  private mutating func row(at place: Int) throws(StateFault) -> Int64? {
    if let run, run.places.contains(place) { return run.rows[place - run.places.lowerBound] }
    if span.map({ place < $0.start || place >= $0.end }) ?? true { span = try view.span(at: place) }
    guard let span else { return nil }
    run = try view.run(at: place, in: span)
    if let run { return run.rows[place - run.places.lowerBound] }
    return span.row(at: place)
  }
}
