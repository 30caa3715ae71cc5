import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

/// Something that the logical half of a verification found.
public struct StoreFinding: Sendable, Hashable {
  /// How bad it is.
  public enum Severity: Sendable, Hashable {
    /// What is read may be wrong.
    case error
    /// Worth knowing; nothing is wrong.
    case note
  }

  /// How bad it is.
  public let severity: Severity
  /// What was found and what to do about it.
  public let message: String
}

extension Store {
  /// Replays the whole history from the base and compares what comes out with what the store holds:
  /// the newest checkpoint, the state in memory, and the indexes.
  ///
  /// The logical half of a verification; `annals verify` checks the bytes of the file first. Costs
  /// what the whole history costs, and the memory of two states. Returns what it found; nothing, or
  /// notes only, if all is well. Throws if the store cannot be read.
  public func verify() throws(AnnalsError) -> [StoreFinding] {
    let version = version
    var findings: [StoreFinding] = []
    try AnnalsError.narrowing {
      let view = version.view
      let base = try view.baseDirectory()
      let checkpoint = try view.checkpoint(atOrBefore: view.head.number)
      var replay = try version.stateByReplaying(from: base, to: checkpoint?.number ?? view.base)
      if let checkpoint, !checkpoint.isBase {
        findings += try Store.comparison(
          of: "the checkpoint at transaction \(checkpoint.number)",
          try State(directory: checkpoint, source: LogChunkSource(view.file)), with: replay)
      }
      replay = try version.state(
        continuing: replay, after: checkpoint?.number ?? view.base, to: view.head.number)
      findings += try Store.comparison(of: "the newest state", version.state, with: replay)
      for violation in try replay.invariantViolations() {
        findings.append(StoreFinding(severity: .error, message: violation))
      }
      let dangling = try replay.danglingReferences()
      if dangling > 0 {
        findings.append(
          StoreFinding(
            severity: .note,
            message: "\(dangling) relationships name objects that were deleted; they read as none"))
      }
    }
    return findings
  }

  /// What is wrong with a state that was read, next to the one that the history leads to.
  private static func comparison(
    of what: String, _ state: @autoclosure () throws -> State, with replay: State
  ) throws -> [StoreFinding] {
    do {
      guard let difference = try State.firstDifference(try state(), replay) else { return [] }
      // A checkpoint made of this state would say the same: it must be left out.
      return [
        StoreFinding(
          severity: .error,
          message: "\(what) differs from the history: \(difference). annals compact --smallest "
            + "drops it; opening then goes by the history")
      ]
    } catch {
      let error = AnnalsError.wrapping(error)
      guard error.code == .damaged else { throw error }
      let place = error.offset.map { ": the part at \($0) is damaged" } ?? ""
      return [
        StoreFinding(
          severity: .error,
          message: "\(what) cannot be read\(place). annals compact makes it anew from the history")
      ]
    }
  }
}

extension StoreVersion {
  /// The state after the transactions that follow those in `state`.
  fileprivate func state(
    continuing state: State, after: Int64, to number: Int64
  ) throws -> State {
    var replay = StateReplay(state: state)
    var cursor = try view.history(after: after, through: number)
    var batch = ChangeBatch()
    while try cursor.next(into: &batch) { try replay.apply(&batch) }
    return try replay.finish()
  }
}

extension State {
  /// How many references name objects that do not exist. O(size of the relationships).
  fileprivate func danglingReferences() throws(StateFault) -> Int {
    var count = 0
    for entity in schema.entities where !entity.isRemoved {
      let columns = entity.relationships.filter { !$0.isRemoved }.map(\.number)
      guard !columns.isEmpty else { continue }
      var rows = rows(of: entity.number)
      while let row = try rows.next() {
        for property in columns {
          switch try value(entity.number, row, property) {
          case .object(let target):
            if try !contains(target.entity, target.row) { count += 1 }
          case .objects(let list):
            for target in list where try !contains(target.entity, target.row) { count += 1 }
          default: break
          }
        }
      }
    }
    return count
  }
}
