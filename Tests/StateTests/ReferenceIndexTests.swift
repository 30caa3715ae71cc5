import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Testing

/// Reference indexes against reading every object.
@Suite struct ReferenceIndexTests {
  private static let entity = ModelSchema.first

  private struct Model {
    var state = State(schema: ModelSchema.make())
    /// The rows that each object refers to, by relationship.
    var targets: [Int64: [PropertyNumber: [Int64]]] = [:]

    mutating func change(_ random: inout SeededRandom) throws {
      let row = Int64(random.below(Int(state.nextRow(of: entity))) + 1)
      let property = random.below(2) == 0 ? ModelSchema.toOne : ModelSchema.toMany
      switch (targets[row], random.below(10)) {
      case (nil, 0) where row < state.nextRow(of: entity):
        try state.insertRow(entity, row: row)
        targets[row] = [:]
      case (nil, _):
        let row = try state.insertRow(entity)
        targets[row] = [:]
        try set(row, ModelSchema.toOne, &random)
        try set(row, ModelSchema.toMany, &random)
      case (_?, 0):
        try state.deleteRow(entity, row)
        targets[row] = nil
      case (_?, _): try set(row, property, &random)
      }
    }

    private mutating func set(
      _ row: Int64, _ property: PropertyNumber, _ random: inout SeededRandom
    ) throws {
      var value = ModelSchema.value(of: property, using: &random)
      // The same object twice counts once.
      if case .objects(let list) = value, random.below(4) == 0 { value = .objects(list + list) }
      try state.set(entity, row, property, to: value)
      targets[row]?[property] = value.targets.map(\.row)
    }

    func expectReferrers(_ comment: Comment) throws {
      for property in [ModelSchema.toOne, ModelSchema.toMany] {
        let view = try #require(try state.index(entity, property))
        for target in Int64(1)...52 {
          let wanted = targets.filter { $0.value[property]?.contains(target) ?? false }
          #expect(try view.referrers(to: target) == wanted.keys.sorted(), comment)
          #expect(try view.countOfReferrers(to: target) == wanted.count, comment)
          let found = try state.referrers(to: target, from: entity, by: property)
          #expect(found == wanted.keys.sorted(), comment)
          let count = try state.countOfReferrers(to: target, from: entity, by: property)
          #expect(count == wanted.count, comment)
        }
      }
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `random references find what reading every object finds`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var model = Model()
    let chunks = MemoryChunks()
    for round in 1...120 {
      for _ in 0..<[1, 1, 2, 40][random.below(4)] { try model.change(&random) }
      let before = model.state
      switch random.below(4) {
      case 0: _ = try model.state.checkUniqueness()
      case 1:
        let directory = try model.state.save(to: chunks, full: random.below(2) == 0)
        model.state = try State(directory: directory, source: chunks)
      default: break
      }
      if round % 10 == 0 {
        try model.expectReferrers("seed \(seed), round \(round)")
        #expect(try model.state.indexViolations() == [])
        #expect(try before.indexViolations() == [])
      }
    }
    #expect(model.targets.count > 100)
  }

  @Test func `an object with many references changes one entry of the index`() throws {
    var state = State(schema: ModelSchema.make())
    let list = (1...5_000).map { ObjectReference(entity: ModelSchema.second, row: $0) }
    let row = try state.insertRow(Self.entity)
    try state.set(Self.entity, row, ModelSchema.toMany, to: .objects(list))
    _ = try state.checkUniqueness()
    let before = state
    try state.set(Self.entity, row, ModelSchema.toMany, to: .objects(Array(list.dropLast())))
    _ = try state.checkUniqueness()
    let now = try #require(try state.index(Self.entity, ModelSchema.toMany))
    let then = try #require(try before.index(Self.entity, ModelSchema.toMany))
    #expect((now.count, then.count) == (4_999, 5_000))
    #expect(try now.referrers(to: 5_000) == [])
    #expect(try then.referrers(to: 5_000) == [row])
    #expect(try state.indexViolations() == [])
  }

  @Test func `what many refer to is found in all leaves that it takes`() throws {
    var state = State(schema: ModelSchema.make())
    // The last one is the greatest row there can be.
    let counts =
      [(1, 700), (2, 9_000), (3, 1), (5, 255), (6, 257), (1 << 40, 2_000)]
      as [(target: Int64, count: Int)]
    var wanted: [Int64: [Int64]] = [:]
    for place in 0..<9_000 {
      for (target, count) in counts where place < count {
        let row = try state.insertRow(Self.entity)
        let reference = ObjectReference(entity: ModelSchema.second, row: target)
        try state.set(Self.entity, row, ModelSchema.toOne, to: .object(reference))
        wanted[target, default: []].append(row)
      }
    }
    _ = try state.checkUniqueness()
    for target in [1, 2, 3, 4, 5, 6, 7, (1 << 40) - 1, 1 << 40] as [Int64] {
      let found = try state.referrers(to: target, from: Self.entity, by: ModelSchema.toOne)
      #expect(found == wanted[target] ?? [], "to \(target)")
      let count = try state.countOfReferrers(to: target, from: Self.entity, by: ModelSchema.toOne)
      #expect(count == wanted[target]?.count ?? 0, "to \(target)")
    }
  }

  @Test func `a relationship without rule and inverse has no index`() throws {
    var schema = ModelSchema.make()
    schema.entities[0].relationships[0].deleteRule = .keep
    schema.entities[0].relationships[1].inverseName = nil
    let state = State(schema: schema)
    #expect(try state.index(Self.entity, ModelSchema.toOne) == nil)
    #expect(try state.index(Self.entity, ModelSchema.toMany) == nil)
    #expect(try state.referrers(to: 1, from: Self.entity, by: ModelSchema.toOne) == nil)
    #expect(try state.countOfReferrers(to: 1, from: Self.entity, by: ModelSchema.toOne) == nil)
  }
}
