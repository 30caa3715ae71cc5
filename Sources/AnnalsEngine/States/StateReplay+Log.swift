import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

extension StateReplay {
  /// Follows a recovery of a log to its end. If it throws, the state is of no use.
  ///
  /// Throws what the log throws; a fault of the state, or a transaction that does not fit it, if no
  /// start avoids it. O(transactions after the start). Memory: the state and one batch.
  package mutating func run(_ recovery: inout LogRecovery) throws(LogError) {
    var batch = ChangeBatch()
    while let step = try recovery.next(into: &batch) {
      do {
        switch step {
        case .restore(let start): try restore(start)
        case .apply: try apply(&batch)
        }
      } catch {
        try recovery.reject(LogError(replaying: error))
      }
    }
  }

  /// Applies what other processes have appended to a log. If it throws, the state is of no use, and
  /// the log stays as it was.
  package mutating func run(_ catchUp: inout LogCatchUp) throws(LogError) {
    var batch = ChangeBatch()
    while try catchUp.next(into: &batch) {
      do {
        try apply(&batch)
      } catch {
        throw catchUp.locating(LogError(replaying: error))
      }
    }
  }

  /// Reads a log again and lets it go on from there. If it throws, the state is of no use, and the
  /// log stays as it was.
  package mutating func reload(
    _ log: LogFile, from choice: StartChoice = .newest
  ) throws(LogError) {
    var recovery = try log.recover(from: choice)
    try run(&recovery)
    try log.adopt(recovery)
  }
}

extension LogError {
  /// An error of applying transactions. A chunk in a form of a later version is none that another
  /// start would avoid.
  fileprivate init(replaying error: any Error) {
    if case StateFault.chunk(.decode(let fault), let offset) = error, fault.isNewer {
      self = .decode(fault, at: offset)
    } else {
      self = error as? LogError ?? .interrupted(error)
    }
  }
}

extension LogFile {
  /// The state at the end of a replay up to the head. Replays again from the base if a part of the
  /// checkpoint proves damaged only now.
  ///
  /// Throws what replaying throws; the log then stands at its head all the same.
  package func state(after replay: consuming StateReplay) throws(LogError) -> State {
    let holdsValues = replay.holdsValues
    do throws(StateFault) {
      return try replay.makeState()
    } catch {
      var again = StateReplay(holdingValues: holdsValues)
      try again.reload(self, from: .base)
      do throws(StateFault) {
        return try again.makeState()
      } catch {
        throw .interrupted(error)
      }
    }
  }
}
