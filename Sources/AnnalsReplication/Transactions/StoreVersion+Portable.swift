import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel

extension StoreVersion {
  /// A transaction of this file in the form in which the shared log had it; nil if it did not come
  /// from one, or if the file does not have all of it any more: what was erased since is gone.
  ///
  /// So a replica that has what the log lost can offer it again. O(bytes of the transaction).
  /// Throws as reading history does.
  package func portableTransaction(_ number: Int64) throws(AnnalsError) -> PortableTransaction? {
    try remade(number).flatMap { made, digest in made.digest == digest ? made : nil }
  }

  /// The transaction with what the file has of it now, and the digest that it had in the log.
  func remade(
    _ number: Int64
  ) throws(AnnalsError) -> (made: PortableTransaction, digest: Digest)? {
    guard let place = try place(of: number) else { return nil }
    let previous: Digest
    if place.sequence == 1 {
      previous = PortableTransaction.beginning(at: try token(of: number - 1))
    } else {
      guard let before = try self.place(of: number - 1) else { return nil }
      previous = before.digest
    }
    var content = PortableTransaction.Content(previous: previous)
    content.store = store
    content.number = number
    try AnnalsError.translating { try collect(number, into: &content) }
    let made: PortableTransaction
    do throws(AnnalsError) {
      made = try PortableTransaction(
        content, schema: view.schema(at: number), largeValues: LogLargeValues(view))
    } catch {
      if error.code == .lost { return nil }
      throw error
    }
    return (made, place.digest)
  }

  /// Reads what the file records of a transaction.
  private func collect(
    _ number: Int64, into content: inout PortableTransaction.Content
  ) throws {
    var cursor = try view.history(after: number - 1, through: number)
    var batch = ChangeBatch()
    while try cursor.next(into: &batch) {
      for record in batch.transactions where record.number == number {
        if record.part == 0 {
          var envelope = TransactionEnvelope(
            timestamp: record.timestamp, author: view.name(record.author),
            context: view.name(record.context), metadata: record.metadata,
            schemaChange: record.schemaChange, opening: view.opening(record.opening))
          for item in ExtensionArea.items(of: record.extensions) {
            var alone = record
            alone.extensions = []
            ExtensionArea.append(item.tag, item.bytes, to: &alone.extensions)
            if SharedLogPlace.place(of: alone) == nil { envelope.extensions += alone.extensions }
          }
          content.envelope = envelope
        }
        var part = ChangeBatch()
        for change in batch.changes[record.changeRange] { part.append(change, from: batch) }
        content.parts.append(part)
      }
    }
  }
}
