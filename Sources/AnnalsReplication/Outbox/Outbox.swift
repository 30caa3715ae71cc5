import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Foundation

/// The drafts of a replica that wait for the shared log: a store beside the replica's file, synced
/// with each change.
///
/// Several processes may have it open, as they have the replica's file. Each change is made on the
/// state that the caller knows; if another process has changed something, it throws `Changed`, and
/// the caller looks again. Blocks; for the holder of the replica's turn.
final class Outbox: Sendable {
  /// Another process has changed the outbox meanwhile.
  struct Changed: Error {}

  /// What is in it, without the bytes of drafts.
  struct Listing: Sendable {
    /// The position of the outbox's store.
    var token: Token
    /// In their order.
    var items: [OutboxItem] = []
    /// Where objects of drafts that left are.
    var moves = ObjectMoves()
    /// The number that the next draft gets.
    var nextNumber: Int64 = 1
    /// The row that the next new object gets.
    var nextRow = PendingState.firstRow
    /// The drafts that left, as objects of the outbox.
    var settled: [ObjectID] = []
    /// The object that the outbox is.
    var head: ObjectID
  }

  let store: Store
  private let known: Locked<Listing>

  /// The key under which a transaction's metadata have the id of the draft that it was.
  static let metadataKey = "outbox"
  /// What the name of an outbox ends with.
  static let suffix = ".outbox"
  /// How many drafts that left are remembered, so that ids from when they waited can be followed.
  static let mostSettled = 10_000

  private init(_ store: Store, _ listing: Listing) {
    self.store = store
    known = Locked(listing)
  }

  /// Opens the outbox beside a replica's file; nil if there is none, unless `creates` is set.
  ///
  /// Throws `ReplicationError`: `.notAnOutbox`, `.otherStore`, `.newerVersion`; and as opening a
  /// store does. Nothing is changed then.
  static func open(
    beside writer: StoreWriter, creates: Bool, lockTimeout: Duration,
    _ environment: StoreEnvironment
  ) throws -> Outbox? {
    let log = writer.log
    let location = StoreLocation(fileSystem: log.fileSystem, path: log.path + suffix)
    let isThere = try AnnalsError.translating {
      try location.fileSystem.identity(of: location.path) != nil
    }
    guard isThere || creates else { return nil }
    var own = StoreOptions()
    own.lockTimeout = lockTimeout
    let store =
      isThere
      ? try Store(location, creates: false, options: own, environment: environment)
      : try Store(
        location, schema: OutboxSchema.schema, options: own, environment: environment)
    do {
      // A crash may have come before its first transaction.
      if store.token.number == 0 {
        _ = try store.write { tx in try tx.require(OutboxSchema.schema) }
      }
      return Outbox(store, try listing(of: store, for: log.store, location.path))
    } catch {
      try? store.close()
      throw error
    }
  }

  /// What is in the outbox, as far as this process has seen.
  var listing: Listing { known.withLock { $0 } }

  /// What is in the outbox now.
  func current() throws -> Listing {
    try store.refresh()
    let listing = listing
    if store.token == listing.token { return listing }
    try reload()
    return self.listing
  }

  private func reload() throws {
    let path = store.writer.log.path
    guard let owner = RawUUID(try Outbox.owner(in: store) ?? "") else {
      throw ReplicationError.notAnOutbox(path)
    }
    let new = try Outbox.listing(of: store, for: owner, path)
    known.withLock { known in
      var new = new
      // What only this process knows.
      for index in new.items.indices where new.items[index].conflict != nil {
        let old = known.items.first { $0.id == new.items[index].id }?.conflict
        new.items[index].conflict = old ?? new.items[index].conflict
      }
      known = new
    }
  }

  /// Changes the outbox, and what is known of it.
  func change(
    author: String? = nil, _ context: String,
    _ body: (WriteTransaction, Listing) throws -> Void,
    then note: (inout Listing) -> Void
  ) throws {
    let listing = listing
    let commit: Commit<Void>
    do {
      commit = try store.commit(author: author, context: context, expecting: listing.token) {
        try body($0, listing)
      }
    } catch let error as AnnalsError where error.code == .conflict {
      try reload()
      throw Changed()
    }
    known.withLock { known in
      note(&known)
      known.token = commit.token
    }
  }

  /// Notes why a draft is in conflict, as only this process knows it.
  func note(_ error: AnnalsError, of id: UUID) {
    known.withLock { known in
      guard let index = known.items.firstIndex(where: { $0.id == id }) else { return }
      if known.items[index].conflict != nil { known.items[index].conflict = error }
    }
  }

  /// The bytes of a draft. Throws `.noSuchDraft` if it has left.
  func bytes(of item: OutboxItem) throws -> (changes: [UInt8], objects: [UInt8]) {
    guard let found = try store.snapshot().object(item.object) else {
      throw ReplicationError.noSuchDraft(item.id)
    }
    return (found.bytes("changes") ?? [], found.bytes("objects") ?? [])
  }

  // MARK: Reading

  private static func owner(in store: Store) throws -> String? {
    let snapshot = store.snapshot()
    guard snapshot.schema.entity(named: "Outbox") != nil else { return nil }
    return try snapshot.objects(of: "Outbox").first?.text("store")
  }

  private static func listing(
    of store: Store, for owner: RawUUID, _ path: String
  ) throws -> Listing {
    if store.schema.entity(named: "Outbox") != nil { try claim(store, for: owner) }
    let snapshot = store.snapshot()
    guard snapshot.schema.entity(named: "Outbox") != nil,
      let head = try snapshot.objects(of: "Outbox").first, case .int(let version) = head["version"]
    else { throw ReplicationError.notAnOutbox(path) }
    guard version == OutboxSchema.version else {
      throw ReplicationError(
        .newerVersion,
        "\(path) was written by a newer version of the program, which keeps drafts otherwise; "
          + "nothing was changed. Update this program")
    }
    guard head.text("store") == owner.description else {
      throw ReplicationError(
        .otherStore,
        "\(path) has drafts of store \(head.text("store") ?? "-"), and the replica is of store "
          + "\(owner); nothing was changed. Put it beside the file that it belongs to")
    }
    var listing = Listing(token: snapshot.token, head: head.objectID)
    if case .int(let row) = head["nextRow"] { listing.nextRow = row }
    for found in try snapshot.objects(of: "Draft", properties: OutboxSchema.listed) {
      guard let item = OutboxItem(found) else { throw ReplicationError.notAnOutbox(path) }
      listing.items.append(item)
      listing.nextNumber = max(listing.nextNumber, item.number + 1)
    }
    for found in try snapshot.objects(of: "Settled") {
      listing.settled.append(found.objectID)
      if let moves = ObjectMoves(found.text("moves") ?? "") { listing.moves.add(moves) }
      if case .int(let number) = found["number"] {
        listing.nextNumber = max(listing.nextNumber, number + 1)
      }
    }
    return listing
  }

  /// Says whose outbox a new one is. A crash may have come before.
  private static func claim(_ store: Store, for owner: RawUUID) throws {
    guard try store.snapshot().objects(of: "Outbox").isEmpty else { return }
    try store.write(context: "outbox") { tx in
      guard try tx.objects(of: "Outbox").isEmpty else { return }
      try tx.insert(
        "Outbox",
        [
          "version": .int(OutboxSchema.version), "store": .string(owner.description),
          "nextRow": .int(PendingState.firstRow),
        ])
    }
  }
}

extension ReplicationError {
  static func notAnOutbox(_ path: String) -> ReplicationError {
    ReplicationError(
      .notAnOutbox,
      "\(path) is no outbox of a replica, or was changed by another program; nothing was changed. "
        + "Move it away, and look into it with `annals dump`")
  }

  static func noSuchDraft(_ id: UUID) -> ReplicationError {
    ReplicationError(
      .noSuchDraft, "the draft \(id) is not in the outbox: it was sent, or discarded")
  }
}
