import AnnalsFormat
import AnnalsModel

/// A place between the entries of an index, by values.
package struct IndexBound: Sendable {
  /// Values for the first columns of the index, or for all; `.null` for none.
  package var values: [Value]
  /// Whether the place is behind the objects that have these values, and not before them.
  package var isAfter: Bool

  package init(values: [Value], isAfter: Bool) {
    self.values = values
    self.isAfter = isAfter
  }
}

/// An index of one state for reading: the objects of an entity in an order, by place and by value.
///
/// Places are counted from 0 in the direction of the index. An ordered index has all objects; a
/// unique one those that have a value in each of its columns, in the order of their keys; a box
/// index, too, but its order means nothing: `search` is for it.
///
/// Objects with a text over 256 bytes whose beginning others have too are sorted when a reader
/// reaches them: that costs reading the values of all that share it. Objects with a value over
/// 4,096 bytes, of which a state has no byte, stand behind the first `orderedCount` places, by row:
/// whoever wants them in order reads the values and sorts them in. May be used from any thread.
package struct IndexView: Sendable {
  private let table: Table
  let index: TableIndex

  init(_ table: Table, _ index: TableIndex) {
    self.table = table
    self.index = index
  }

  /// What the index is over.
  package var shape: IndexShape { index.shape }

  /// How many entries there are.
  package var count: Int { index.tree.count }

  /// How many entries are in the order of their values. O(log n).
  package func orderedCount() throws(StateFault) -> Int {
    if shape.isUnique || !index.keys.isOrdered { return count }
    return try count(before: [KeyBytes.unordered])
  }

  /// How many entries stand before the bound: its place. O(log n).
  ///
  /// A bound of a value over 4,096 bytes is where the value would be if it were in order.
  package func place(of bound: IndexBound) throws(StateFault) -> Int {
    let (key, isCut) = index.keys.key(of: bound.values, isLimited: true)
    guard isCut else { return try count(before: bound.isAfter ? key.successor : key) }
    // Among those with the same cut key the values tell.
    let (full, _) = index.keys.key(of: bound.values, isLimited: false)
    let limit = bound.isAfter ? full.successor : full
    let run = try run(of: key)
    return run.places.lowerBound
      + run.keys.prefix { limit.map($0.lexicographicallyPrecedes) ?? true }.count
  }

  /// How many entries stand between two bounds; 0 if the second is before the first. O(log n).
  package func count(from lower: IndexBound, to upper: IndexBound) throws(StateFault) -> Int {
    try max(0, place(of: upper) - place(of: lower))
  }

  /// The row of the object at a place; nil if there is none. O(log n).
  package func row(at place: Int) throws(StateFault) -> Int64? {
    var reader = PlaceReader(self)
    return try reader.row(at: place)
  }
}

// What a reader uses.
extension IndexView {
  /// The leaf at a place.
  func span(at place: Int) throws(StateFault) -> IndexSpan? { try index.tree.span(at: place) }

  /// The objects with the same key as the one at a place of the span, if the key is cut.
  func run(at place: Int, in span: IndexSpan) throws(StateFault) -> IndexRun? {
    // Nothing shorter than a text's limit is cut.
    guard !shape.isUnique, span.leaf.entries.range(place - span.start).count > KeyBytes.textLimit
    else { return nil }
    let key = span.key(at: place).dropLast(KeyBytes.rowLength)
    guard index.keys.isCut(key) else { return nil }
    return try run(of: ContiguousArray(key))
  }

  /// The objects with a cut key, in the order of their values.
  private func run(of key: ContiguousArray<UInt8>) throws(StateFault) -> IndexRun {
    let places = try places(of: key)
    var entries: [(key: ContiguousArray<UInt8>, row: Int64)] = []
    var place = places.lowerBound
    while place < places.upperBound, let span = try span(at: place) {
      while place < min(span.end, places.upperBound) {
        let row = span.row(at: place)
        entries.append((try table.fullKey(row, of: index.keys), row))
        place += 1
      }
    }
    entries.sort { $0.key.lexicographicallyPrecedes($1.key) }
    return IndexRun(places: places, rows: entries.map(\.row), keys: entries.map(\.key))
  }

  /// The places of the objects whose keys begin with these bytes.
  func places(of key: ContiguousArray<UInt8>) throws(StateFault) -> Range<Int> {
    try count(before: key)..<count(before: key.successor)
  }

  /// How many entries have a key before these bytes; nil is behind all.
  private func count(before bytes: ContiguousArray<UInt8>?) throws(StateFault) -> Int {
    guard let bytes else { return count }
    return try bytes.withBytes { bytes throws(StateFault) in
      try index.tree.count(before: bytes) { row throws(StateFault) in
        try table.key(row, of: index.keys)
      }
    }
  }
}

extension ContiguousArray<UInt8> {
  /// The least bytes behind all that begin with these; nil if there are none.
  var successor: ContiguousArray<UInt8>? {
    var result = self
    while let last = result.popLast() {
      if last < 255 {
        result.append(last + 1)
        return result
      }
    }
    return nil
  }
}

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
