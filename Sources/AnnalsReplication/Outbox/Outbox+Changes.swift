import Annals
import AnnalsEngine
import AnnalsModel
import Foundation

// What happens to a draft, from its coming to its leaving: one transaction of the outbox each.

extension Outbox {
  /// A draft that is to be kept.
  struct Arrival: Sendable {
    let id: UUID
    let author: String?
    let context: String?
    let message: String?
    let group: String?
    let date: Timestamp
    let basedOn: Token
    let policy: MergePolicy?
    let changes: [UInt8]
    let objects: [UInt8]
    /// The row that the next new object gets.
    let nextRow: Int64

    var byteCount: Int { changes.count + objects.count }
  }

  /// Keeps a draft behind the others. Returns it. Throws `.outboxFull`, and `Changed` if another
  /// process has changed the outbox since `token`.
  func add(_ arrival: Arrival, after token: Token, _ limit: OutboxLimit) throws -> OutboxItem {
    guard listing.token == token else { throw Changed() }
    let items = listing.items
    let bytes = items.reduce(arrival.byteCount) { $0 + $1.byteCount }
    guard items.count < limit.count, bytes <= limit.byteCount else {
      throw ReplicationError(
        .outboxFull,
        "the outbox has \(items.count) drafts, and this one would make it \(bytes) bytes; it takes "
          + "\(limit.count) drafts and \(limit.byteCount) bytes. Nothing was recorded. Wait until "
          + "the shared log can be reached, or set another `outboxLimit`")
    }
    var added: ObjectID?
    try change(author: arrival.author, "wait") { tx, listing in
      try tx.update(listing.head, ["nextRow": .int(max(arrival.nextRow, listing.nextRow))])
      added = try tx.insert("Draft", arrival.values(numbered: listing.nextNumber))
    } then: { listing in
      guard let added else { return }
      listing.nextRow = max(arrival.nextRow, listing.nextRow)
      listing.items.append(OutboxItem(arrival, numbered: listing.nextNumber, as: added))
      listing.nextNumber += 1
    }
    guard let item = listing.items.last else { throw Changed() }
    return item
  }

  /// Notes that a draft is offered to the log under a number, with objects under these ids: so that
  /// after a crash it is known what to look for.
  func offer(_ item: OutboxItem, as number: Int64, _ moves: ObjectMoves) throws {
    try change("offer") { tx, _ in
      guard try tx.object(item.object) != nil else { throw Changed() }
      try tx.update(
        item.object, ["offered": .int(number), "offeredMoves": .string(moves.text)])
    } then: { listing in
      listing.edit(item.id) { ($0.offered, $0.offeredMoves) = (number, moves) }
    }
  }

  /// Takes a draft out: the replica's file has it, or the program has discarded it.
  func settle(_ item: OutboxItem, at number: Int64?, _ moves: ObjectMoves) throws {
    var added: ObjectID?
    var forgotten = 0
    try change("settle") { tx, listing in
      guard try tx.object(item.object) != nil else { throw Changed() }
      try tx.delete(item.object)
      added = try tx.insert(
        "Settled",
        [
          "number": .int(item.number), "id": .uuid(RawUUID(item.id)),
          "transaction": number.map { .int($0) } ?? .null, "moves": .string(moves.text),
        ])
      // While drafts wait that may name its objects, none is forgotten.
      guard listing.items.count <= 1 else { return }
      forgotten = max(listing.settled.count + 1 - Outbox.mostSettled, 0)
      for old in listing.settled.prefix(forgotten) { try tx.delete(old) }
    } then: { listing in
      listing.items.removeAll { $0.id == item.id }
      listing.moves.add(moves)
      listing.settled.removeFirst(min(forgotten, listing.settled.count))
      if let added { listing.settled.append(added) }
    }
  }

  /// Notes that a draft cannot be sent as it is.
  func refuse(_ item: OutboxItem, _ error: AnnalsError) throws {
    try change("conflict") { tx, _ in
      guard try tx.object(item.object) != nil else { throw Changed() }
      try tx.update(item.object, ["conflict": .string(error.message)])
    } then: { listing in
      listing.edit(item.id) { $0.conflict = error }
    }
  }

  /// Has a draft wait again, with another policy. With `forgetsOffer`, it is not looked for any
  /// more where it was offered.
  func retry(_ item: OutboxItem, _ policy: MergePolicy?, forgetsOffer: Bool) throws {
    try change("retry") { tx, _ in
      guard try tx.object(item.object) != nil else { throw Changed() }
      try tx.update(item.object, ["conflict": .null, "policy": Value(policy?.rawValue)])
      if forgetsOffer { try tx.update(item.object, ["offered": .null, "offeredMoves": .null]) }
    } then: { listing in
      listing.edit(item.id) { item in
        (item.conflict, item.policy) = (nil, policy)
        if forgetsOffer { (item.offered, item.offeredMoves) = (nil, nil) }
      }
    }
  }

  /// Drops the history of an outbox in which nothing waits: the bytes of drafts that left.
  func tidy() throws {
    guard listing.items.isEmpty else { return }
    try store.prune(try store.prunePlan(before: store.token))
  }
}

extension Outbox.Listing {
  fileprivate mutating func edit(_ id: UUID, _ body: (inout OutboxItem) -> Void) {
    guard let index = items.firstIndex(where: { $0.id == id }) else { return }
    body(&items[index])
  }
}

extension Outbox.Arrival {
  fileprivate func values(numbered number: Int64) -> [String: Value] {
    [
      "number": .int(number), "id": .uuid(RawUUID(id)), "author": Value(author),
      "context": Value(context), "message": Value(message), "group": Value(group),
      "date": .date(date), "basedOn": .string(basedOn.description),
      "policy": Value(policy?.rawValue), "byteCount": .int(Int64(byteCount)),
      "changes": .data(changes), "objects": .data(objects),
    ]
  }
}

extension OutboxItem {
  fileprivate init(_ arrival: Outbox.Arrival, numbered number: Int64, as object: ObjectID) {
    self.init(
      id: arrival.id, number: number, author: arrival.author, context: arrival.context,
      message: arrival.message, group: arrival.group, date: Date(arrival.date),
      basedOn: arrival.basedOn, policy: arrival.policy, byteCount: arrival.byteCount,
      conflict: nil, object: object, offered: nil, offeredMoves: nil)
  }
}
