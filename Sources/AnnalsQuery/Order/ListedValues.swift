import AnnalsModel
import AnnalsState

/// The values that come first in the order of a sort key, as its `order` lists them.
///
/// The word of a listed value is its place from 1, in the room below all other words but that of no
/// value.
struct ListedValues: Sendable {
  private struct Entry {
    /// The value's word by an ascending key.
    var word: UInt64
    var place: UInt64
    var cell: ValueCell
  }

  /// By rising words, then places.
  private let entries: ContiguousArray<Entry>
  private let arena: ContiguousArray<UInt8>
  /// The place of no value; nil if that is not listed.
  let placeOfNil: UInt64?

  /// Lists values; `word` gives their words by an ascending key.
  init(
    _ values: [Value],
    _ word: (ValueCell, UnsafeRawBufferPointer) throws(StateFault) -> UInt64
  ) throws(StateFault) {
    var entries: ContiguousArray<Entry> = []
    var arena: ContiguousArray<UInt8> = []
    for (index, value) in values.enumerated() where !value.isNull {
      let cell = ValueCell(value, appendingTo: &arena)
      entries.append(Entry(word: 0, place: UInt64(index) + 1, cell: cell))
    }
    for index in entries.indices {
      let cell = entries[index].cell
      entries[index].word = try arena.withBytes { (bytes) throws(StateFault) in
        try word(cell, bytes)
      }
    }
    entries.sort { $0.word != $1.word ? $0.word < $1.word : $0.place < $1.place }
    self.entries = entries
    self.arena = arena
    placeOfNil = values.firstIndex { $0.isNull }.map { UInt64($0) + 1 }
  }

  /// Whether a word is the place of a listed value, or that of no value where that comes first.
  @inline(__always)
  static func isPlace(_ word: UInt64) -> Bool { word < 1 << 60 }

  /// The place of the first listed value that equals one with this word; nil if none does.
  /// `isEqual` compares where words do not decide.
  func place(
    _ word: UInt64,
    _ isEqual: (ValueCell, UnsafeRawBufferPointer) throws(StateFault) -> Bool
  ) throws(StateFault) -> UInt64? {
    var index = entries.rank { $0.word < word }
    while index < entries.count, entries[index].word == word {
      let entry = entries[index]
      if KeyWord.isExact(word) { return entry.place }
      let equals = try arena.withBytes { (bytes) throws(StateFault) in
        try isEqual(entry.cell, bytes)
      }
      if equals { return entry.place }
      index += 1
    }
    return nil
  }
}
