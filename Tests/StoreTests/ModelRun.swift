import Annals
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport

/// Random work on a store and on the naive model at once.
final class ModelRun {
  let location: StoreLocation
  let environment: StoreEnvironment
  var options: StoreOptions
  var values: RandomValues
  /// One or two openings of the same file, which take turns.
  var stores: [Store] = []
  /// The states after each transaction; at 0 the empty one.
  var states: [NaiveState] = [NaiveState()]
  /// The timestamps of the transactions; at 0 none.
  var times: [Timestamp] = [Timestamp(microseconds: .min)]
  /// The number of the oldest state that the store still has.
  var base = 0
  /// Rows that objects had, which must not come back.
  var usedRows: Set<ObjectReference> = []
  /// The transactions that have erased something that was there.
  var erasures: Set<Int> = []
  /// Whether anything was ever erased.
  var hasErased = false
  var nameCount = 0
  /// What was done, newest last.
  var steps: [String] = []

  init(seed: UInt64, location: StoreLocation) throws {
    self.location = location
    values = RandomValues(random: SeededRandom(seed: seed))
    environment = .fixed(seed: seed)
    options = values.random.chance(30) ? .deferred : StoreOptions()
    stores = [try open(creates: true)]
    try changeSchema { try $0.require(ModelRun.schema) }
  }

  var random: SeededRandom {
    get { values.random }
    set { values.random = newValue }
  }

  var newest: NaiveState { states[states.count - 1] }
  var head: Int64 { Int64(states.count - 1) }
  var store: Store { stores[stores.count - 1] }

  /// The schema to begin with: every type, every kind of relationship, every kind of key.
  static let schema = Schema {
    Entity("Alpha", displayName: "string") {
      for type in AttributeType.allCases { Attribute("\(type)", type) }
      Attribute("key", .string, isUnique: true, isPreservedAfterDeletion: true)
      Attribute("anyKey", .any, isUnique: true)
      Attribute("needed", .int64, isOptional: false)
      Attribute("filled", .string, isOptional: false, default: .string("as usual"))
      Relationship("one", to: "Beta", onDelete: .keep)
      Relationship("many", to: "Alpha", isToMany: true, onDelete: .keep)
      Relationship("list", to: "Beta", isToMany: true, isOrdered: true, onDelete: .keep)
      IndexDescription("box", box: ["int32", "date"])
    }
    Entity("Beta") {
      Attribute("id", .uuid, isUnique: true)
      Attribute("a", .int64)
      Attribute("b", .string, default: .string("b"))
      Attribute("text", .string)
      Relationship("alpha", to: "Alpha", onDelete: .keep)
      IndexDescription("pair", ["a", "b"], isUnique: true)
    }
  }

  /// Does one random thing and checks what came of it.
  func step() throws {
    if stores.count > 1 { stores.swapAt(0, random.number(0...stores.count - 1)) }
    let action = random.number(0...99)
    // Writing catches up by itself; reading is as of the last refresh.
    if action >= 55 { try store.refresh() }
    switch action {
    case 0..<55: try transaction()
    case 55..<63: try change()
    case 63..<70: try revert()
    case 70..<72: try reopen()
    case 72, 73: try checkpoint()
    case 74..<77: try random.chance(35) ? erase() : rewrite()
    case 77..<80: try toggleSecondStore()
    case 80..<90: try compareState(random.number(base...Int(head)))
    case 90..<94: try compareDate()
    default: try compareDifference()
    }
    try store.refresh()
    try demand(store.token.number == head, "the head is \(store.token.number), not \(head)")
    if random.chance(15) { try newest.compare(with: store.snapshot()) }
    if random.chance(20) { try compareBoxes() }
  }

  /// Compares everything at the end: each state, and the history both ways.
  func compareAll() throws {
    steps.append("compare all")
    try compareBoxes()
    for number in base...Int(head) { try compareState(number) }
    try replay()
    try compareHistory()
    for store in stores {
      let findings = try store.verifyHistory().filter { $0.severity == .error }
      try demand(findings.isEmpty, "verify: \(findings)")
    }
    try close()
    stores = [try open()]
    try newest.compare(with: store.snapshot())
    try compareHistory()
    try close()
  }

  func close() throws {
    for store in stores { try store.close() }
    stores = []
  }

  func open(creates: Bool = false) throws -> Store {
    try Store(location, creates: creates, options: options, environment: environment)
  }

  // MARK: The file

  private func reopen() throws {
    let isClean = random.chance(50)
    steps.append(isClean ? "close and open" : "drop and open")
    let count = stores.count
    if isClean {
      try close()
    } else {
      stores = []
    }
    for _ in 0..<count { stores.append(try open()) }
    try newest.compare(with: store.snapshot())
  }

  private func toggleSecondStore() throws {
    if stores.count > 1 {
      steps.append("close the second store")
      try stores.removeLast().close()
    } else {
      steps.append("open a second store")
      stores.append(try open())
    }
  }

  private func checkpoint() throws {
    steps.append("checkpoint")
    try store.checkpoint()
    try newest.compare(with: store.snapshot())
  }

  // MARK: Reading

  func compareState(_ number: Int) throws {
    steps.append("state at \(number)")
    let snapshot: Snapshot
    switch random.number(0...2) {
    case 0: snapshot = try store.snapshot(at: number)
    case 1: snapshot = try store.snapshot(at: try store.token(at: number))
    default: snapshot = try store.snapshot(at: Int64(number))
    }
    try demand(snapshot.number == number, "the snapshot at \(number) is at \(snapshot.number)")
    try states[number].compare(with: snapshot)
  }

  private func compareDate() throws {
    let moment = times[random.number(0...Int(head))]
    steps.append("state as of \(moment.microseconds)")
    let now = environment.clock()
    // The clock goes on while the store reads; and of what was pruned it knows the greatest alone.
    let soon = Timestamp(microseconds: now.microseconds + 60_000_000)
    guard !times.contains(where: { $0 > now && $0 <= soon }) else { return }
    guard base == 0 || times[...Int(base)].allSatisfy({ $0 <= now }) else { return }
    let number = lastNumber(countingAt: now) { $0 <= moment }
    do {
      let snapshot = try store.snapshot(at: HistoryPlace.date(moment))
      try demand(
        snapshot.number == number, "as of \(moment) is \(snapshot.number), not \(number)")
    } catch let error as AnnalsError where number < base {
      try demand(error.gap?.requestedMoment == moment, "\(error)")
    }
    let before = max(lastNumber(countingAt: now) { $0 < moment }, base) - base
    let count = try store.history(before: HistoryPlace.date(moment)).count()
    try demand(count == before, "\(count) transactions before \(moment), not \(before)")
  }

  /// The last transaction that counts before the first one that counts and is not in time.
  private func lastNumber(countingAt now: Timestamp, _ isInTime: (Timestamp) -> Bool) -> Int {
    var last = 0
    for (number, time) in times.enumerated() where time <= now {
      guard isInTime(time) else { break }
      last = number
    }
    return last
  }

  private func compareDifference() throws {
    let first = random.number(base...Int(head))
    let second = random.number(base...Int(head))
    steps.append("diff from \(first) to \(second)")
    let difference = try store.diff(from: first, to: second)
    try states[first].compare(
      difference.changes, leadingTo: states[second], in: states[max(first, second)].schema,
      of: store, "diff \(first) \(second)")
  }

  func compareHistory() throws {
    var number = base
    var texts: [String] = []
    var headers: [String] = []
    try store.history().forEach { transaction in
      number += 1
      try demand(transaction.number == number, "history has \(transaction.number), not \(number)")
      try states[number - 1].compare(
        Array(transaction.changes), leadingTo: states[number], in: states[number].schema,
        of: store, "transaction \(number)")
      texts.append(text(of: transaction))
      headers.append("\(transaction.token) \(transaction.changes.count)")
    }
    // The same without their changes.
    for isReversed in [false, true] {
      let history = try isReversed ? store.history().reversed() : store.history()
      var found: [String] = []
      try history.forEachHeader { found.append("\($0.token) \($0.changeCount)") }
      try demand(found == (isReversed ? headers.reversed() : headers), "headers: \(found)")
    }
    try demand(number == head, "history ends at \(number), not \(head)")
    try store.history().reversed().forEach { transaction in
      let expected = texts.removeLast()
      let found = text(of: transaction)
      try demand(found == expected, "backward: \(found)\nforward: \(expected)")
    }
    try demand(texts.isEmpty, "\(texts.count) transactions are missing backward")
  }

  private func text(of transaction: Transaction) -> String {
    let changes = transaction.changes.map { "\($0.objectID) \($0.kind) \($0.properties)" }
    return "\(transaction.token) \(transaction.timestamp) \(changes)"
  }
}
