import AnnalsModel

// Checking transactions before they are written into a new file, as `PhysicalVerification` will
// check them there.
extension TransactionChecks {
  /// What is wrong with a transaction.
  package struct Fault: Hashable, Sendable {
    /// The transaction's number.
    package var number: Int64
    /// What is wrong, as a phrase that continues "transaction N …".
    package var reason: String
  }

  /// Checks the transactions, or the part of one, of the next frame. Returns the first error that a
  /// verification would find; nil if there is none. `fault` returns what is wrong with a reference
  /// to a large value.
  ///
  /// Do not continue after a fault.
  package mutating func firstFault(
    in batch: ChangeBatch, largeValue fault: (LargeValue) -> String?
  ) -> Fault? {
    for record in batch.transactions {
      var found: String?
      var log = FindingLog { finding in
        if found == nil, finding.severity == .error { found = finding.what }
      }
      check(record, in: batch, at: 0, &log) { value, log in
        if let what = fault(value) { log.error(.largeValue, at: nil, "it has \(what)") }
      }
      guard let found else { continue }
      let subject = "transaction \(record.number) "
      let reason = found.hasPrefix(subject) ? "it " + found.dropFirst(subject.count) : found
      return Fault(number: record.number, reason: reason)
    }
    return nil
  }
}
