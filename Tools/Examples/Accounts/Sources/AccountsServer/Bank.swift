import Annals
import AnnalsReplication

/// The accounts, as one of several programs sees them that share them.
///
/// Each closure may run several times, on a newer state each time that another program was faster.
/// So all that a write depends on is read in its closure, and the closure does nothing else.
struct Bank: Sendable {
  /// Why something is not done.
  enum Refusal: Error {
    case noAccount(String)
    case tooLittle(in: String)
    /// Another one was made under this name or id.
    case isTaken(String)
  }

  let replica: Replica

  /// Makes an account, once for each name. Returns the position of a state that has it.
  func open(_ account: Account) async throws -> Token {
    try await replica.commit(author: "bank", context: "open") { tx in
      if try tx.object(Account.self, where: \.name, is: account.name) != nil {
        throw Refusal.isTaken(account.name)
      }
      try tx.insert(account)
    }.token
  }

  /// Makes a transfer, once for each id. Returns the position of a state that has it.
  ///
  /// If the answer is lost, here or on the way to the client, the client asks again, this program
  /// or another one.
  func make(_ transfer: Transfer) async throws -> Token {
    try await replica.commit(author: "bank", context: "transfer") { tx in
      if let earlier = try tx.object(Transfer.self, where: \.id, is: transfer.id)?.value {
        guard (earlier.from, earlier.to) == (transfer.from, transfer.to),
          earlier.amount == transfer.amount
        else { throw Refusal.isTaken(transfer.id) }
        return
      }
      guard let from = try tx.object(Account.self, where: \.name, is: transfer.from) else {
        throw Refusal.noAccount(transfer.from)
      }
      guard let to = try tx.object(Account.self, where: \.name, is: transfer.to) else {
        throw Refusal.noAccount(transfer.to)
      }
      guard from.balance >= transfer.amount else { throw Refusal.tooLittle(in: transfer.from) }
      try tx.update(from) { $0.balance -= transfer.amount }
      try tx.update(to) { $0.balance += transfer.amount }
      try tx.insert(transfer)
    }.token
  }

  /// The state to read from: the newest that this program has; one that has what a client has
  /// written through another program, where it says `after` which position; or a past one.
  func state(after: Token?, at: Token?) async throws -> Snapshot {
    if let at {
      _ = try await replica.snapshot(notBefore: at)
      return try replica.store.snapshot(at: at)
    }
    guard let after else { return replica.store.snapshot() }
    return try await replica.snapshot(notBefore: after)
  }
}
