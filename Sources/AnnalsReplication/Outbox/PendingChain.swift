import Annals
import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import Foundation

/// The newest state with the waiting drafts over it, and what it was made of.
struct PendingChain: Sendable {
  /// The position of the replica's store.
  var token: Token
  /// The position of the outbox's store.
  var outboxToken: Token
  /// The state with all drafts but those that do not fit it.
  var state: PendingState
  /// Why those do not fit.
  var conflicts: [UUID: AnnalsError] = [:]
}

/// A draft of the outbox with its bytes, read.
struct LoadedDraft: Sendable {
  let item: OutboxItem
  let changes: PortableTransaction
  let objects: PortableTransaction

  /// Throws `.damaged` or `.newerVersion` for bytes that this program cannot read.
  init(_ item: OutboxItem, _ bytes: (changes: [UInt8], objects: [UInt8])) throws(ReplicationError) {
    self.item = item
    changes = try PortableTransaction(decoding: bytes.changes)
    objects = try PortableTransaction(decoding: bytes.objects)
  }

  /// The draft, with its large values in `held`.
  func kept(in held: HeldLargeValues) throws(AnnalsError) -> KeptDraft {
    KeptDraft(
      changes: try changes.parts(in: held), objects: try objects.parts(in: held),
      base: changes.number - 1)
  }

  /// What its transaction records besides its changes.
  func origin() throws(AnnalsError) -> TransactionOrigin {
    var metadata: [String: Value] = [:]
    for entry in changes.envelope.metadata { metadata[entry.key] = entry.value }
    metadata[Outbox.metadataKey] = .string(item.id.uuidString)
    var record = TransactionRecord(number: .max, timestamp: changes.timestamp)
    record.extensions = changes.envelope.extensions
    let undo = UndoCodec.undo(of: record)
    var origin = try TransactionOrigin(
      author: item.author, context: item.context, group: undo.act == nil ? item.group : nil,
      metadata: metadata)
    if undo.act != nil {
      try origin.note(undo)
      origin.isAlwaysRecorded = true
    }
    return origin
  }
}

extension PortableTransaction {
  /// Its parts, with the large values that it sets in those of a draft.
  fileprivate func parts(in held: HeldLargeValues) throws(AnnalsError) -> [ChangeBatch] {
    var values: [LargeValue] = []
    for (tag, range) in largeValues {
      values.append(try held.add(ContiguousArray(bytes[range]), tag: tag))
    }
    return parts.map { part in
      var result = part
      for index in part.properties.indices where part.properties[index].after.isLarge {
        let own = values[Int(part.largeValue(part.properties[index].after).number) - 1]
        result.describe(own, as: own.number, in: \.after, of: index)
      }
      return result
    }
  }
}

extension AnnalsError {
  /// Whether a draft that meets it is handed over to the program: trying again would find the same.
  var isHandedOver: Bool {
    let passing: [Code] = [
      .io, .busy, .closed, .noSpace, .poisoned, .cancelled, .suspended, .forked, .outcomeUnknown,
      .permission, .readOnly, .nestedWrite,
    ]
    return !passing.contains(code)
  }
}

extension RebasedDraft {
  /// Throws `.lost` if the draft brings back an object that others have deleted, with a large value
  /// that it did not set and so does not have.
  func requireComplete() throws(AnnalsError) {
    var isComplete = true
    for part in proposed?.parts ?? [] {
      for property in part.properties where property.after.isLarge {
        isComplete = isComplete && part.largeValue(property.after).number != 0
      }
    }
    if isComplete { return }
    throw AnnalsError(
      .lost,
      "the draft brings back an object that others have deleted, with a value over 4 KiB that it "
        + "did not set, and so does not have; write it anew, with that value")
  }
}

extension StoreVersion {
  /// Throws `.lostBranch` for a draft that was written on a history which this one is not: one that
  /// the log has lost, whose file was left. Its ids may mean other objects here.
  func requireBasis(of item: OutboxItem) throws(AnnalsError) {
    do throws(AnnalsError) {
      try validate(item.basedOn)
    } catch {
      guard error.code == .lostBranch || error.code == .beyondHead else { return }
      throw AnnalsError(
        .lostBranch,
        "the draft was written after transaction \(item.basedOn.number) of a history that the "
          + "shared log has lost, and its ids may mean other objects now. Discard it, and write "
          + "its changes anew")
    }
  }
}

extension PendingChain {
  /// Makes the drafts again, in order, for the holder of the writer's turn.
  init(
    _ drafts: [LoadedDraft], _ listing: Outbox.Listing, on writer: StoreWriter
  ) throws {
    let version = writer.newest
    token = version.token
    outboxToken = listing.token
    state = try PendingState(on: version, insertingFrom: listing.nextRow)
    var moves = listing.moves
    for draft in drafts {
      do {
        try version.requireBasis(of: draft.item)
        let kept = try draft.kept(in: state.largeValues)
        let made = try writer.propose(
          kept, try draft.origin(), merging: draft.item.policy, on: state, after: moves,
          keepsRows: true)
        try made.requireComplete()
        state = made.after
        moves.places.merge(made.moves) { _, new in new }
      } catch let error as AnnalsError where error.isHandedOver {
        conflicts[draft.item.id] = error
      }
    }
  }
}
