import Annals
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// Random writes on states of random age, merged by random policies, beside another process that
/// writes too; compared with dictionaries.
@Suite struct MergeModelTests {
  @Test(arguments: 1...12) func mergesAreThoseOfTheNaiveModel(_ seed: Int) throws {
    var run = try MergeRun(seed: UInt64(seed), hasRules: seed.isMultiple(of: 2))
    for _ in 0..<60 { try run.step() }
    try run.end()
  }
}

private struct MergeRun {
  private let file: StoreLocation
  private let store: Store
  private let other: Store
  private var random: SeededRandom
  /// The worlds after each transaction, by number.
  private var worlds: [Int64: NaiveWorld] = [0: NaiveWorld()]
  private var tokens: [Token] = []
  private var head: Int64 = 0
  private var nextName = 0

  /// With `hasRules` the store has delete rules, which no object is under: merges look for their
  /// effects all the same.
  init(seed: UInt64, hasRules: Bool) throws {
    file = memoryFile()
    store = try noteStore(file, seed: seed)
    if hasRules {
      try store.require(
        Schema { Entity("Stamp") { Relationship("note", to: "Note", onDelete: .cascade) } })
    }
    other = try noteStore(file, seed: seed + 100)
    random = SeededRandom(seed: seed)
    head = store.token.number
    worlds[head] = NaiveWorld()
    tokens = [store.token]
  }

  private var world: NaiveWorld { worlds[head] ?? NaiveWorld() }

  mutating func step() throws {
    if random.chance(50) { return try writeAsOther() }
    // Mostly a young state, at times any.
    let token = tokens[
      random.chance(80) ? max(0, tokens.count - 1 - random.below(6)) : random.below(tokens.count)]
    let policy = MergePolicy.allCases[random.below(5)]
    let base = worlds[token.number] ?? NaiveWorld()
    var edits = MergeEdits(world: base, random: random, nextName: nextName)
    let stored = world
    let place = "\(policy) of \(head) on \(token.number)"
    do {
      let commit = try store.commit(author: "me", basedOn: token, merging: policy) { tx in
        try edits.compare(with: tx, place)
        try edits.run(on: tx, besides: stored, count: 1 + edits.random.below(4))
        try edits.compare(with: tx, place)
      }
      let merged = NaiveWorld.merge(policy, base: base, own: edits.world, stored: stored)
      guard let merged, !merged.hasBadReference(besides: stored, base) else {
        throw Mismatch("\(place): not refused")
      }
      try demand(
        commit.token.number == head + (merged == stored ? 0 : 1), "\(place): \(commit.token)")
      try compare(commit.conflicts, naiveConflicts(policy, token, edits.world), place)
      note(commit.token, merged)
      try compare(store.snapshot(), merged, place)
    } catch let error as AnnalsError {
      let merged = NaiveWorld.merge(policy, base: base, own: edits.world, stored: stored)
      let isBad = merged?.hasBadReference(besides: stored, base) ?? false
      try demand(
        error.code == (merged == nil ? .conflict : .invalidChange) && (merged == nil || isBad),
        "\(place): \(error)")
      if merged == nil {
        try compare(error.conflicts, naiveConflicts(policy, token, edits.world), place)
      }
      try compare(store.snapshot(), stored, "\(place), refused")
    }
    random = edits.random
    nextName = edits.nextName
  }

  private mutating func writeAsOther() throws {
    var edits = MergeEdits(world: world, random: random, nextName: nextName)
    var token: Token?
    do {
      token = try other.commit(author: "them") { tx in
        try edits.run(on: tx, besides: world, count: 1 + edits.random.below(3))
      }.token
    } catch let error as AnnalsError where error.code == .invalidChange {
      // A reference to what the same transaction deletes.
    }
    random = edits.random
    nextName = edits.nextName
    if let token { note(token, edits.world) }
  }

  private mutating func note(_ token: Token, _ world: NaiveWorld) {
    if token.number > head { tokens.append(token) }
    head = token.number
    worlds[head] = world
  }

  /// Every state of the past is as it was, also by what the records say was before.
  mutating func end() throws {
    try store.refresh()
    let findings = try store.verify().filter { $0.severity != .note }
    try demand(findings.isEmpty, "\(findings)")
    for token in tokens {
      let past = try store.snapshot(at: token)
      try compare(past, worlds[token.number] ?? NaiveWorld(), "as of \(token.number)")
    }
    try other.refresh()
    try compare(other.snapshot(), world, "the other process")
    try store.close()
    try other.close()
    let reopened = try noteStore(file, seed: 999)
    try compare(reopened.snapshot(), world, "after reopening")
  }

  /// What a merge of this world, based on a token, has to tell.
  private func naiveConflicts(
    _ policy: MergePolicy, _ token: Token, _ own: NaiveWorld
  ) -> [NaiveConflict] {
    NaiveConflict.all(
      policy, own: own, worlds: (token.number...head).map { worlds[$0] ?? NaiveWorld() },
      first: token.number)
  }

  private func compare(
    _ found: [PropertyConflict], _ wanted: [NaiveConflict], _ place: String
  ) throws {
    let (told, naive) = (found.map { NaiveConflict($0).text }, wanted.map(\.text))
    let different = Set(told).symmetricDifference(naive).sorted()
    try demand(
      told.sorted() == naive.sorted(), "\(place): \(different), \(told.count) of \(naive.count)")
  }

  private func compare(_ snapshot: Snapshot, _ world: NaiveWorld, _ place: String) throws {
    let objects = try snapshot.objects(of: "Note") + snapshot.objects(of: "Folder")
    if let text = NaiveWorld.difference(NaiveWorld.visible(in: objects), world.visible) {
      throw Mismatch("\(place): \(text)")
    }
  }
}

/// Random edits of a store and of a world.
private struct MergeEdits {
  var world: NaiveWorld
  var random: SeededRandom
  var nextName: Int
  private let folders: EntityNumber = 2
  private let notes: EntityNumber = 1

  init(world: NaiveWorld, random: SeededRandom, nextName: Int) {
    self.world = world
    self.random = random
    self.nextName = nextName
  }

  func compare(with tx: WriteTransaction, _ place: String) throws {
    let objects = try tx.objects(of: "Note") + tx.objects(of: "Folder")
    if let text = NaiveWorld.difference(NaiveWorld.visible(in: objects), world.visible) {
      throw Mismatch("\(place): the closure reads otherwise: \(text)")
    }
  }

  mutating func run(on tx: WriteTransaction, besides stored: NaiveWorld, count: Int) throws {
    for _ in 0..<count {
      let all = world.objects.keys.sorted()
      if all.isEmpty || random.chance(25) {
        try insert(tx, stored)
      } else {
        try edit(all[random.below(all.count)], tx)
      }
    }
  }

  private mutating func insert(_ tx: WriteTransaction, _ stored: NaiveWorld) throws {
    nextName += 1
    let isNote = random.chance(70)
    var values: NaiveWorld.Row =
      isNote ? ["id": .string("n\(nextName)")] : ["name": .string("f\(nextName)")]
    if isNote, random.chance(50) { values["text"] = .string(text()) }
    let id = try tx.insert(isNote ? "Note" : "Folder", values)
    let object = ObjectReference(id)
    try demand(stored.objects[object] == nil, "row \(id.row) was given before")
    world.objects[object] = values
  }

  private mutating func edit(_ object: ObjectReference, _ tx: WriteTransaction) throws {
    let id = ObjectID(store: tx.reader.store, entity: object.entity, row: object.row)
    if random.chance(15) {
      world.objects[object] = nil
      return try tx.delete(id)
    }
    let (name, value) = object.entity == notes ? noteValue() : ("notes", list())
    if value.isNull {
      world.objects[object]?.removeValue(forKey: name)
    } else {
      world.objects[object]?[name] = value
    }
    try tx.update(id, [name: value])
  }

  private mutating func noteValue() -> (String, Value) {
    switch random.below(4) {
    case 0: return ("text", random.chance(20) ? .null : .string(text()))
    case 1: return ("count", .int(Int64(random.below(3))))
    case 2: return ("text", .string(text()))
    default:
      let found = world.objects.keys.filter { $0.entity == folders }.sorted()
      return ("folder", found.isEmpty ? .null : .object(found[random.below(found.count)]))
    }
  }

  private mutating func list() -> Value {
    let found = world.objects.keys.filter { $0.entity == notes }.sorted()
    // Rising, since a reference that leads nowhere may stay but not move.
    let list = found.filter { _ in random.chance(30) }
    return list.isEmpty ? .null : .objects(list)
  }

  /// Few different ones, so that both sides come to the same at times; some are large values.
  private mutating func text() -> String {
    let letter = ["a", "b", "c"][random.below(3)]
    return random.chance(10) ? String(repeating: letter, count: 5_000) : letter
  }
}
