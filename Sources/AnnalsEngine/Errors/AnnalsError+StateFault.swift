import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

extension AnnalsError {
  /// Translates a fault of the state in memory.
  package init(_ fault: StateFault) {
    switch fault {
    case .chunk(let chunk): self.init(chunk)
    case .invalid: self.init(.damaged, "\(fault). Verify the file")
    }
  }

  /// Translates a chunk that cannot be read.
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

  /// Runs `body` and translates faults of the state into public errors.
  package static func translating<T>(
    _ body: () throws(StateFault) -> T
  ) throws(AnnalsError) -> T {
    do throws(StateFault) {
      return try body()
    } catch {
      throw AnnalsError(error)
    }
  }

  /// Runs `body` and translates errors of the inner modules into public errors.
  package static func narrowing<T>(_ body: () throws -> T) throws(AnnalsError) -> T {
    do {
      return try body()
    } catch {
      throw wrapping(error)
    }
  }
}
