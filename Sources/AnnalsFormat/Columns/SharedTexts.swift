import AnnalsModel

/// The long texts of a block that many of its cells share.
struct SharedTexts {
  /// How many the batch had before.
  private var first = 0
  private(set) var cells: ContiguousArray<ValueCell> = []

  /// Below this length, making a text anew is as quick as a look-up.
  private static let shortest = 16

  /// Forgets those of the block before; the batch has `count` by now.
  mutating func start(after count: Int) {
    first = count
    cells.removeAll(keepingCapacity: true)
  }

  /// Adds the long ones of a column's distinct values, if each is shared by four cells and more on
  /// average, and says in the cells where they are.
  mutating func note(_ distinct: UnsafeMutableBufferPointer<ValueCell>, of count: Int) {
    guard distinct.count <= count / 4 else { return }
    for index in distinct.indices where distinct[index].length >= SharedTexts.shortest {
      guard let number = UInt16(exactly: first + cells.count + 1) else { return }
      cells.append(distinct[index])
      distinct[index].shared = number
    }
  }
}
