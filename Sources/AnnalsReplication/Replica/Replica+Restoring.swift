import Annals
import AnnalsEngine
import AnnalsModel
import AnnalsStorage
import Foundation

// From the file back to a log that lost its tail.
//
// - Only what the file has from the log is offered, each transaction at the sequence that it had,
//   in order, after the record that was before it. Bytes and identifiers are what they were, so it
//   does not matter which of several replicas is first with one. Where an erasure has taken values,
//   what it has left is offered in their place, under the identifier that the whole had.
// - Nothing is offered to a log that has another record where it ends: it has branched.
// - Nothing new is published before the log has all that the file has.

extension Replica {
  /// Offers the log what it has lost of this replica's history, for the holder of the turn. Returns
  /// when the log ends with the newest transaction of the file, or goes on after it.
  ///
  /// Throws `.lostTail` if the options say so or the log is empty, `.branched` if the log ends with
  /// another record, `.notRemade` if the file lacks a part of what was lost, `.unavailable` if that
  /// took longer than the deadline. What the log has taken by then stays there.
  func restoreTail(_ retries: inout Retries) async throws {
    let place = try currentPlace()
    let version = store.version
    var offered: [Int64] = []
    defer { note(offered) }
    while var end = try await end(before: place, version, &retries) {
      let start = end
      if end == .beginning { try await putOrigin(place, &retries) }
      while end.sequence < place.sequence {
        if retries.isOver { throw Replica.restoring(offered.count, end.sequence, place) }
        let number = place.number - Int64(place.sequence - end.sequence) + 1
        let transaction = try await remade(number, version)
        let publication = try await publish(transaction, after: end, &retries, restores: false)
        // Another replica was faster, or the log has lost more.
        guard case .taken(let sequence) = publication else { break }
        end = SharedLogEnd(sequence: sequence, id: transaction.digest.description)
        offered.append(number)
      }
      if end == start, !(await retries.wait()) {
        throw Replica.restoring(offered.count, end.sequence, place)
      }
    }
  }

  /// The last record of a log that ends before a place of this file; nil if it has as many records.
  private func end(
    before place: ReplicaPlace, _ version: StoreVersion, _ retries: inout Retries
  ) async throws -> SharedLogEnd? {
    let ends = try await log.page(at: place.sequence, &retries)
    let last = ends.last
    content.withLock { $0.newestKnown = last }
    guard last < place.sequence else { return nil }
    guard options.restoresTail else { throw ReplicationError.lostTail(last, place.sequence) }
    if last == 0 {
      guard options.startsLog else { throw ReplicationError.emptied(place.sequence) }
      return .beginning
    }
    let number = place.number - Int64(place.sequence - last)
    let own = try await blocking { try version.place(of: number) }
    guard let own else { throw ReplicationError.notRemade(number, version) }
    let theirs = try await identifier(at: last, from: ends.first, &retries)
    if let theirs, theirs != own.digest.description { throw ReplicationError.ended(last, place) }
    return own.end
  }

  /// The identifier of a record: of a snapshot where the log was trimmed behind it; nil if neither
  /// is there.
  private func identifier(
    at sequence: UInt64, from first: UInt64, _ retries: inout Retries
  ) async throws -> String? {
    if first <= sequence {
      let page = try await log.page(at: sequence, &retries)
      return page.records.first { $0.sequence == sequence }?.record.id
    }
    let snapshots = try await log.snapshots(&retries)
    return snapshots.last { $0.details.place.sequence == sequence }?.details.place.digest
      .description
  }

  /// Puts a snapshot into a log that lost all, before anything else, if its first record follows on
  /// transactions that the log never had: without those nobody could begin with it.
  private func putOrigin(_ place: ReplicaPlace, _ retries: inout Retries) async throws {
    guard place.number > Int64(clamping: place.sequence),
      try await log.snapshots(&retries).isEmpty
    else { return }
    // What cannot be filled is not begun.
    _ = try await remade(place.number - Int64(clamping: place.sequence) + 1, store.version)
    _ = try await putSnapshot(knowing: place)
  }

  private func remade(
    _ number: Int64, _ version: StoreVersion
  ) async throws -> PortableTransaction {
    let made = try await blocking { try version.offering(number) }
    guard let made else { throw ReplicationError.notRemade(number, version) }
    return made
  }

  /// Tells the program what was offered.
  private func note(_ numbers: [Int64]) {
    guard let first = numbers.first, let last = numbers.last else { return }
    let now = Date(environment.clock())
    content.withLock { content in
      let before = content.restored?.count ?? 0
      content.restored = RestoredTail(
        numbers: first...last, date: now, count: before + numbers.count)
    }
  }

  static func restoring(
    _ count: Int, _ last: UInt64, _ place: ReplicaPlace
  ) -> ReplicationError {
    ReplicationError(
      .unavailable,
      "the shared log had lost its tail; it has records up to \(last) again, \(count) of them "
        + "offered by this call, and lacks those up to \(place.sequence). Nothing new was "
        + "recorded; the replica goes on when it next catches up")
  }
}

/// What a replica has offered a log that had lost it.
public struct RestoredTail: Hashable, Sendable {
  /// The transactions that were offered last, from the first to the last. Others of this range may
  /// have come from other replicas.
  public var numbers: ClosedRange<Int64>
  /// When that was.
  public var date: Date
  /// How many this replica has offered again since it was opened.
  public var count: Int
}

extension ReplicationError {
  /// The error of a log that ends before what a replica has.
  static func lostTail(_ last: UInt64, _ own: UInt64) -> ReplicationError {
    ReplicationError(
      .lostTail,
      "the shared log ends with record \(last), and this replica has records up to \(own): the log "
        + "lost its tail, or an older state of it was restored. The file keeps what it has; "
        + "nothing was changed. With `restoresTail` the replica offers the log what it lost")
  }

  /// The error of a log that has nothing, for a replica that has something.
  fileprivate static func emptied(_ own: UInt64) -> ReplicationError {
    ReplicationError(
      .lostTail,
      "the shared log is empty, and this replica has records up to \(own): it is another log, or "
        + "it lost all. The file keeps what it has; nothing was changed. To fill the log again "
        + "from this file, set `startsLog`")
  }

  /// The error of a log that lost its tail, and has another record before it.
  fileprivate static func ended(_ last: UInt64, _ place: ReplicaPlace) -> ReplicationError {
    ReplicationError(
      .branched,
      "the shared log ends with record \(last), which is another one than this replica has from "
        + "it, and this replica has records up to \(place.sequence)")
  }

  /// The error of a file that cannot make a transaction again.
  fileprivate static func notRemade(_ number: Int64, _ version: StoreVersion) -> ReplicationError {
    let isPruned = number <= version.base.number + 1
    let reason =
      isPruned
      ? "was pruned from this replica's file" : "is otherwise in this replica's file than it was"
    return ReplicationError(
      .notRemade,
      "the shared log lost transaction \(number), which \(reason), so it cannot be offered again "
        + "as it was. The file keeps what it has; nothing was changed. Open a replica that has all "
        + "of it; if none has, make one a store of its own (`leavesSharedLog`), and let a new log "
        + "begin with that")
  }
}
