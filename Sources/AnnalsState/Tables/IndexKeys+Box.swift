import AnnalsFormat
import AnnalsModel

// The keys of box indexes: the Morton code of what the columns have, and the row.

extension IndexKeys {
  /// Appends the key of a row that lives; nothing if it lacks a value.
  func appendBoxKey(
    _ row: Int64, in leaves: ContiguousArray<Leaf?>, _ slot: Int,
    to bytes: inout ContiguousArray<UInt8>
  ) -> KeyPresence {
    var words = SIMD8<UInt64>()
    for index in columns.indices {
      var word = columns[index].nullBits
      if let leaf = leaves[index] {
        let cell = leaf.cell(slot)
        if !cell.isNull { word = cell.orderedBits }
      }
      guard let word else { return .none }
      words[index] = word
    }
    MortonCoder.of(columns.count).append(words, to: &bytes)
    bytes.append(row: row)
    return .key
  }
}
