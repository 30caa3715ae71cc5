import AnnalsModel

/// Judges transactions that are to be written into a new file, as `PhysicalVerification` will judge
/// them there: by the same checks.
package struct CopyChecks {
  private var transactions: TransactionChecks

  /// What is wrong with a transaction.
  package struct Fault: Hashable, Sendable {
    /// The transaction's number.
    package var number: Int64
    /// What is wrong, in words that go on from "transaction N …".
    package var reason: String
  }

  /// Begins behind what was written: its last transaction, its greatest timestamp, and the names,
  /// openings and schema as of it. O(names).
  package init(
    head: Int64, timestamp: Timestamp, names: [String], openings: [Opening], schema: Schema
  ) {
    transactions = TransactionChecks(
      head: head, timestamp: timestamp, names: names, openings: openings, schema: schema)
  }

  /// What a verification would say of deletes of dropped history that are written in front; nil if
  /// there is nothing.
  package func fault(ofTombstones batch: ChangeBatch) -> String? {
    transactions.fault(ofTombstones: batch)
  }

  /// Takes the transactions of the next frame, or the part of one, and returns the first error that
  /// a verification would tell of them; nil if there is none. `fault` says what is wrong with a
  /// large value that they speak of.
  ///
  /// Behind a fault the checks are of no more use.
  package mutating func take(
    _ batch: ChangeBatch, largeValue fault: (LargeValue) -> String?
  ) -> Fault? {
    for record in batch.transactions {
      var found: String?
      var log = FindingLog { finding in
        if found == nil, finding.severity == .error { found = finding.what }
      }
      transactions.take(record, in: batch, at: 0, &log) { value, log in
        if let what = fault(value) { log.error(.blob, at: nil, "it has \(what)") }
      }
      guard let found else { continue }
      let subject = "transaction \(record.number) "
      let reason = found.hasPrefix(subject) ? "it " + found.dropFirst(subject.count) : found
      return Fault(number: record.number, reason: reason)
    }
    return nil
  }
}
