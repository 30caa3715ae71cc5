import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

extension AnnalsError {
  /// What a fault of the state in memory means to a caller.
  package init(_ fault: StateFault) {
    switch fault {
    case .chunk(let chunk): self.init(chunk)
    case .invalid(let entity, let row, let reason):
      self.init(
        .damaged, "entity \(entity), row \(row): \(reason). Verify the file")
    }
  }

  /// What a chunk that cannot be had means to a caller.
  package init(_ fault: ChunkFault) {
    let remedy =
      "Verify the file: damage to the newest state can be repaired from history"
    switch fault.reason {
    case .unreadable(let error as AnnalsError): self = error
    case .unreadable(let error as LogError): self.init(error)
    case .unreadable(let error):
      self.init(.io, "a part of the state cannot be read: \(error)", offset: fault.offset)
    case .checksum:
      self.init(
        .damaged, "a part of the state is not what was written. \(remedy)", offset: fault.offset)
    case .decode(let decoding) where decoding.isNewer:
      self = .newerBytes(decoding, "the file", at: fault.offset)
    case .decode(let decoding):
      self.init(
        .damaged, "a part of the state is unreadable: \(decoding). \(remedy)", offset: fault.offset)
    case .mismatch:
      self.init(
        .damaged, "a part of the state is not the one that belongs there. \(remedy)",
        offset: fault.offset)
    }
  }

  /// Runs `body`, with faults of the state as errors of the public interface.
  package static func translating<T>(
    _ body: () throws(StateFault) -> T
  ) throws(AnnalsError) -> T {
    do throws(StateFault) {
      return try body()
    } catch {
      throw AnnalsError(error)
    }
  }

  /// Runs `body`, with errors of the inner modules as errors of the public interface.
  package static func narrowing<T>(_ body: () throws -> T) throws(AnnalsError) -> T {
    do {
      return try body()
    } catch {
      throw wrapping(error)
    }
  }
}
