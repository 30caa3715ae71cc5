import Annals
import AnnalsExchange
import AnnalsModel

/// A store's past as digests: one for each transaction, with the values before and after, and one
/// for the whole state after it.
///
/// Digests are comparable within one process only.
package struct Chronicle: Sendable, Hashable {
  package private(set) var transactions: [Int64: Int] = [:]
  package private(set) var states: [Int64: Int] = [:]
  /// The chronicle before each erasure, valid if the erasure was not carried out.
  private var earlier: [Chronicle] = []
  /// Transactions whose contents are not checked: those of erasures.
  private var unread: Set<Int64> = []

  /// An empty chronicle.
  package init() {}

  /// Replaces the digests after a number by those of the store, up to its head. Costs reading each
  /// of these states.
  package mutating func read(_ store: Store, after number: Int64) throws {
    forget(after: number)
    try store.history(after: number).forEach { transaction in
      transactions[transaction.number] = Chronicle.digest(of: transaction)
    }
    var next = number
    while next <= store.token.number {
      states[next] = try Chronicle.digest(of: store.snapshot(at: next))
      next += 1
    }
  }

  /// Replaces all digests after an erasure, and keeps the old ones in `earlier`.
  package mutating func readErased(_ store: Store) throws {
    var old = self
    let number = store.token.number
    try read(store, after: store.base.number)
    old.earlier = []
    old.unread.insert(number)
    old.states[number] = states[number]
    earlier.append(old)
  }

  /// Keeps, of the chronicles before and after erasures, only the one that matches the store.
  package mutating func resolveErasures(on store: Store) throws {
    for candidate in [self] + earlier {
      if (try? candidate.checkAsItIs(store, "", false)) != nil {
        self = candidate
        return earlier = []
      }
    }
  }

  /// Whether one state of the store matches, as of now or before an erasure.
  func agrees(with store: Store, at number: Int64) throws -> Bool {
    let found = try Chronicle.digest(of: store.snapshot(at: number))
    return states[number] == found || earlier.contains { $0.states[number] == found }
  }

  /// Drops everything after a number.
  package mutating func forget(after number: Int64) {
    transactions = transactions.filter { $0.key <= number }
    states = states.filter { $0.key <= number }
  }

  /// Compares the store from its base to its head: the whole history, and every state, or, if
  /// `states` is false, only the newest. `erasures` of them returned, so older chronicles are not
  /// accepted.
  ///
  /// - Throws: `BrokenPromise` for the first transaction or state that differs; what reading
  ///   throws.
  package func check(
    _ store: Store, _ reader: String, states isWhole: Bool = true, erasures: Int = 0
  ) throws {
    do {
      try checkAsItIs(store, reader, isWhole)
    } catch let promise as BrokenPromise {
      for old in earlier.dropFirst(erasures) {
        if (try? old.checkAsItIs(store, reader, isWhole)) != nil { return }
      }
      throw promise
    }
  }

  private func checkAsItIs(_ store: Store, _ reader: String, _ isWhole: Bool) throws {
    let base = store.base.number
    let head = store.token.number
    var next = base + 1
    try store.history().forEach { transaction in
      guard transaction.number == next else {
        throw BrokenPromise(
          "\(reader): transaction \(transaction.number) stands where \(next) should")
      }
      guard unread.contains(next) || transactions[next] == Chronicle.digest(of: transaction) else {
        throw BrokenPromise("\(reader): transaction \(next) is not the one that was committed")
      }
      next += 1
    }
    guard next == head + 1 else {
      throw BrokenPromise("\(reader): history ends at \(next - 1), but the head is \(head)")
    }
    for number in (isWhole ? base : head)...head {
      guard states[number] == (try Chronicle.digest(of: store.snapshot(at: number))) else {
        throw BrokenPromise("\(reader): the state at \(number) is not the one that was committed")
      }
    }
  }

  /// A digest of everything in a transaction but the store's UUID.
  private static func digest(of transaction: Transaction) -> Int {
    var hasher = Hasher()
    hasher.combine(transaction.number)
    hasher.combine(transaction.timestamp)
    hasher.combine(transaction.author)
    hasher.combine(transaction.context)
    hasher.combine(transaction.processName)
    hasher.combine(transaction.processID)
    hasher.combine(transaction.metadata)
    hasher.combine(transaction.erasure)
    hasher.combine(transaction.group)
    hasher.combine(transaction.undoes)
    hasher.combine(transaction.redoes)
    for entity in transaction.schemaChange { hasher.combine(entity) }
    for change in transaction.changes {
      hasher.combine(change.kind)
      hasher.combine(change.objectID.entity)
      hasher.combine(change.objectID.row)
      for property in change.properties {
        hasher.combine(property.number)
        hasher.combine(property.before)
        hasher.combine(property.after)
      }
    }
    return hasher.finalize()
  }

  private static func digest(of snapshot: Snapshot) throws -> Int {
    var hasher = Hasher()
    hasher.combine(snapshot.schema)
    var state = CanonicalState(snapshot)
    try state.write { bytes in bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }
    return hasher.finalize()
  }
}

/// A promise of the store that was not kept.
package struct BrokenPromise: Error, CustomStringConvertible {
  /// What was found, and what should have been.
  package let description: String

  /// A broken promise with this description.
  package init(_ description: String) { self.description = description }
}
