import AnnalsModel

extension SharedLog {
  /// The store whose transactions the log has, by its first record, or else by its newest snapshot;
  /// nil if it has neither, or its first record is too long to tell.
  ///
  /// One or two round trips. Throws as `records(from:limit:)` and `objects(beginning:)`.
  func store() async throws(SharedLogError) -> RawUUID? {
    let page = try await records(from: 1, limit: 1)
    for (_, record) in page.records {
      guard case .whole(let bytes) = try? RecordForm(record.bytes),
        let transaction = try? PortableTransaction(decoding: bytes)
      else { continue }
      return transaction.store
    }
    let snapshots = try await objects(beginning: SnapshotDetails.prefix)
    return snapshots.inOrder.last?.details.token.store
  }
}
