import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// Readers that lag, expire, and are passed by force, against one that misses nothing; and the
/// tombstones that they get, against a list of all deletes.
struct ResyncModelTests {
  @Test(arguments: 0..<24 as Range<UInt64>) func mirrors(seed: UInt64) throws {
    print("seed \(seed)")
    var run = try ResyncRun(seed: seed)
    for _ in 0..<60 { try run.step() }
    try run.finish()
  }
}

private typealias Objects = [ObjectID: [String: Value]]

/// A copy of a store that a consumer makes.
private struct Mirror {
  var objects: Objects = [:]

  mutating func apply(_ transaction: Transaction) {
    for change in transaction.changes {
      if change.kind == .delete {
        objects[change.objectID] = nil
        continue
      }
      for property in change.properties where property.edits == nil {
        objects[change.objectID, default: [:]][property.name] = property.after
      }
      objects[change.objectID] = objects[change.objectID]?.filter { !$1.isNull }
    }
  }

  /// By the rule: what is there is there, all else is gone.
  mutating func apply(_ resync: Resync) throws {
    for entity in resync.snapshot.schema.entities {
      try resync.snapshot.forEachObject(of: entity.name) { object in
        objects[object.objectID] = Mirror.values(of: object)
      }
    }
    for object in objects.keys where try !resync.contains(object) { objects[object] = nil }
  }

  static func values(of object: DynamicObject) -> [String: Value] {
    var values: [String: Value] = [:]
    for name in ["id", "text", "count", "mark"] where !object[name].isNull {
      values[name] = object[name]
    }
    return values
  }
}

private struct Delete {
  var number: Int64
  var object: ObjectID
  var mark: Value
}

private struct ResyncRun {
  let lab = ConsumerLab()
  var random: SeededRandom
  let seed: UInt64
  var stores: [Store]
  /// What a reader has that misses nothing.
  var whole = Mirror()
  var wholeToken: Token
  var mirrors: [String: Mirror] = [:]
  var deletes: [Delete] = []
  /// Those that are to be remembered, though history does not have them.
  var kept: [Delete] = []
  var completeAfter: Int64 = 0
  var nextID = 0

  init(seed: UInt64) throws {
    self.seed = seed
    random = SeededRandom(seed: seed)
    stores = [try lab.open(), try lab.open()]
    wholeToken = try stores[0].token(at: 0)
    for name in ["slow", "leased", "free"] {
      _ = try stores[0].consumer(
        name, blocking: name != "free", lease: name == "leased" ? .seconds(1_000) : nil)
      mirrors[name] = Mirror()
    }
    try follow()
  }

  mutating func step() throws {
    let index = random.below(2)
    let store = stores[index]
    try store.refresh()
    switch random.below(20) {
    case 0..<7: try write(store)
    case 7..<11: try read(store, ["slow", "leased", "free"][random.below(3)])
    case 11: lab.wait(seconds: Double(random.below(1_200)))
    case 12..<16: try prune(store)
    case 16:
      let before = store.base.number
      if try store.compact(smallest: random.chance(50)).isRewritten { try rewritten(store, before) }
    case 17: try store.checkpoint()
    case 18:
      try store.close()
      stores[index] = try lab.open()
    default: try goBack(store)
    }
  }

  mutating func finish() throws {
    for name in mirrors.keys.sorted() { try read(stores[0], name) }
    for store in stores { try store.close() }
    _ = try lab.frames(.tombstones)
  }

  private mutating func write(_ store: Store) throws {
    for _ in 0...random.below(3) {
      if random.chance(12), let last = deletes.last, last.number > store.base.number {
        // Revives what the transaction deleted, if nothing came between.
        do { try store.revert(last.number) } catch let error as AnnalsError {
          guard error.code == .conflict || error.code == .invalidChange else { throw error }
        }
        continue
      }
      try store.write(author: random.chance(50) ? "ann" : nil) { tx in
        for _ in 0..<random.number(1...4) {
          let notes = try tx.objects(of: "Note").map(\.objectID)
          let isFew = notes.count < 4
          switch random.below(isFew ? 2 : 5) {
          case 0...1:
            nextID += 1
            let mark = random.chance(10) ? String(repeating: "x", count: 5_000) : "m\(nextID)"
            try tx.insert(
              "Note", ["id": .string("n\(nextID)"), "mark": .string(mark), "count": 1])
          case 2:
            try tx.update(notes[random.below(notes.count)], ["text": .string("t\(nextID)")])
          default: try tx.delete(notes[random.below(notes.count)])
          }
        }
      }
    }
    try follow()
  }

  /// Takes in what is new.
  private mutating func follow() throws {
    let store = stores[0]
    try store.refresh()
    try store.history(after: wholeToken).forEach { transaction in
      whole.apply(transaction)
      for change in transaction.changes where change.kind == .delete {
        deletes.append(
          Delete(number: transaction.number, object: change.objectID, mark: change.before("mark")))
      }
    }
    wholeToken = store.token
  }

  private func least(_ store: Store) -> Int64 {
    store.consumers.filter { $0.isBlocking && $0.isLeaseRunning }.map(\.token.number).min() ?? .max
  }

  private mutating func prune(_ store: Store) throws {
    let (base, head) = (store.base.number, store.token.number)
    guard head > base + 1 else { return }
    let floor = random.chance(20) ? head : Int64(random.number(Int(base + 1)...Int(head)))
    let isForced = random.chance(60)
    let least = least(store)
    let plan = try store.prunePlan(before: floor)
    do {
      let summary = try store.prune(plan, force: isForced)
      try demand(isForced || least >= floor - 1 || floor == base + 1, "pruned what was not seen")
      if summary.isRewritten { try rewritten(store, base, least) }
    } catch let error as AnnalsError {
      try demand(error.code == .blocked && !isForced && least < floor - 1, "\(error)")
    }
  }

  /// Notes what the oracle says of tombstones after the file was written anew.
  private mutating func rewritten(_ store: Store, _ before: Int64, _ known: Int64? = nil) throws {
    let least = known ?? least(store)
    let base = store.base.number
    kept += deletes.filter { $0.number > before && $0.number <= base }
    kept.removeAll { $0.number <= least }
    if least == .max { kept = [] }
    completeAfter = min(base, max(completeAfter, least))
    let kept = try store.version.view.tombstones()
    try demand((kept?.count ?? 0) == Int64(self.kept.count), "\(String(describing: kept))")
    try demand((kept?.completeAfter ?? base) == completeAfter, "all after \(completeAfter)")
  }

  private mutating func goBack(_ store: Store) throws {
    let consumer = try store.consumer("free")
    let (base, seen) = (Int(store.base.number), Int(try consumer.token.number))
    guard base <= seen else { return }
    let number = random.number(base...seen)
    // It reads from there again, over what it has.
    try consumer.advance(to: store.token(at: number), mayGoBack: true)
  }

  private mutating func read(_ store: Store, _ name: String) throws {
    // Opening it renews its lease.
    let consumer = try store.consumer(name)
    try follow()
    try store.refresh()
    let token = try consumer.token
    try requireTombstones(store, try store.resync(after: token), after: token.number)
    if token.number >= store.base.number, random.chance(80) {
      try consumer.history().forEach { mirrors[name]?.apply($0) }
    } else {
      if token.number < store.base.number {
        do {
          _ = try consumer.unread(notBy: "x")
          throw Mismatch("seed \(seed): no gap for \(name)")
        } catch let error as AnnalsError {
          try demand(error.code == .pruned && error.message.contains("resync()"), "\(error)")
        }
      }
      try mirrors[name]?.apply(consumer.resync())
    }
    try demand(mirrors[name]?.objects == whole.objects, "\(name) differs from \(token.number) on")
    // Otherwise it reads again from where it was, over what it has by now.
    if random.chance(80) { try consumer.advance(to: store.token) }
  }

  private func requireTombstones(_ store: Store, _ resync: Resync, after number: Int64) throws {
    let base = store.base.number
    let expected = (kept + deletes.filter { $0.number > base }).filter {
      $0.number > number && whole.objects[$0.object] == nil
    }
    var found: [Delete] = []
    try resync.forEachTombstone { gone in
      let mark = try gone.tombstone["mark"].map { value in
        guard case .large(let large) = value else { return value }
        try demand(try store.bytes(of: large).count == large.length, "bytes of \(large)")
        return value
      }
      try demand(gone.tombstone.count == 2 && gone.entityName == "Note", "\(gone.tombstone)")
      found.append(
        Delete(number: gone.transactionNumber, object: gone.objectID, mark: mark ?? .null))
    }
    try demand(
      found.map { "\($0)" } == expected.map { "\($0)" },
      "after \(number): \(found.map(\.number)), not \(expected.map(\.number))")
    let isComplete = number >= min(base, completeAfter)
    try demand(resync.hasAllTombstones == isComplete, "complete after \(completeAfter), \(number)")
    try demand(resync.token == store.token, "\(resync.token)")
  }

  private func demand(_ isRight: Bool, _ what: @autoclosure () -> String) throws {
    if !isRight { throw Mismatch("seed \(seed): \(what())") }
  }
}
