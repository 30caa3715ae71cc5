import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState
import Foundation

/// What a reader of history needs that cannot read on, since history that it has not seen was
/// pruned or lost: the whole present, and the tombstones still kept.
///
/// What it holds and the present does not have is deleted; so it never has to guess.
///
///     let resync = try sync.resync()
///     try resync.snapshot.forEachObject(of: "Post") { try server.put($0) }
///     try resync.forEachTombstone { try server.remove($0.tombstone["id"]) }
///     for id in server.known where try !resync.contains(id) { try server.forget(id) }
///     try sync.advance(to: resync.token)
///
/// A value that stays as it is, whatever is written or pruned meanwhile. Safe on any thread.
public struct Resync: Sendable {
  /// The present: all objects, read as they are asked for.
  public let snapshot: Snapshot
  /// Whether `forEachTombstone` tells of every delete since the reader's position. Otherwise some
  /// were pruned before anybody was to be waited for, or lost.
  public let hasAllTombstones: Bool
  private let version: StoreVersion
  /// The last transaction that the reader has seen.
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
        let kept = try Resync.narrowing { () throws(LogError) in try version.view.tombstones() }
        hasAllTombstones =
          kept.map { $0.completeAfter <= token.number } == true
          && !version.view.hasGap(after: token.number)
      // Nobody knows where its history parted from this one.
      case .lostBranch, .beyondHead: hasAllTombstones = false
      default: throw error
      }
    }
  }

  /// The position of the present: for the reader to advance to.
  public var token: Token { snapshot.token }

  /// Whether an object is there. O(1) but for parts of the state that are read first. Throws
  /// `.damaged` or `.io`.
  public func contains(_ object: ObjectID) throws(AnnalsError) -> Bool {
    guard object.store == snapshot.reader.store else { return false }
    do throws(StateFault) {
      return try snapshot.reader.state.contains(object.entity, object.row)
    } catch {
      throw AnnalsError(error)
    }
  }

  /// Runs `body` on what is known of each deleted object, in the order of the deletes: those of
  /// transactions that the reader has not seen, whether history still has them or not. An object
  /// that is there again is left out; of one that was deleted twice, it is told twice.
  ///
  /// Holds one frame at a time. Throws `.damaged` with the offset if they cannot be read, and what
  /// `body` throws.
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

  /// Those of history that was dropped.
  private func forEachKept(_ body: (DeletedObject) throws -> Void) throws {
    let view = version.view
    let kept = try Resync.narrowing { () throws(LogError) in try view.tombstones() }
    guard let kept else { return }
    let glossary = version.glossaryOfDropped()
    for frame in kept.frames {
      let batch = try Resync.narrowing { () throws(LogError) in
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

  private static func narrowing<R>(
    _ body: () throws(LogError) -> R
  ) throws(AnnalsError) -> R {
    do throws(LogError) {
      return try body()
    } catch {
      throw AnnalsError(error)
    }
  }
}

/// What is known of an object that was deleted.
public struct DeletedObject: Sendable {
  private let change: Change

  fileprivate init(_ change: Change) { self.change = change }

  /// The object.
  public var objectID: ObjectID { change.objectID }
  /// The name of its entity, as of its deletion; as of the base if that history was dropped.
  public var entityName: String { change.entityName }
  /// The number of the transaction that deleted it; of a gap that a salvage left, the last one.
  public var transactionNumber: Int64 { change.transactionNumber }
  /// The moment of that transaction.
  public var timestamp: Date { transaction.timestamp }
  /// Who deleted it.
  public var author: String? { transaction.author }
  /// The values of the attributes that are preserved after deletion, by name.
  public var tombstone: [String: Value] { change.tombstone ?? [:] }

  /// The same by the properties of a record type; nil for objects of other entities.
  public func tombstone<R: Record>(as type: R.Type) -> Tombstone<R>? {
    change.tombstone(as: type)
  }

  private var transaction: Transaction { Transaction(page: change.page, index: change.transaction) }
}

extension Store {
  /// Everything that a reader of history needs that has seen it up to a token, and cannot read on.
  ///
  /// It may be of a position that was pruned or lost, or that a power failure took; of one that can
  /// be read after, it gives the same. Throws `.otherStore` for a token of another store,
  /// `.damaged` or `.io` if the state cannot be read.
  public func resync(after token: Token) throws(AnnalsError) -> Resync {
    let version = version
    return try Resync(version, version.snapshot.with(clock: environment.clock), after: token)
  }
}

extension LogView {
  /// Whether transactions after this one were lost.
  fileprivate func hasGap(after number: Int64) -> Bool { gaps.contains { $0.last > number } }
}
