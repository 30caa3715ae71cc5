import AnnalsFormat
import AnnalsLog
import AnnalsState

extension AnnalsError {
  /// Translates a fault of the state in memory, or of a query over it. A name that a past state
  /// lacks is told with the number of its transaction.
  package init(_ fault: StateFault, asOf number: Int64? = nil) {
    switch fault {
    case .chunk(let chunk, let offset): self.init(chunk, at: offset)
    case .invalid: self.init(.damaged, "\(fault). Verify the file")
    case .query(.unknownName, let reason):
      self.init(
        .invalidArgument, (number.map { "as of transaction \($0) " } ?? "") + reason)
    case .query(.overflow, let reason): self.init(.tooLarge, reason)
    case .query(.unsuitable, let reason), .query(.noSuchIndex, let reason):
      self.init(.invalidArgument, reason)
    case .interrupted(let error): self = .translated(error)
    }
  }

  /// Translates a chunk that cannot be read.
  private init(_ fault: ChunkFault, at offset: UInt64) {
    let remedy =
      "Verify the file: damage to the newest state can be repaired from history"
    switch fault {
    case .unreadable(let error as AnnalsError): self = error
    case .unreadable(let error as LogError): self.init(error)
    case .unreadable(let error):
      self.init(.io, "a part of the state cannot be read: \(error)", offset: offset)
    case .checksum:
      self.init(
        .damaged, "a part of the state is not what was written. \(remedy)", offset: offset)
    case .decode(let decoding) where decoding.isNewer:
      self = .newerBytes(decoding, "the file", at: offset)
    case .decode(let decoding):
      self.init(
        .damaged, "a part of the state is unreadable: \(decoding). \(remedy)", offset: offset)
    case .mismatch:
      self.init(
        .damaged, "a part of the state is not the one that belongs there. \(remedy)",
        offset: offset)
    }
  }
}
