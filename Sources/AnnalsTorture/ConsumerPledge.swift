import Annals
import AnnalsFaults

/// What was promised about the readers of the history, and about how much of it is kept.
package struct ConsumerPledge: Sendable, Hashable {
  /// A consumer that blocks, with a lease that never runs out.
  struct Reader: Sendable, Hashable {
    /// What the store may say that it has seen: what it said last is not synced by itself.
    var places: Set<Int64>
    /// What it said last.
    var last: Int64
    /// Whether registering it has returned.
    var isCertain = false
  }

  var readers: [String: Reader] = [:]
  /// How many transactions the store may be told to keep; 0 for all.
  var retentions: Set<Int64> = [0]
  /// The rows of notes that were deleted, by transaction: as far as that was acknowledged, and as
  /// far as it was begun.
  var deletes: [Int64: Int64] = [:]
  var begunDeletes: [Int64: Int64] = [:]
  /// The bases that a prune by force may have made.
  var forcedBases: Set<Int64> = []

  /// Notes that what every reader has said is synced.
  mutating func settle() {
    for name in readers.keys {
      if let last = readers[name]?.last { readers[name]?.places = [last] }
    }
  }
}

extension WorkSession {
  /// Registers a consumer that has seen everything so far.
  func register(_ store: Store, _ name: String) throws -> Consumer {
    use(store)
    let place = store.token.number
    pledge.consumers.readers[name] = ConsumerPledge.Reader(places: [place], last: place)
    let consumer = try store.consumer(name, blocking: true, startingAfter: store.token)
    pledge.consumers.readers[name]?.isCertain = true
    return consumer
  }

  /// Says that a consumer has seen a transaction.
  func advance(_ consumer: Consumer, to number: Int64) throws {
    use(consumer.store)
    pledge.consumers.readers[consumer.name]?.places.insert(number)
    pledge.consumers.readers[consumer.name]?.last = number
    let failureCount = files.injectedCount
    try consumer.advance(to: consumer.store.token(at: number))
    // What keeps it from being written alone is left for the next call to meet.
    noteQuietFailure(since: failureCount)
  }

  /// Tells the store to keep so many transactions.
  func retain(_ store: Store, transactions: Int) throws {
    use(store)
    pledge.consumers.retentions.insert(Int64(transactions))
    try store.setRetention(Retention(transactions: transactions))
    pledge.consumers.retentions = [Int64(transactions)]
  }

  /// Drops what need not be kept, and consumers have seen.
  func maintain(_ store: Store) throws {
    use(store)
    let plan = try store.maintenancePlan(minimumGain: 0)
    pledge.attemptedBase = plan.prune.map(\.base)
    let report = try store.maintain(author: "ann", minimumGain: 0)
    if let floor = report.floor { pledge.base = floor - 1 }
    pledge.attemptedBase = nil
    pledge.durable = pledge.acknowledged
  }

  /// Inserts notes in one transaction.
  func insertNotes(_ store: Store, _ count: Int) throws -> [ObjectID] {
    var made: [ObjectID] = []
    let text = random.text(30)
    try commit(store) { tx in
      made = try (0..<count).map { _ in try WorkSession.insertNote(tx, text: text) }
    }
    return made
  }

  /// Deletes a note in a transaction of its own.
  func delete(_ store: Store, _ note: ObjectID) throws {
    let number = (pledge.acknowledged ?? 0) + 1
    pledge.consumers.begunDeletes[number] = note.row
    try commit(store) { try $0.delete(note) }
    pledge.consumers.deletes[number] = note.row
  }
}

extension Workload {
  /// A consumer reads, lags, is waited for, is passed by force twice, and goes on from the present.
  static let retaining: @Sendable (WorkSession) throws -> Void = { session in
    let store = try session.open()
    let sync = try session.register(store, "sync")
    let notes = try session.insertNotes(store, 3)
    try session.advance(sync, to: store.token.number)
    try session.delete(store, notes[0])
    try session.retain(store, transactions: 2)
    _ = try session.insertNotes(store, 1)
    try session.maintain(store)
    _ = try session.insertNotes(store, 1)
    try session.delete(store, notes[1])
    try session.prune(store, before: store.token.number, force: true)
    try session.delete(store, notes[2])
    _ = try session.insertNotes(store, 1)
    try session.prune(store, before: store.token.number, force: true)
    try session.checkpoint(store)
    try session.advance(sync, to: store.token.number)
    _ = try session.insertNotes(store, 1)
    try session.compact(store)
    try session.close(store)
  }
}

extension SurvivorCheck {
  /// The consumers are there, as far as they were, and each gets all that it has not seen.
  func requireConsumers(_ store: Store) throws {
    let found = store.consumers
    for (name, reader) in pledge.consumers.readers {
      guard let status = found.first(where: { $0.name == name }) else {
        if reader.isCertain { throw BrokenPromise("the consumer \(name) is gone") }
        continue
      }
      let number = status.token.number
      guard reader.places.contains(number), status.isBlocking else {
        throw BrokenPromise(
          "the consumer \(name) is at \(number); permitted are \(reader.places.sorted())")
      }
      let base = store.base.number
      guard number >= base || pledge.consumers.forcedBases.contains(base) else {
        throw BrokenPromise("the base is \(base), and \(name) has seen only \(number)")
      }
      try requireTombstones(store, after: status.token)
    }
    if let stranger = found.first(where: { pledge.consumers.readers[$0.name] == nil }) {
      throw BrokenPromise("there is a consumer \(stranger.name)")
    }
    guard pledge.consumers.retentions.contains(store.retention.transactions ?? 0) else {
      throw BrokenPromise("the store keeps \(store.retention)")
    }
  }

  /// What is known of deletes is what there was, also where history was dropped.
  private func requireTombstones(_ store: Store, after token: Token) throws {
    let resync = try store.resync(after: token)
    var found: [Int64: Int64] = [:]
    try resync.forEachTombstone { gone in
      guard gone.tombstone["id"] == .string("note \(gone.objectID.row)") else {
        throw BrokenPromise("a tombstone without its value: \(gone.tombstone)")
      }
      found[gone.transactionNumber] = gone.objectID.row
    }
    let expected = pledge.consumers.deletes.filter { $0.key > token.number }
    let begun = pledge.consumers.begunDeletes
    guard resync.hasAllTombstones, expected.allSatisfy({ found[$0.key] == $0.value }),
      found.allSatisfy({ begun[$0.key] == $0.value })
    else {
      throw BrokenPromise(
        "after \(token.number) there are tombstones of \(found), and should be of \(expected)")
    }
  }
}
