import Annals

/// Shows transactions of a history, with the first of their changes.
package struct TransactionShowing {
  package let changes: ChangeShowing

  package init(_ changes: ChangeShowing) { self.changes = changes }

  private var limits: ShowingLimits { changes.values.limits }

  /// If there are more lines about the schema than the first, as many as the second are shown.
  private static let schemaLinesIfWhole = 12
  private static let schemaLinesIfCut = 8

  /// Shows a transaction with the changes of the digest, named by the states.
  package func shown(
    _ digest: TransactionDigest, _ states: NamingStates
  ) throws -> TransactionsDocument.Entry {
    var entry = TransactionsDocument.Entry(
      header: header(digest.transaction, changes: digest.total),
      changes: try digest.changes.map { try changes.shown($0, states) },
      matching: digest.matching)
    let lines = SchemaText.lines(of: digest.transaction)
    if lines.count > TransactionShowing.schemaLinesIfWhole {
      entry.schemaLines = Array(lines.prefix(TransactionShowing.schemaLinesIfCut))
      entry.moreSchemaLines = lines.count - TransactionShowing.schemaLinesIfCut
    } else if !lines.isEmpty {
      entry.schemaLines = lines
    }
    return entry
  }

  /// A transaction without its changes.
  package func header(_ transaction: Transaction, changes count: Int) -> ShownHeader {
    ShownHeader(transaction, changes: count, cut: limits.text, listed: limits.listed)
  }

  /// The metadata other than the message, the first so many entries.
  package func metadata(
    of transaction: Transaction, most: Int = .max
  ) throws -> [TransactionDocument.Entry] {
    try transaction.page.batch.transactions[transaction.index].metadata
      .filter { $0.key != "message" }.prefix(most).map { entry in
        let value =
          if let newest = changes.newest {
            try changes.values.shown(entry.value, in: newest)
          } else {
            try changes.values.shown(entry.value)
          }
        return TransactionDocument.Entry(key: entry.key, value: value)
      }
  }
}
