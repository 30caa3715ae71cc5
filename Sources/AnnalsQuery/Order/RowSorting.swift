extension [Int64] {
  /// Sorts rows, each of which is there once. O(n + greatest / 64) where they are dense.
  mutating func sortRows() {
    // A bit for each row, where that is less work than comparing.
    guard count > 64, let most = self.max(), self.allSatisfy({ $0 >= 0 }), most / 64 < 8 * count
    else { return sort() }
    var words = [UInt64](repeating: 0, count: Int(most / 64) + 1)
    for row in self { words[Int(row >> 6)] |= 1 << UInt64(row & 63) }
    var place = 0
    for (index, word) in words.enumerated() {
      var word = word
      while word != 0 {
        self[place] = Int64(index << 6 + word.trailingZeroBitCount)
        place += 1
        word &= word - 1
      }
    }
    // A row that was there twice.
    removeLast(count - place)
  }
}
