import AnnalsFormat
import AnnalsModel

/// Why a state could not be read or changed.
///
/// After a fault in a mutating call the state is unspecified and must be discarded; the states that
/// it was copied from are unaffected.
package enum StateFault: Error, Sendable {
  /// A chunk of a checkpoint could not be read.
  case chunk(ChunkFault)
  /// The call does not fit the state: a damaged record, or a mistake of the caller.
  case invalid(entity: EntityNumber, row: Int64, reason: StaticString)
}

extension StateFault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .chunk(let fault): "\(fault)"
    case .invalid(let entity, 0, let reason): "entity \(entity): \(reason)"
    case .invalid(let entity, let row, let reason): "entity \(entity), row \(row): \(reason)"
    }
  }
}

/// Why a chunk of a checkpoint could not be read.
package struct ChunkFault: Error, Sendable {
  /// The reason.
  package enum Reason: Sendable {
    /// The file could not be read there.
    case unreadable(any Error)
    /// The bytes have another checksum than the checkpoint's directory says.
    case checksum
    /// The bytes do not decode as a chunk.
    case decode(DecodeFault)
    /// It is another chunk than the one that the directory names.
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

extension ChunkFault: CustomStringConvertible {
  package var description: String {
    switch reason {
    case .unreadable(let error): "the chunk at \(offset) cannot be read: \(error)"
    case .checksum: "the chunk at \(offset) is not what was written"
    case .decode(let fault): "the chunk at \(offset) cannot be decoded: \(fault)"
    case .mismatch: "the chunk at \(offset) is another one"
    }
  }
}
