import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState
import Foundation

/// What a reader needs when history that it has not read was pruned or lost: the whole present
/// state, and the tombstones that are still kept.
///
/// Whatever the reader holds and the present state lacks is deleted, so the reader never has to
/// guess.
///
///     let resync = try sync.resync()
///     try resync.snapshot.forEachObject(of: "Post") { try server.put($0) }
///     try resync.forEachTombstone { try server.remove($0.tombstone["id"]) }
///     for id in server.known where try !resync.contains(id) { try server.forget(id) }
///     try sync.advance(to: resync.token)
///
/// A value that does not change, whatever is written or pruned meanwhile. Safe on any thread.
public struct Resync: Sendable {
  /// The present state; its objects are read on demand.
  public let snapshot: Snapshot
  /// Whether `forEachTombstone` reports every delete since the reader's position. If not, some were
  /// pruned while no blocking consumer needed them, or lost.
  public let hasAllTombstones: Bool
  private let version: StoreVersion
  /// The last transaction that the reader has read.
  private let number: Int64

  fileprivate init(_ version: StoreVersion, _ snapshot: Snapshot, after token: Token)
    throws(AnnalsError)
  {
    self.version = version
    self.snapshot = snapshot
    number = token.number
    do throws(AnnalsError) {
      try version.validate(token)
      hasAllTombstones = !version.view.hasGap(after: number)
    } catch {
      switch error.code {
      case .pruned:
        let kept = try AnnalsError.translating { try version.view.tombstones() }
        hasAllTombstones =
          kept.map { $0.completeAfter <= token.number } == true
          && !version.view.hasGap(after: token.number)
      // It is unknown where its history parted from this one.
      case .lostBranch, .beyondHead: hasAllTombstones = false
      default: throw error
      }
    }
  }

  /// The position of the present state, for the reader to advance to.
  public var token: Token { snapshot.token }

  /// Whether an object exists now. O(1), apart from reading parts of the state for the first time.
  /// Throws `.damaged` or `.io`; `.otherStore` if it is one of another store.
  public func contains(_ object: ObjectID) throws(AnnalsError) -> Bool {
    try object.requireOwn(snapshot.reader.store)
    return try AnnalsError.translating {
      try snapshot.reader.state.contains(object.entity, object.row)
    }
  }

  /// Runs `body` on each deleted object, in the order of the deletes: those of transactions that
  /// the reader has not read, whether or not history still holds them. Leaves out objects that
  /// exist again. Reports an object twice that was deleted twice.
  ///
  /// Holds one frame at a time. Throws `.damaged` with the offset if a tombstone cannot be read,
  /// and what `body` throws.
  public func forEachTombstone(_ body: (DeletedObject) throws -> Void) throws {
    let base = version.view.base
    if number < base { try forEachKept(body) }
    var start = max(number, base)
    if let gap = version.view.gap(at: start), gap.last != start { start = max(base, gap.first - 1) }
    guard start < version.head.number else { return }
    let rest = History(
      version: version, after: start, through: version.head.number,
      condition: .kind(.delete))
    try rest.forEachChange { change in try tell(change, body) }
  }

  /// The tombstones of pruned history.
  private func forEachKept(_ body: (DeletedObject) throws -> Void) throws {
    let view = version.view
    let kept = try AnnalsError.translating { try view.tombstones() }
    guard let kept else { return }
    let glossary = version.glossaryOfDropped()
    for frame in kept.frames {
      let batch = try AnnalsError.translating {
        var batch = ChangeBatch()
        try view.read(tombstones: frame, into: &batch)
        return batch
      }
      let page = TransactionPage(batch: batch, glossary: glossary)
      for (index, record) in batch.transactions.enumerated() where record.number > number {
        for change in record.changeRange {
          try tell(Change(page: page, transaction: index, index: change), body)
        }
      }
    }
  }

  private func tell(_ change: Change, _ body: (DeletedObject) throws -> Void) throws {
    guard change.kind == .delete, try !contains(change.objectID) else { return }
    try body(DeletedObject(change))
  }
}

/// An object that was deleted.
public struct DeletedObject: Sendable {
  private let change: Change

  fileprivate init(_ change: Change) { self.change = change }

  /// The object.
  public var objectID: ObjectID { change.objectID }
  /// The name of its entity at its deletion; at the base if that history was pruned.
  public var entityName: String { change.entityName }
  /// The number of the transaction that deleted it; for a gap that a salvage left, the gap's last
  /// number.
  public var transactionNumber: Int64 { change.transactionNumber }
  /// The timestamp of that transaction.
  public var timestamp: Date { transaction.timestamp }
  /// Who deleted it.
  public var author: String? { transaction.author }
  /// The values of its attributes that are preserved after deletion, by name.
  public var tombstone: [String: Value] { change.tombstone ?? [:] }

  /// The preserved values by the properties of a record type; nil for objects of other entities.
  public func tombstone<R: Record>(as type: R.Type) -> Tombstone<R>? {
    change.tombstone(as: type)
  }

  private var transaction: Transaction { Transaction(page: change.page, index: change.transaction) }
}

extension Store {
  /// The present state and tombstones for a reader that has read up to a token and cannot read on.
  ///
  /// The token's position may be pruned, or lost in a salvage or a power failure. For one that
  /// history can still be read after, the result is the same. Throws `.otherStore` for a token of
  /// another store, `.damaged` or `.io` if the state cannot be read.
  public func resync(after token: Token) throws(AnnalsError) -> Resync {
    let version = version
    return try Resync(version, version.snapshot.with(clock: environment.clock), after: token)
  }
}

extension LogView {
  /// Whether transactions after this one were lost.
  fileprivate func hasGap(after number: Int64) -> Bool { gaps.contains { $0.last > number } }
}
