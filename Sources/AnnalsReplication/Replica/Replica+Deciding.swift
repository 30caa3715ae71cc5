import Annals
import AnnalsEngine
import AnnalsModel
import Foundation

// What the program decides about a draft that waits.

extension Replica {
  /// Drops a draft, which is then never committed. Drafts behind it that change objects which it
  /// has inserted will be in conflict.
  ///
  /// - Returns: nil; or, if the log had taken the draft already and nobody had said so, the
  ///   position after its transaction: then it is committed, and not dropped.
  /// - Throws: `.noSuchDraft` if it has left the outbox; `.unavailable` if it was offered to the
  ///   log, which cannot be asked now whether it took it; as opening the outbox does.
  @discardableResult
  public func discard(_ item: OutboxItem) async throws -> Token? {
    try await deciding(about: item) { outbox, item, retries in
      do {
        if let token = try await self.findSent(item, in: outbox, &retries) { return token }
      } catch let error as AnnalsError where error.code == .pruned {
        // It is the program's to know.
      }
      if item.offered != nil, item.offered == self.store.token.number + 1 {
        // It may be on its way, and be taken as the log's next record.
        throw ReplicationError(
          .outcomeUnknown,
          "the draft \(item.number) was offered to the shared log as transaction "
            + "\(item.offered ?? 0), which has not come; it may yet. Nothing was dropped. Send the "
            + "outbox, or try again after another transaction")
      }
      let inserted = try await self.inserted(by: item, in: outbox)
      var moves = ObjectMoves()
      moves.gone = inserted
      let dropped = moves
      try await self.blocking { try outbox.settle(item, at: nil, dropped) }
      return nil
    }
  }

  /// Has a draft in conflict wait again, to be merged by this policy from now on; `sendOutbox()`
  /// sends it. If it was not known whether the log had taken it (`.pruned`), this says that it had
  /// not. Throws `.noSuchDraft` if it has left the outbox, and as opening the outbox does.
  public func retry(_ item: OutboxItem, merging policy: MergePolicy?) async throws {
    _ = try await deciding(about: item) { outbox, item, _ in
      // Else it is still looked for where it was offered.
      let isUnknown = (item.offered ?? .max) <= self.store.base.number
      try await self.blocking { try outbox.retry(item, policy, forgetsOffer: isUnknown) }
      return nil
    }
    startSending()
  }

  private func deciding(
    about given: OutboxItem,
    _ body: (Outbox, OutboxItem, inout Retries) async throws -> Token?
  ) async throws -> Token? {
    try requireOpen()
    return try await turn.run {
      guard let outbox = try await outbox(creates: false) else {
        throw ReplicationError.noSuchDraft(given.id)
      }
      var retries = Retries(options, environment)
      while true {
        let items = try await blocking { try outbox.current().items }
        guard let item = items.first(where: { $0.id == given.id }) else {
          throw ReplicationError.noSuchDraft(given.id)
        }
        do {
          return try await body(outbox, item, &retries)
        } catch is Outbox.Changed {
          // Looked at again.
        }
      }
    }
  }

  /// The new objects that a draft inserts; none if it cannot be read.
  private func inserted(
    by item: OutboxItem, in outbox: Outbox
  ) async throws -> Set<ObjectReference> {
    do {
      let draft = try await load(item, from: outbox)
      let changes = draft.changes.parts.flatMap(\.changes).filter { $0.kind == .insert }
      let objects = changes.map { ObjectReference(entity: $0.entity, row: $0.row) }
      return Set(objects.filter(PendingState.isPending))
    } catch let error as AnnalsError where error.isHandedOver {
      return []
    }
  }
}
