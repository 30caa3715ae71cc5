import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Foundation

// The drafts that wait, read and made again.

extension Replica {
  /// Reads a draft's bytes; hands over what cannot be read.
  func load(_ item: OutboxItem, from outbox: Outbox) async throws -> LoadedDraft {
    try await blocking {
      do {
        return try LoadedDraft(item, try outbox.bytes(of: item))
      } catch let error as ReplicationError where error.code != .noSuchDraft {
        throw AnnalsError(
          error.code == .newerVersion ? .newerVersion : .damaged,
          "the draft \(item.number) of the outbox cannot be read: \(error.message)")
      }
    }
  }

  /// The newest state with the drafts that wait over it, for the holder of the turn. O(1) if
  /// nothing has changed, else makes all of them again.
  func chain(_ outbox: Outbox) async throws -> PendingChain {
    while true {
      let listing = try await blocking { try outbox.current() }
      if let known = content.withLock({ $0.chain }), known.outboxToken == listing.token,
        known.token == store.token
      {
        return known
      }
      var drafts: [LoadedDraft] = []
      var unreadable: [UUID: AnnalsError] = [:]
      do {
        for item in listing.items {
          do {
            drafts.append(try await load(item, from: outbox))
          } catch let error as AnnalsError where error.isHandedOver {
            unreadable[item.id] = error
          }
        }
      } catch let error as ReplicationError where error.code == .noSuchDraft {
        continue
      }
      let (known, failures) = (drafts, unreadable)
      let chain = try await writer.commitOfTask { writer in
        var chain = try PendingChain(known, listing, on: writer)
        chain.conflicts.merge(failures) { old, _ in old }
        return chain
      }
      content.withLock { $0.chain = chain }
      for (id, error) in chain.conflicts { outbox.note(error, of: id) }
      return chain
    }
  }
}
