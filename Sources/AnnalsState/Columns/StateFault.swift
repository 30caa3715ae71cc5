import AnnalsFormat
import AnnalsModel

/// Why a state could not be read, changed or queried: the one error of this module and of queries.
///
/// After a fault in a mutating call the state is unspecified and must be discarded; the states that
/// it was copied from are unaffected.
package enum StateFault: Error, Sendable {
  /// A chunk of a checkpoint could not be read. Its frame is at this offset of the file.
  case chunk(ChunkFault, at: UInt64)
  /// The call does not fit the state: a damaged record, or a mistake of the caller.
  case invalid(entity: EntityNumber, row: Int64, reason: StaticString)
  /// A condition, a key, a path or an aggregate cannot be evaluated. The text says why, as a
  /// sentence without its full stop.
  case query(QueryFault, String)
  /// The error of what the caller provides: the bytes of large values, and records.
  case interrupted(any Error)
}

/// Why a chunk of a checkpoint could not be read.
package enum ChunkFault: Sendable {
  /// The file could not be read there.
  case unreadable(any Error)
  /// The bytes have another checksum than the checkpoint's directory says.
  case checksum
  /// The bytes do not decode as a chunk.
  case decode(DecodeFault)
  /// It is another chunk than the one that the directory names.
  case mismatch
}

/// What kind of reason a query cannot be evaluated for.
package enum QueryFault: Sendable {
  /// The state's schema lacks a name: another state may have it.
  case unknownName
  /// What the query names does not suit it: a value of another type, a path that leads nowhere.
  case unsuitable
  /// No index of the name given can serve.
  case noSuchIndex
  /// A sum exceeds the integers of 64 bits, or the doubles.
  case overflow
}

extension StateFault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .chunk(.unreadable(let error), let offset):
      "the chunk at \(offset) cannot be read: \(error)"
    case .chunk(.checksum, let offset): "the chunk at \(offset) is not what was written"
    case .chunk(.decode(let fault), let offset):
      "the chunk at \(offset) cannot be decoded: \(fault)"
    case .chunk(.mismatch, let offset): "the chunk at \(offset) is another one"
    case .invalid(let entity, 0, let reason): "entity \(entity): \(reason)"
    case .invalid(let entity, let row, let reason): "entity \(entity), row \(row): \(reason)"
    case .query(_, let reason): reason
    case .interrupted(let error): "\(error)"
    }
  }
}
