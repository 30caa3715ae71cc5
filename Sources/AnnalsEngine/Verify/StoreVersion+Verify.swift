import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

extension StoreVersion {
  /// Replays the whole history from the base and compares the result with what the store holds: the
  /// newest checkpoint and its tables, the state in memory, and the indexes. Compares each change's
  /// before-images with the state too.
  ///
  /// The logical half of `verify`. Costs the whole history, and the memory of two states. Throws if
  /// the store cannot be read.
  package func verifyHistory() throws(AnnalsError) -> [StoreFinding] {
    var findings: [StoreFinding] = []
    try AnnalsError.translating {
      let base = try view.baseDirectory()
      let checkpoint = try view.checkpoint(atOrBefore: view.head.number)
      var checks = HistoryChecks(tables: try TableChecks(view))
      var replay = try stateByReplaying(from: base, to: view.base)
      replay = try state(
        continuing: replay, after: view.base, to: checkpoint?.number ?? view.base, &checks)
      if let checkpoint, !checkpoint.isBase {
        findings += try StoreVersion.comparison(
          of: "the checkpoint at transaction \(checkpoint.number)",
          try State(directory: checkpoint, source: LogChunkSource(view.file)), with: replay,
          givenRows: checks.tables.givenRows)
      }
      replay = try state(
        continuing: replay, after: checkpoint?.number ?? view.base, to: view.head.number, &checks)
      findings += try StoreVersion.comparison(
        of: "the newest state", state, with: replay, givenRows: checks.tables.givenRows)
      checks.tables.reportMissingEntries()
      for violation in try replay.invariantViolations() {
        findings.append(StoreFinding(severity: .error, message: violation))
      }
      findings += try replay.collisions().map { collision in
        StoreFinding(
          severity: .error,
          message: "\(replay.text(of: collision, "have")), which is unique. Change one of them")
      }
      if let (number, says) = checks.before.difference {
        findings.append(
          StoreFinding(
            severity: .error,
            message: "transaction \(number) \(says). States of the past may be read wrongly; the "
              + "newest one is right"))
      }
      findings += checks.tables.findings
      findings += try unfinishedErasures().map { unfinished in
        StoreFinding(severity: .warning, message: unfinished.message)
      }
      findings += try DerivedChecks(replay, of: self, hasGaps: !view.gaps.isEmpty).findings
      let references = try ReferenceChecks(replay, hasGaps: !view.gaps.isEmpty)
      findings += references.findings
      if references.danglingCount > 0 {
        findings.append(
          StoreFinding(
            severity: .note,
            message: "\(references.danglingCount) relationships name objects that were deleted; "
              + "they read as none"))
      }
    }
    return findings
  }

  /// The differences between a state that was read and the one that the history leads to.
  private static func comparison(
    of what: String, _ state: @autoclosure () throws -> State, with replay: State,
    givenRows: [EntityNumber: Int64]
  ) throws -> [StoreFinding] {
    do {
      let state = try state()
      let difference: String? =
        if let difference = try State.firstDifference(state, replay) {
          "differs from the history: \(difference)"
        } else if let entity = state.entityGivingAgain(givenRows) {
          "would give rows of entity \(entity) a second time"
        } else if let violation = try state.indexViolations().first {
          "has a wrong index: \(violation)"
        } else {
          nil
        }
      // A checkpoint made from this state would repeat the error: it must not be used.
      return [difference].compactMap(\.self).map {
        StoreFinding(
          severity: .error,
          message:
            "\(what) \($0). Compacting to the smallest file drops it; opening then goes by the "
            + "history")
      }
    } catch {
      let error = AnnalsError.translated(error)
      guard error.code == .damaged else { throw error }
      let place = error.offset.map { ": the part at \($0) is damaged" } ?? ""
      return [
        StoreFinding(
          severity: .error,
          message: "\(what) cannot be read\(place). Compacting rebuilds it from the history")
      ]
    }
  }
}

extension StoreVersion {
  /// The state after replaying the transactions that follow `state`.
  fileprivate func state(
    continuing state: State, after: Int64, to number: Int64, _ checks: inout HistoryChecks
  ) throws -> State {
    var replay = StateReplay(state: state)
    var cursor = try view.history(after: after, through: number)
    var batch = ChangeBatch()
    while try cursor.next(into: &batch) {
      do {
        try replay.apply(&batch) { (state, record, batch) throws(StateFault) in
          try checks.before.compare(record, in: batch, with: state)
          checks.tables.compare(record, in: batch)
        }
      } catch {
        throw view.locating(error)
      }
    }
    return try replay.makeState()
  }
}

extension State {
  /// The first entity that would give a new object a row that was already given; nil if there is
  /// none.
  fileprivate func entityGivingAgain(_ rows: [EntityNumber: Int64]) -> EntityNumber? {
    rows.filter { nextRow(of: $0.key) <= $0.value }.keys.min()
  }
}

/// What is checked while the history is replayed.
private struct HistoryChecks {
  var before = BeforeImageCheck()
  var tables: TableChecks
}

extension StoreWriter {
  /// The physical half of `verify`: checks every byte of the file. Waits a moment for other writers
  /// to end, and locks them out meanwhile if it can. Reads the file twice.
  package func verifyFile() throws(AnnalsError) -> [StoreFinding] {
    var findings: [StoreFinding] = []
    try AnnalsError.translating {
      try log.withBytes { file, isLocked in
        var verification = try PhysicalVerification(file)
        _ = try verification.run { finding in
          // A writer at work leaves what looks torn until it is done.
          if !isLocked, finding.subject == .tornTail { return }
          findings.append(StoreFinding(finding))
        }
      }
    }
    return findings
  }
}

extension StoreFinding {
  fileprivate init(_ finding: Finding) {
    let severity: Severity =
      switch finding.severity {
      case .error: .error
      case .warning: .warning
      case .note: .note
      }
    let place = finding.offset.map { "at \($0): " } ?? ""
    let remedy = finding.remedy.isEmpty ? "" : ". \(finding.remedy)"
    self.init(severity: severity, message: place + finding.what + remedy)
  }
}
