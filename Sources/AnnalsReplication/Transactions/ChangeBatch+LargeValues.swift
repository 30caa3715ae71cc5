import AnnalsModel

// The large values that a batch names, by what describes them.

extension ChangeBatch {
  /// The large value that a cell of the batch describes.
  func largeValue(_ cell: ValueCell) -> LargeValue {
    arena.withUnsafeBytes { LargeValue(tag: cell.tag, description: cell.bytes(in: $0)) }
  }

  /// Makes a cell of a property describe a large value with another number.
  mutating func describe(
    _ value: LargeValue, as number: UInt64, in cell: WritableKeyPath<PropertyChange, ValueCell>,
    of index: Int
  ) {
    var value = value
    value.number = number
    properties[index][keyPath: cell].bits = UInt64(arena.count)
    value.append(to: &arena)
  }
}
