import AnnalsFormat
import AnnalsModel

/// Why a state could not be read or changed.
///
/// After a fault in a mutating call the state is unspecified, and must be thrown away; the states
/// that it was copied from are untouched.
package enum StateFault: Error, Sendable {
  /// A chunk of a checkpoint could not be had.
  case chunk(ChunkFault)
  /// What was asked does not fit the state: a damaged record, or a mistake of the caller.
  case invalid(entity: EntityNumber, row: Int64, reason: StaticString)
}

/// Why a chunk of a checkpoint could not be had.
package struct ChunkFault: Error, Sendable {
  /// Why.
  package enum Reason: Sendable {
    /// The file could not be read there.
    case unreadable(any Error)
    /// The bytes there are not those that the checkpoint names.
    case checksum
    /// The bytes do not decode as a chunk.
    case decode(DecodeFault)
    /// It is a chunk, but not the one that the checkpoint names.
    case mismatch
  }

  /// Where the chunk's frame is in the file.
  package var offset: UInt64
  package var reason: Reason

  package init(offset: UInt64, reason: Reason) {
    self.offset = offset
    self.reason = reason
  }
}
