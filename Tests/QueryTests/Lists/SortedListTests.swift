import AnnalsQuery
import AnnalsState
import AnnalsTestSupport
import Testing

/// A sorted list is what a sorted array is, and its copies stay as they were.
@Suite struct SortedListTests {
  private struct ByWord: ListOrder {
    func precedes(_ a: ListEntry, _ b: ListEntry) -> Bool {
      a.word != b.word ? a.word < b.word : (a.row, a.part) < (b.row, b.part)
    }
  }

  private static let order = ByWord()

  private static func check(
    _ list: SortedList, _ array: [ListEntry], _ comment: Comment
  ) throws {
    #expect(list.count == array.count, comment)
    #expect(Array(list.entries(in: 0..<list.count)) == array, comment)
    let starts = array.indices.filter { array[$0].beginsSection }
    #expect(list.sectionCount == starts.count, comment)
    for (section, start) in starts.enumerated() {
      #expect(list.start(ofSection: section) == start, comment)
    }
    #expect(list.start(ofSection: starts.count) == array.count, comment)
    var section = -1
    for (position, entry) in array.enumerated() {
      if entry.beginsSection { section += 1 }
      guard position % 37 == 0 || entry.beginsSection else { continue }
      #expect(list[position] == entry, comment)
      #expect(list.section(at: position) == max(0, section), comment)
      #expect(try list.position(of: entry, by: order) == position, comment)
      let absent = ListEntry(word: entry.word, row: entry.row, part: 9)
      #expect(try list.position(of: absent, by: order) == nil, comment)
    }
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `as an array`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    func entry(_ random: inout SeededRandom) -> ListEntry {
      var entry = ListEntry(
        word: UInt64(random.below(3_000)), row: Int64(random.below(1 << 30) + 1),
        part: UInt8(random.below(3)))
      entry.beginsSection = random.chance(10)
      return entry
    }
    var array = (0..<(seed % 3 == 0 ? 0 : random.below(isLong ? 20_000 : 4_000))).map { _ in
      entry(&random)
    }
    .sorted(by: Self.order.precedes)
    var list = SortedList(array)
    var copies: [(SortedList, [ListEntry])] = [(list, array)]
    for round in 0..<24 {
      // Grows, then shrinks to nothing.
      let inserts = round < 10 ? 70 : round < 16 ? 40 : 5
      for _ in 0..<(round < 16 ? 300 : max(300, array.count / 3)) {
        if random.chance(inserts) || array.isEmpty {
          let new = entry(&random)
          var finger = list.finger
          let rank = try finger.find(new, by: Self.order).rank
          #expect(rank == array.firstIndex { Self.order.precedes(new, $0) } ?? array.count)
          list.insert(new, at: rank)
          array.insert(new, at: rank)
        } else if random.chance(20) {
          let position = random.below(array.count)
          array[position].beginsSection.toggle()
          list.setBeginsSection(array[position].beginsSection, at: position)
        } else {
          let position = random.below(array.count)
          list.remove(at: position)
          array.remove(at: position)
        }
      }
      try Self.check(list, array, "seed \(seed), round \(round)")
      if round % 5 == 0 { copies.append((list, array)) }
    }
    while !array.isEmpty {
      list.remove(at: 0)
      array.removeFirst()
    }
    try Self.check(list, array, "seed \(seed), empty")
    for (list, array) in copies { try Self.check(list, array, "seed \(seed), a copy") }
  }

  @Test(arguments: [0, 1, 200, 300, 5_000, 30_000], [1, 2] as [UInt64])
  func `a finger finds what a search finds`(count: Int, seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    // Few words, so that runs of equal ones are longer than a leaf; or nearly all different.
    let words = seed == 1 ? 40 : 100_000
    func entry(_ random: inout SeededRandom) -> ListEntry {
      ListEntry(word: UInt64(random.below(words)), row: Int64(random.below(1 << 20) + 1))
    }
    let array = (0..<count).map { _ in entry(&random) }.sorted(by: Self.order.precedes)
    let list = SortedList(array)
    for length in [1, 3, 40, 900] {
      var finger = list.finger
      for _ in 0..<4 {
        var wanted = (0..<length).map { _ in
          array.isEmpty || random.chance(50) ? entry(&random) : array[random.below(array.count)]
        }
        if random.chance(70) { wanted.sort(by: Self.order.precedes) }
        for entry in wanted {
          let rank = list.rank { Self.order.precedes($0, entry) }
          let found = try finger.find(entry, by: Self.order)
          #expect(found.rank == rank)
          if let there = found.entry { #expect(there == array[rank]) }
        }
      }
    }
  }

  /// Removes some entries of an array and inserts others, few or many and near each other or not.
  private static func edits(
    of array: [ListEntry], _ random: inout SeededRandom
  ) -> (edits: ContiguousArray<EntryEdit>, result: [ListEntry]) {
    let start = random.below(array.count + 1)
    let end = random.chance(50) ? array.count : min(array.count, start + random.below(600))
    let odds = [1, 20, 90, 100][random.below(4)]
    var edits: ContiguousArray<EntryEdit> = []
    var result = Array(array[..<start])
    for position in start...end {
      // Words of entries between two others are anything: the list does not compare them.
      while random.chance(odds / 2) {
        var entry = ListEntry(word: UInt64(position), row: Int64(result.count + 1), part: 4)
        entry.beginsSection = random.chance(10)
        edits.append(EntryEdit(position, entry))
        result.append(entry)
      }
      guard position < end else { break }
      if random.chance(odds) {
        edits.append(EntryEdit(position, nil))
      } else {
        result.append(array[position])
      }
    }
    return (edits, result + array[end...])
  }

  @Test(arguments: 1...16 as ClosedRange<UInt64>)
  func `many edits at once`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var array = (0..<random.below(30_000)).map { ListEntry(word: UInt64($0), row: Int64($0 + 1)) }
    var list = SortedList(array)
    for round in 0..<12 {
      let kept = (list, array)
      let (edits, result) = Self.edits(of: array, &random)
      list.apply(edits)
      array = result
      let comment: Comment = "seed \(seed), round \(round)"
      #expect(list.count == array.count, comment)
      #expect(Array(list.entries(in: 0..<list.count)) == array, comment)
      let starts = array.indices.filter { array[$0].beginsSection }
      #expect(list.sectionCount == starts.count, comment)
      #expect(starts.indices.map { list.start(ofSection: $0) } == starts, comment)
      for position in stride(from: 0, to: array.count, by: 41) {
        #expect(list[position] == array[position], comment)
      }
      #expect(Array(kept.0.entries(in: 0..<kept.0.count)) == kept.1, comment)
    }
  }

  @Test func `a range and a row outside`() throws {
    let array = (0..<1_000).map { ListEntry(word: UInt64($0), row: Int64($0 + 1)) }
    let list = SortedList(array)
    for range in [0..<0, 0..<1, 5..<700, 999..<1_000, 1_000..<1_000] {
      #expect(Array(list.entries(in: range)) == Array(array[range]))
    }
    var finger = SortedList().finger
    #expect(try finger.find(array[0], by: Self.order).rank == 0)
  }
}
