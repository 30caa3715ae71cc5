import AnnalsState

/// Rows to read, in an order that suits the caches, and where the object of each belongs.
package struct RowSequence {
  private let rows: [Int64]
  /// The rows in storage order with their places; empty where they are read in their own.
  private let sorted: ContiguousArray<(word: UInt64, index: Int)>

  /// No rows.
  package static var none: RowSequence { RowSequence([]) }

  /// From this many rows on they are read in storage order.
  private static var scatteredLimit: Int { 1024 }

  /// The rows; in storage order if they are many and need not be in order.
  init(_ rows: [Int64], inOrder: Bool = false) {
    self.rows = rows
    guard !inOrder, rows.count > RowSequence.scatteredLimit else {
      sorted = []
      return
    }
    var order: ContiguousArray<(word: UInt64, index: Int)> = []
    order.reserveCapacity(rows.count)
    for (index, row) in rows.enumerated() { order.append((UInt64(bitPattern: row), index)) }
    radixSort(&order)
    sorted = order
  }

  /// How many rows there are.
  var count: Int { rows.count }

  /// Whether they are read in another order than their places'.
  var isScattered: Bool { !sorted.isEmpty }

  /// The row that is read as the `number`th, from 0, and the place of its object.
  @inline(__always)
  subscript(number: Int) -> (row: Int64, place: Int) {
    if sorted.isEmpty { return (rows[number], number) }
    return (Int64(bitPattern: sorted[number].word), sorted[number].index)
  }
}
