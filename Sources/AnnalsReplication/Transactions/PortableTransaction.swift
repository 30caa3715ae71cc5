import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import Foundation

/// One committed transaction as a value that names everything by itself, so that every replica of
/// the store can commit it: numbers and names of what it changes, values before and after, date,
/// author, opening, changes of the schema, migrations, erasures, what it undoes.
///
/// Its form in bytes is in Docs/Portable-transactions.md. The digest of the one before it is among
/// them, so that one digest stands for a whole history.
public struct PortableTransaction: Sendable {
  /// The number of the transaction.
  public let number: Int64
  /// The digest of the transaction before it; of the history's beginning for the first.
  public let previous: Digest
  /// The digest of these bytes; where values of the transaction were erased since it was committed,
  /// that of the bytes which it had then.
  public private(set) var digest: Digest
  /// The portable form.
  public let bytes: [UInt8]

  /// Whether these bytes are what an erasure has left of the transaction, and `digest` another.
  package private(set) var isErased = false
  /// The store that the transaction belongs to.
  package let store: RawUUID
  /// What a file must announce before it.
  package let features: Features
  /// The names of the entities and properties that it changes.
  package let names: PortableNames
  /// Where in `bytes` the large values are, and of which kind.
  package let largeValues: [(tag: ValueTag, range: Range<Int>)]
  /// What it records besides its changes.
  package let envelope: TransactionEnvelope
  /// Its changes. A large value after a change has the number of its place in `largeValues`, from
  /// 1; one before a change has the number 0.
  package let parts: [ChangeBatch]

  /// The version of the form that this version of the program writes and reads.
  package static let version: UInt8 = 1
  /// What the bytes begin with.
  package static let magic: [UInt8] = [0xD0, 0x41, 0x50, 0x54]
  /// The most bytes that a transaction may have: a replica holds one in memory, about three times.
  package static let longest = 1 << 30

  init(_ content: Content, bytes: [UInt8]) {
    number = content.number
    previous = content.previous
    store = content.store
    features = content.features
    names = content.names
    largeValues = content.largeValues
    envelope = content.envelope
    parts = content.parts
    digest = Digest(of: bytes)
    self.bytes = bytes
  }

  /// What an erasure has left of the transaction that had this digest.
  init(_ left: PortableTransaction, inPlaceOf digest: Digest) {
    self = left
    self.digest = digest
    isErased = true
  }

  /// What is in the bytes.
  package struct Content {
    package var store = RawUUID.zero
    package var number: Int64 = 0
    package var previous: Digest
    var features = Features.none
    var names = PortableNames()
    var largeValues: [(tag: ValueTag, range: Range<Int>)] = []
    package var envelope = TransactionEnvelope(timestamp: Timestamp(microseconds: 0))
    package var parts: [ChangeBatch] = []

    /// Nothing but the digest of the transaction before.
    package init(previous: Digest) { self.previous = previous }
  }

  /// The UUID of the store that the transaction belongs to.
  public var storeID: UUID { UUID(store) }

  /// When it was made.
  package var timestamp: Timestamp { envelope.timestamp }

  /// What it erases, with all that was derived from it; nil for most.
  package var erasure: Erasure? {
    var record = TransactionRecord(number: number, timestamp: timestamp)
    record.extensions = envelope.extensions
    return ErasureCodec.erasure(of: record)
  }
}

extension PortableTransaction {
  /// What stands for the history before the first transaction of a log: a store that has reached
  /// this position.
  package static func beginning(at token: Token) -> Digest {
    var bytes: [UInt8] = Array("the beginning of a shared log, 1\n".utf8)
    bytes += token.description.utf8
    return Digest(of: bytes)
  }

  /// Throws by name if the transaction does not follow on the one with this number and digest.
  package func requireFollowing(
    _ last: Int64, _ digest: Digest, in store: RawUUID
  ) throws(ReplicationError) {
    guard self.store == store else {
      throw ReplicationError.otherStore(self.store, store)
    }
    guard number > last else {
      throw ReplicationError(
        .repeated, "the log has transaction \(number) again, after transaction \(last)")
    }
    guard number == last + 1 else {
      throw ReplicationError(
        .skipped, "the log goes from transaction \(last) to \(number), and lacks those between")
    }
    guard previous == digest else {
      throw ReplicationError(
        .branched,
        "transaction \(number) of the log does not follow on transaction \(last) as this replica "
          + "has it: the two have different histories")
    }
  }
}
