import Annals
import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel

/// How far a replica's file has come: the number of its newest transaction, where the log has it,
/// and the digest that stands for the history up to it.
struct ReplicaPlace: Hashable, Sendable {
  var number: Int64
  var sequence: UInt64
  var digest: Digest

  /// The log's last record, if the log has nothing else than the file.
  var end: SharedLogEnd {
    sequence == 0
      ? .beginning : SharedLogEnd(sequence: sequence, id: digest.description)
  }
}

extension StoreVersion {
  /// Where the log has the transaction with this number; nil if that did not come from a log, or is
  /// not in the file any more.
  func place(of number: Int64) throws(AnnalsError) -> ReplicaPlace? {
    try sharedLogPlace(of: number).flatMap { place in
      Digest(place.digest).map {
        ReplicaPlace(number: number, sequence: place.sequence, digest: $0)
      }
    }
  }

  /// How far the file has come; nil if its newest transaction did not come from a log.
  func newestPlace() throws(AnnalsError) -> ReplicaPlace? { try place(of: head.number) }

  /// The place before a log's first record, for a store that the log goes on from.
  var origin: ReplicaPlace {
    ReplicaPlace(
      number: head.number, sequence: 0, digest: PortableTransaction.beginning(at: token))
  }
}
