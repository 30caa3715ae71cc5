import AnnalsModel

/// Gives equal values the same number, in the order first met.
package struct ValueNumbering: Sendable {
  /// The values, by number.
  package private(set) var values: [Value] = []
  private var table = GroupTable()

  package init() {}

  /// The number of a value that is not null. O(length).
  package mutating func number(of cell: ValueCell, in bytes: UnsafeRawBufferPointer) -> Int32 {
    let number = table.number(ofSame: cell, in: bytes)
    if number == values.count { values.append(cell.value(in: bytes)) }
    return Int32(number)
  }
}
