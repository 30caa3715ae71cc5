import AnnalsModel
import AnnalsState

extension RowOrder {
  /// A row with its word by one key.
  private typealias Entry = (word: UInt64, index: Int)

  /// The rows in order, after offset and limit.
  ///
  /// O(n) if words distinguish the rows, otherwise O(n log n); sixteen bytes per row. With a limit,
  /// sorts only the rows within it.
  package func sorted(
    _ rows: [Int64], offset: Int = 0, limit: Int? = nil
  ) throws(StateFault) -> [Int64] {
    guard limit != 0, offset < rows.count else { return [] }
    var entries: ContiguousArray<Entry> = []
    let (sum, overflows) = (limit ?? .max).addingReportingOverflow(offset)
    let most = overflows ? Int.max : sum
    if most < rows.count / 4 {
      entries = try first(most, of: rows)
    } else {
      entries.reserveCapacity(rows.count)
      for row in rows { entries.append((0, Int(row))) }
      try load(&entries, entries.indices, key: 0, depth: 0)
      try sort(&entries, entries.indices, key: 0, depth: 0)
    }
    var result: [Int64] = []
    let end = min(entries.count, most)
    result.reserveCapacity(max(0, end - offset))
    for index in min(offset, end)..<end { result.append(Int64(entries[index].index)) }
    return result
  }

  /// The rows in order, each with its word.
  package func entries(
    of rows: [Int64]
  ) throws(StateFault) -> ContiguousArray<(word: UInt64, row: Int64)> {
    if let records { return try recordEntries(of: rows, by: records) }
    let sorted = try sorted(rows)
    var words: ContiguousArray<Entry> = []
    words.reserveCapacity(sorted.count)
    for row in sorted { words.append((0, Int(row))) }
    try load(&words, words.indices, key: 0, depth: 0)
    return ContiguousArray(words.lazy.map { ($0.word, Int64($0.index)) })
  }

  /// The first rows in order. Holds twice as many as wanted.
  private func first(
    _ most: Int, of rows: [Int64]
  ) throws(StateFault) -> ContiguousArray<Entry> {
    var kept: ContiguousArray<Entry> = []
    var batch: ContiguousArray<Entry> = []
    var bound = UInt64.max
    for start in stride(from: 0, to: rows.count, by: 4_096) {
      batch.removeAll(keepingCapacity: true)
      for row in rows[start..<min(rows.count, start + 4_096)] { batch.append((0, Int(row))) }
      try load(&batch, batch.indices, key: 0, depth: 0)
      for entry in batch where entry.word <= bound { kept.append(entry) }
      guard kept.count > 2 * most + 64 else { continue }
      try sort(&kept, kept.indices, key: 0, depth: 0)
      kept.removeLast(kept.count - most)
      // Words are those of the first key again.
      try load(&kept, kept.indices, key: 0, depth: 0)
      if let last = kept.last { bound = last.word }
    }
    try sort(&kept, kept.indices, key: 0, depth: 0)
    return kept
  }

  /// Sets the words of entries to those of a key.
  private func load(
    _ entries: inout ContiguousArray<Entry>, _ range: Range<Int>, key: Int, depth: Int
  ) throws(StateFault) {
    guard key < keys.count, let table else { return }
    let key = keys[key]
    var block = RowBlock.none
    for index in range {
      let row = Int64(entries[index].index)
      let values = block.values(of: row, in: table)
      entries[index].word = try key.word(row, values, depth: depth, bytes)
    }
    withExtendedLifetime(block) {}
  }

  /// Sorts entries with the same preceding keys by the words of a key at a depth. Overwrites words.
  private func sort(
    _ entries: inout ContiguousArray<Entry>, _ range: Range<Int>, key: Int, depth: Int
  ) throws(StateFault) {
    guard range.count > 1 else { return }
    guard key < keys.count else { return sortTies(&entries, range) }
    sortWords(&entries, range)
    var start = range.lowerBound
    while start < range.upperBound {
      let word = entries[start].word
      var end = start + 1
      while end < range.upperBound, entries[end].word == word { end += 1 }
      defer { start = end }
      guard end - start > 1 else { continue }
      if keys[key].isExact(word) {
        try load(&entries, start..<end, key: key + 1, depth: 0)
        try sort(&entries, start..<end, key: key + 1, depth: 0)
      } else if end - start > 8, keys[key].isDeepened(word, at: depth) {
        try load(&entries, start..<end, key: key, depth: depth + 1)
        try sort(&entries, start..<end, key: key, depth: depth + 1)
      } else {
        try StateFault.translating {
          try entries[start..<end].sort {
            try outcome(Int64($0.index), Int64($1.index), from: key) == .less
          }
        }
      }
    }
  }

  private func sortTies(_ entries: inout ContiguousArray<Entry>, _ range: Range<Int>) {
    if areTiesDescending {
      entries[range].sort { $0.index > $1.index }
    } else {
      entries[range].sort { $0.index < $1.index }
    }
  }

  private func sortWords(_ entries: inout ContiguousArray<Entry>, _ range: Range<Int>) {
    if range.count < 512 {
      entries[range].sort { $0.word < $1.word }
    } else if range == entries.indices {
      radixSort(&entries)
    } else {
      var part = ContiguousArray(entries[range])
      radixSort(&part)
      entries.replaceSubrange(range, with: part)
    }
  }
}

extension StateFault {
  /// Runs `body`; what it throws gets back the type that sorting loses.
  @inline(__always)
  static func translating(_ body: () throws -> Void) throws(StateFault) {
    do {
      try body()
    } catch {
      throw error as? StateFault ?? .interrupted(error)
    }
  }
}
