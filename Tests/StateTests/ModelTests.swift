import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Testing

/// Random transactions on a state and on dictionaries, compared; snapshots are compared long after
/// they were taken; net changes are applied to other states both ways.
@Suite struct ModelTests {
  @Test(arguments: isLong ? [1, 2, 3, 4] : [1, 2] as [UInt64])
  func `random transactions agree with dictionaries`(seed: UInt64) throws {
    var run = ModelRun(seed: seed, isUnique: false)
    for step in 0..<60 {
      try run.transact("seed \(seed), step \(step)")
    }
    try run.finish("seed \(seed)")
  }

  @Test(arguments: isLong ? [11, 12, 13, 14] : [11, 12] as [UInt64])
  func `states reloaded from checkpoints on the way agree`(seed: UInt64) throws {
    var run = ModelRun(seed: seed, isUnique: false)
    let chunks = MemoryChunks()
    for step in 0..<40 {
      try run.transact("seed \(seed), step \(step)")
      if step % 7 == 3 { try run.checkpoint(chunks, "seed \(seed), step \(step)") }
    }
    try run.finish("seed \(seed)")
  }
}

/// A state, its model, and what was kept of both on the way.
struct ModelRun {
  var random: SeededRandom
  var state: State
  var model = NaiveState()
  var kept: [(State, NaiveState)] = []
  var history: [ChangeBatch] = []
  /// Follows by replay alone.
  var follower: State

  init(seed: UInt64, isUnique: Bool) {
    random = SeededRandom(seed: seed)
    state = State(schema: ModelSchema.make(isUnique: isUnique))
    follower = state
  }

  /// One transaction of random changes, its net change replayed on the follower.
  mutating func transact(_ comment: Comment) throws {
    let before = state
    var touched: Set<NaiveState.Key> = []
    let bulk = random.below(20) == 0 ? 300 + random.below(1500) : 1 + random.below(12)
    for _ in 0..<bulk { try change(&touched, isBulk: bulk > 100) }
    var batch = ChangeBatch()
    var changes = NetChanges(from: before, to: state)
    for key in touched.sorted(by: { ($0.entity, $0.row) < ($1.entity, $1.row) }) {
      _ = try changes.append(ObjectReference(entity: key.entity, row: key.row), to: &batch)
    }
    var back = state
    try back.apply(batch, changes: 0..<batch.changes.count, direction: .backward)
    if let last = kept.last, random.below(3) == 0 { try last.1.expectEqual(last.0, comment) }
    try follower.apply(batch)
    history.append(batch)
    if random.below(6) == 0 {
      try model.expectEqual(state, comment)
      try model.expectEqual(follower, comment)
      kept.append((state, model))
      #expect(try State.firstDifference(state, follower) == nil, comment)
      #expect(try State.firstDifference(back, before) == nil, comment)
      #expect(try state.invariantViolations() == [], comment)
    }
  }

  private mutating func change(_ touched: inout Set<NaiveState.Key>, isBulk: Bool) throws {
    let entity: EntityNumber = isBulk || random.below(2) == 0 ? 1 : 2
    let live =
      model.live.isEmpty || isBulk ? nil : model.live[random.below(model.live.count)]
    switch random.below(10) {
    case 0..<4 where !isBulk, _ where live == nil:
      let row = try state.insertRow(entity)
      #expect(row == model.nextRow[entity])
      model.nextRow[entity] = row + 1
      try fill(.init(entity: entity, row: row), &touched)
    case 4..<8:
      guard let live else { return }
      touched.insert(live)
      for _ in 0...random.below(3) { try set(live) }
    case 8:
      guard let live else { return }
      touched.insert(live)
      try state.deleteRow(live.entity, live.row)
      model.remove(live)
    default:
      // Revive some row that was given before.
      let next = model.nextRow[entity] ?? 1
      guard next > 1 else { return }
      let key = NaiveState.Key(entity: entity, row: Int64(random.below(Int(next - 1)) + 1))
      guard model.objects[key] == nil else { return }
      try state.insertRow(entity, row: key.row)
      try fill(key, &touched)
    }
  }

  private mutating func fill(
    _ key: NaiveState.Key, _ touched: inout Set<NaiveState.Key>
  ) throws {
    touched.insert(key)
    model.insert(key)
    let count = random.below(4) == 0 ? 16 : random.below(5)
    for _ in 0..<count { try set(key) }
  }

  private mutating func set(_ key: NaiveState.Key) throws {
    let property = PropertyNumber(random.below(16) + 1)
    let value = ModelSchema.value(of: property, using: &random)
    try state.set(key.entity, key.row, property, to: value)
    model.objects[key]?[property] = value.isNull ? Value?.none : value
  }

  /// Saves the state and goes on with what is loaded from there, or with the one that was saved.
  mutating func checkpoint(_ chunks: MemoryChunks, _ comment: Comment) throws {
    var saved = state
    let isFull = random.below(4) == 0
    let target = isFull ? MemoryChunks() : chunks
    let directory = try saved.save(to: target, full: isFull)
    let loaded = try State(directory: directory, source: target)
    try model.expectEqual(loaded, comment)
    try model.expectEqual(saved, comment)
    if isFull { return }
    let before = chunks.chunkCount
    _ = try saved.save(to: chunks)
    #expect(chunks.chunkCount == before, "nothing changed, so nothing is written")
    state = random.below(2) == 0 ? saved : try State(directory: directory, source: chunks)
    if random.below(2) == 0 { follower = try State(directory: directory, source: chunks) }
  }

  /// Compares what was kept, and takes everything back from the end.
  mutating func finish(_ comment: Comment) throws {
    for (state, model) in kept { try model.expectEqual(state, comment) }
    try model.expectEqual(follower, comment)
    for batch in history.reversed() {
      try follower.apply(batch, changes: 0..<batch.changes.count, direction: .backward)
    }
    #expect(follower.count(of: 1) == 0)
    #expect(follower.count(of: 2) == 0)
    #expect(try follower.invariantViolations() == [], comment)
    for batch in history { try follower.apply(batch) }
    #expect(try follower.invariantViolations() == [], comment)
    try model.expectEqual(follower, comment)
  }
}
