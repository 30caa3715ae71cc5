import Annals
import AnnalsFaults

/// What the store has promised about consumers, retention and tombstones.
package struct ConsumerPledge: Sendable, Hashable {
  /// A blocking consumer whose lease does not expire.
  struct Reader: Sendable, Hashable {
    /// The permitted positions. The last one is not synced by itself.
    var places: Set<Int64>
    /// The position that it reported last.
    var last: Int64
    /// Whether its registration returned.
    var isCertain = false
  }

  var readers: [String: Reader] = [:]
  /// The permitted retentions, as numbers of transactions; 0 for all.
  var retentions: Set<Int64> = [0]
  /// The rows of deleted notes by transaction: acknowledged deletes, and those that were begun.
  var deletes: [Int64: Int64] = [:]
  var begunDeletes: [Int64: Int64] = [:]
  /// The bases that a forced prune may have set.
  var forcedBases: Set<Int64> = []

  /// Notes that the positions of all consumers are synced.
  mutating func markSynced() {
    for name in readers.keys {
      if let last = readers[name]?.last { readers[name]?.places = [last] }
    }
  }
}

extension WorkSession {
  /// Registers a consumer at the head.
  func register(_ store: Store, _ name: String) throws -> Consumer {
    lastUsed = store
    let place = store.token.number
    pledge.consumers.readers[name] = ConsumerPledge.Reader(places: [place], last: place)
    let consumer = try store.consumer(name, blocking: true, startingAfter: store.token)
    pledge.consumers.readers[name]?.isCertain = true
    return consumer
  }

  /// Advances a consumer to a transaction.
  func advance(_ consumer: Consumer, to number: Int64) throws {
    lastUsed = consumer.store
    pledge.consumers.readers[consumer.name]?.places.insert(number)
    pledge.consumers.readers[consumer.name]?.last = number
    let failureCount = files.injectedCount
    try consumer.advance(to: consumer.store.token(at: number))
    // A failure to write the position is reported by the next call.
    noteQuietFailure(since: failureCount)
  }

  /// Sets the retention to a number of transactions.
  func retain(_ store: Store, transactions: Int) throws {
    lastUsed = store
    pledge.consumers.retentions.insert(Int64(transactions))
    try store.setRetention(Retention(transactions: transactions))
    pledge.consumers.retentions = [Int64(transactions)]
  }

  /// Prunes what the retention and the consumers permit.
  func maintain(_ store: Store) throws {
    lastUsed = store
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
  /// A consumer reads, lags, holds up a prune, is overtaken by two forced prunes, and resumes from
  /// the present.
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
  /// The consumers exist at permitted positions, and each can read all that it has not seen.
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

  /// The tombstones match the deletes, also in pruned history.
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
