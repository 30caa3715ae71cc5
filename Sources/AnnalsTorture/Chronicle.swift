import Annals
import AnnalsExchange
import AnnalsModel

/// What a store says of its past, short enough to keep for every number: a digest of each
/// transaction with all its changes, before and after, and one of the whole state after it.
///
/// Digests compare within one process only.
package struct Chronicle: Sendable, Hashable {
  package private(set) var transactions: [Int64: Int] = [:]
  package private(set) var states: [Int64: Int] = [:]

  /// A chronicle of nothing.
  package init() {}

  /// Takes in what the store says of the transactions after a number, up to its head, in place of
  /// what was noted for them before. Costs what reading each of these states costs.
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

  /// Whether the store says of one state what this does.
  func agrees(with store: Store, at number: Int64) throws -> Bool {
    states[number] == (try Chronicle.digest(of: store.snapshot(at: number)))
  }

  /// Forgets everything behind a number.
  package mutating func forget(after number: Int64) {
    transactions = transactions.filter { $0.key <= number }
    states = states.filter { $0.key <= number }
  }

  /// Compares what the store says, from its base to its head, with this: the whole history, and
  /// every state or, with `states` false, the newest alone.
  ///
  /// - Throws: `BrokenPromise` for the first transaction or state that differs; what reading
  ///   throws.
  package func check(_ store: Store, _ reader: String, states isWhole: Bool = true) throws {
    let base = store.base.number
    let head = store.token.number
    var next = base + 1
    try store.history().forEach { transaction in
      guard transaction.number == next else {
        throw BrokenPromise(
          "\(reader): transaction \(transaction.number) stands where \(next) should")
      }
      guard transactions[next] == Chronicle.digest(of: transaction) else {
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

  /// Differs between transactions that differ in anything but the store they are in.
  private static func digest(of transaction: Transaction) -> Int {
    var hasher = Hasher()
    hasher.combine(transaction.number)
    hasher.combine(transaction.timestamp)
    hasher.combine(transaction.author)
    hasher.combine(transaction.context)
    hasher.combine(transaction.processName)
    hasher.combine(transaction.processID)
    hasher.combine(transaction.metadata)
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
  /// What was found and what should have been.
  package let description: String

  /// The promise of which this is said.
  package init(_ description: String) { self.description = description }
}
