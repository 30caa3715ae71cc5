import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Testing

/// Indexes that several states have in common. A state changes in place what it alone has, so what
/// is tested is that nobody else sees it.
@Suite struct SharedIndexTests {
  @Test(arguments: isLong ? [1, 2, 3, 4] : [1, 2] as [UInt64])
  func `two states follow the same small changes, and copies stay as they were`(
    seed: UInt64
  ) throws {
    var random = SeededRandom(seed: seed)
    var writer = OrderedModel()
    writer.domain = seed % 2 == 0 ? 5000 : 60
    for _ in 0..<650 { try writer.insert(using: &random) }
    #expect(try writer.state.checkUniqueness() == [])
    var follower = writer
    var kept: [(model: OrderedModel, views: [IndexView])] = []
    let chunks = MemoryChunks()
    for step in 0..<300 {
      let count = random.below(10) == 0 ? 3 : 1
      var same = SeededRandom(seed: random.next())
      var again = same
      for _ in 0..<count { try writer.change(using: &same) }
      #expect(try writer.state.checkUniqueness() == [], "seed \(seed), step \(step)")
      for _ in 0..<count { try follower.change(using: &again) }
      try follower.state.updateIndexes()
      switch random.below(70) {
      case 0: kept.append((writer, try SharedIndexTests.views(in: writer, &random)))
      case 1: kept.append((follower, try SharedIndexTests.views(in: follower, &random)))
      case 2: follower = writer
      case 3:
        let directory = try writer.state.save(to: chunks, full: chunks.chunkCount == 0)
        if random.below(2) == 0 {
          follower.state = try State(directory: directory, source: chunks)
        }
      case 4..<8 where !kept.isEmpty: kept.remove(at: random.below(kept.count))
      default: break
      }
    }
    try OrderedIndexTests.expectOrder(writer, "seed \(seed), writer")
    try OrderedIndexTests.expectOrder(follower, "seed \(seed), follower")
    for (number, (model, views)) in kept.enumerated() {
      let comment: Comment = "seed \(seed), kept \(number)"
      try OrderedIndexTests.expectOrder(model, comment)
      for view in views {
        #expect(
          try view.checkedRows(comment) == NaiveOrder(view.shape).rows(model.objects), comment)
      }
    }
  }

  /// Each ordered index, of which a row was read.
  private static func views(
    in model: OrderedModel, _ random: inout SeededRandom
  ) throws -> [IndexView] {
    try OrderedModel.shapes.filter { $0.kind.givesOrder }.map { shape in
      let view = try #require(try model.state.index(1, shape.number))
      _ = try view.row(at: random.below(view.count + 1))
      return view
    }
  }

  @Test(arguments: [false, true])
  func `an index shrinks to its last entries and grows again`(isText: Bool) throws {
    var random = SeededRandom(seed: 5)
    var model = OrderedModel()
    let property = isText ? OrderedModel.text : OrderedModel.date
    func insert() throws {
      let number = random.below(1 << 30)
      let row = try model.state.insertRow(1)
      model.objects[row] = [:]
      let text = String(repeating: "x", count: number % 7) + "\(number)"
      try model.set(
        row, property,
        to: isText ? .string(text) : .date(Timestamp(microseconds: Int64(number))))
      #expect(try model.state.checkUniqueness() == [])
    }
    for round in 0..<2 {
      for _ in 0..<600 { try insert() }
      try OrderedIndexTests.expectOrder(model, "round \(round), grown")
      let copy = model
      for row in model.objects.keys.sorted().shuffled(using: &random).dropLast(2 * round) {
        try model.state.deleteRow(1, row)
        model.objects[row] = nil
        #expect(try model.state.checkUniqueness() == [])
      }
      try OrderedIndexTests.expectOrder(model, "round \(round), shrunk")
      try OrderedIndexTests.expectOrder(copy, "round \(round), kept")
    }
  }

  @Test func `a unique rule holds for states that change in place`() throws {
    var state = State(schema: Schema(entities: [UniquenessTests.entity()]))
    var random = SeededRandom(seed: 6)
    var names: [Int64: String] = [:]
    for _ in 0..<1200 {
      let row = try state.insertRow(1)
      names[row] = "\(random.below(1 << 40)) \(row)"
      try state.set(1, row, 1, to: .string(names[row] ?? ""))
    }
    #expect(try state.checkUniqueness() == [])
    var follower = state
    for _ in 0..<1500 {
      let row = Int64(random.below(names.count) + 1)
      let other = Int64(random.below(names.count) + 1)
      // A name that another object has is refused by both, and put right again.
      let isTaken = random.below(4) == 0 && row != other
      let name = isTaken ? names[other] ?? "" : "\(random.below(1 << 40)) \(row)"
      try state.set(1, row, 1, to: .string(name))
      let found = try state.checkUniqueness()
      #expect(found.count == (isTaken ? 1 : 0))
      if isTaken {
        #expect(Set([found[0].row, found[0].otherRow]) == [row, other])
        try state.set(1, row, 1, to: .string(names[row] ?? ""))
        #expect(try state.checkUniqueness() == [])
        continue
      }
      names[row] = name
      try follower.set(1, row, 1, to: .string(name))
      try follower.updateIndexes()
    }
    for state in [state, follower] {
      #expect(try state.indexViolations() == [])
      for (row, name) in names {
        #expect(try state.lookup(1, rule: 1, value: .string(name)) == row)
      }
    }
  }
}
