import AnnalsModel

/// Where a log that replicas share has a transaction: an item of the transaction's extension area.
///
///     sequence: number; digest: 32 bytes
///
/// Docs/Portable-transactions.md, "In a replica's file".
package struct SharedLogPlace: Hashable, Sendable {
  /// The count of bytes of a digest.
  package static let digestLength = 32

  /// The number that the log has given to the transaction.
  package let sequence: UInt64
  /// The SHA-256 of the transaction's portable form.
  package let digest: ContiguousArray<UInt8>

  /// The place with this sequence and digest, which has 32 bytes.
  package init(sequence: UInt64, digest: ContiguousArray<UInt8>) {
    precondition(digest.count == SharedLogPlace.digestLength, "a digest has 32 bytes")
    self.sequence = sequence
    self.digest = digest
  }

  /// Adds the item to those of a transaction's area, in the order of their tags.
  package func append(to items: inout ContiguousArray<UInt8>) {
    var bytes: ContiguousArray<UInt8> = []
    bytes.append(varInt: sequence)
    bytes.append(contentsOf: digest)
    items = ExtensionArea.adding(ExtensionArea.sharedLogPlace, bytes, to: items)
  }

  /// Where the log has the transaction of a record; nil for a transaction of no shared log. The
  /// record's area was read, and keeps the rules.
  package static func place(of record: TransactionRecord) -> SharedLogPlace? {
    if record.isPlain || record.extensions.isEmpty { return nil }
    return ExtensionArea.item(ExtensionArea.sharedLogPlace, in: record.extensions)
      .flatMap { try? decode($0) }
  }

  /// Reads the item. Throws if it breaks a rule.
  static func decode(_ item: ContiguousArray<UInt8>) throws(DecodeFault) -> SharedLogPlace {
    try item.decoded { reader throws(DecodeFault) in
      let sequence = try reader.readVarUInt62()
      guard sequence > 0 else { throw reader.invalid("a place in a shared log before its first") }
      let digest = ContiguousArray(try reader.readBytes(digestLength))
      return SharedLogPlace(sequence: sequence, digest: digest)
    }
  }
}
