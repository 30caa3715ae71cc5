import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Testing

/// Indexes that follow when somebody reads one, and the sort that builds them.
@Suite struct DeferredIndexTests {
  @Test(arguments: [1, 2, 3] as [UInt64])
  func `deferred indexes are in order when they are read, and after more changes`(
    seed: UInt64
  ) throws {
    var random = SeededRandom(seed: seed)
    var model = OrderedModel()
    model.domain = 300
    var kept: [OrderedModel] = []
    for step in 0..<12 {
      for _ in 0..<random.below(60) { try model.change(using: &random) }
      model.state.deferIndexes()
      if step % 3 == 0 { kept.append(model) }
      // Without a read of each, changes in place would have nothing to forget.
      for shape in OrderedModel.shapes where random.below(2) == 0 {
        _ = try model.state.index(1, shape.number)
      }
      for _ in 0..<random.below(4) { try model.change(using: &random) }
      if step % 4 == 1 { try OrderedIndexTests.expectOrder(model, "seed \(seed), step \(step)") }
    }
    #expect(try model.state.checkUniqueness() == [])
    try OrderedIndexTests.expectOrder(model, "seed \(seed)")
    for model in kept { try OrderedIndexTests.expectOrder(model, "seed \(seed), kept") }
  }

  @Test(arguments: [1, 2, 31, 33, 300, 5000])
  func `a radix sort is stable and agrees with comparing`(count: Int) {
    var random = SeededRandom(seed: UInt64(count))
    let words: [(String, (Int) -> UInt64)] = [
      ("any", { _ in random.next() }),
      ("few", { _ in UInt64(random.below(3)) }),
      ("rising", { UInt64($0) << 40 }),
      ("falling", { UInt64(count - $0) }),
      ("near each other, with one far away", { $0 == 7 ? .max : 1 << 50 + random.next() >> 40 }),
      ("equal but for the last bits", { _ in .max - UInt64(random.below(1 << 12)) }),
    ]
    for (name, word) in words {
      let before = (0..<count).map { (word: word($0), index: $0) }
      var sorted = ContiguousArray(before)
      radixSort(&sorted)
      let expected = before.sorted { ($0.word, $0.index) < ($1.word, $1.index) }
      #expect(sorted.elementsEqual(expected) { $0 == $1 }, "\(count) words, \(name)")
    }
  }
}
