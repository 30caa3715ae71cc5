import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsState

// Copying runs of transactions. One that can be read, and does not fit the state before it, is lost
// as one that cannot be read: the run ends before it, and another begins behind it.

extension SalvageRun {
  /// What was left out because it does not fit the state before it, since the last gap.
  struct Misfit {
    /// The number of its last transaction.
    var last: Int64
    /// Why the first was, and where it is, in words.
    var reason: String
    var count = 1
    /// Whether the rest of the run was left out with it.
    var hasRest = false

    /// Why they were left out, in words.
    var text: String {
      (count == 1 ? reason : "\(reason), and \(count - 1) more")
        + (hasRest ? "; what follows was given up, as too much does not fit" : "")
    }
  }

  /// So many transactions that do not fit are passed over one by one: each costs reading the rest
  /// of its run again. Only files made on purpose have more than a few.
  private static let greatestMisfits = 100

  /// Bridges what is missing before a run, and copies it.
  mutating func take(_ run: SalvageSurvey.Run) throws {
    var waiting = [run]
    while let run = waiting.popLast() {
      var isBridged = true
      if run.first > target.head + 1 || remains != nil || baseDamage != nil {
        do {
          try bridge(to: run)
        } catch let error as TransactionMisfit {
          waiting += try split(run, error)
          isBridged = false
        }
      }
      if isBridged, let rest = try copy(run) { waiting.append(rest) }
    }
  }

  /// Copies a run up to its end, or to a transaction that does not fit; returns the run behind
  /// that, if there is one.
  private mutating func copy(_ run: SalvageSurvey.Run) throws -> SalvageSurvey.Run? {
    while let item = try transactions.next() {
      guard case .transactions(let offset) = item,
        let first = transactions.batch.transactions.first, first.firstNumber >= run.first,
        let last = transactions.batch.transactions.last
      else { continue }
      do {
        let newState = try stateAfterUnit()
        try copyUnit(at: offset)
        state = newState
      } catch let error as TransactionMisfit {
        return try remainder(of: run, behind: offset, error)
      }
      if last.number == run.last { return nil }
    }
    return nil
  }

  /// The state behind the unit whose first frame was read: one frame, or all parts of a
  /// transaction.
  private func stateAfterUnit() throws -> State {
    try checkNames()
    var newState = state
    try newState.take(transactions.batch)
    guard transactions.batch.transactions.last?.isContinued == true else { return newState }
    var ahead = transactions
    while ahead.batch.transactions.last?.isContinued == true {
      guard let item = try ahead.next() else { break }
      if case .transactions = item { try newState.take(ahead.batch) }
    }
    return newState
  }

  /// Throws `TransactionMisfit` if the unit whose first frame was read speaks of a name or an
  /// opening that was never recorded, or brings new ones that do not continue those known.
  private func checkNames() throws {
    var names = target.nameCount
    var openings = target.openingCount
    for record in transactions.batch.transactions where record.part == 0 {
      func misfit(_ reason: String) -> TransactionMisfit {
        TransactionMisfit(number: record.number, reason: reason)
      }
      guard record.newNames.isEmpty || Int(record.firstNewName) == names + 1 else {
        throw misfit("its new names do not continue those known")
      }
      names += record.newNames.count
      guard Int(record.author) <= names, Int(record.context) <= names else {
        throw misfit("its author or context was never recorded")
      }
      for opening in (record.lost?.openings ?? []) + [record.newOpening].compactMap({ $0 }) {
        openings += 1
        guard Int(opening.number) == openings else {
          throw misfit("its opening does not continue those known")
        }
      }
      guard Int(record.opening) <= openings else {
        throw misfit("its opening was never recorded")
      }
    }
  }

  /// Copies the unit whose first frame was read, at this offset.
  private mutating func copyUnit(at offset: UInt64) throws {
    try copyFrame(at: offset)
    while transactions.batch.transactions.last?.isContinued == true {
      guard let item = try transactions.next() else { return }
      if case .transactions(let offset) = item { try copyFrame(at: offset) }
    }
  }

  private mutating func copyFrame(at offset: UInt64) throws {
    let batch = transactions.batch
    guard let frame = try source.frame(at: offset) else {
      throw AnnalsError(.io, "the file changed while it was read", offset: offset)
    }
    try blobs.write(before: offset, from: source, to: target)
    try blobs.write(mentionedIn: batch, from: source, to: target)
    try frame.payload.withUnsafeBytes {
      try target.append(copyOf: frame.header.kind, payload: $0, batch: batch)
    }
    for record in batch.transactions where !record.isContinued && record.lost == nil {
      report.transactions += 1
    }
  }

  // MARK: What does not fit

  /// Leaves out the unit at `offset`. Returns the run behind it, which is copied next; nil if it is
  /// the last of its run, or too much did not fit.
  private mutating func remainder(
    of run: SalvageSurvey.Run, behind offset: UInt64, _ error: TransactionMisfit
  ) throws -> SalvageSurvey.Run? {
    misfits += 1
    var last = try source.transactions(at: offset)?.transactions.last?.number ?? run.last
    let isTooMuch = misfits > SalvageRun.greatestMisfits && last < run.last
    if isTooMuch { last = run.last }
    var left = misfit ?? Misfit(last: last, reason: "\(error) at offset \(offset)", count: 0)
    left.last = last
    left.count += 1
    left.hasRest = isTooMuch
    misfit = left
    guard last < run.last else { return nil }
    var cursor = try ReadableTransactions(file, from: offset, first: run.first)
    while let item = try cursor.next() {
      guard case .transactions(let offset) = item,
        let record = cursor.batch.transactions.first, record.firstNumber > last
      else { continue }
      let rest = run.rest(from: record, at: offset)
      transactions = try ReadableTransactions(file, from: offset, first: rest.first)
      return rest
    }
    return nil
  }

  /// What to take, the last first, instead of a run behind a gap that no state fits: it as far as
  /// before the unit that does not fit what comes before it, and the rest; or, if that unit is the
  /// first, what is behind it.
  private mutating func split(
    _ run: SalvageSurvey.Run, _ error: TransactionMisfit
  ) throws -> [SalvageSurvey.Run] {
    guard let offset = error.offset, offset != run.firstOffset,
      let first = try source.transactions(at: offset)?.transactions.first
    else {
      return try [remainder(of: run, behind: run.firstOffset, error)].compactMap { $0 }
    }
    var begin = run
    begin.last = first.firstNumber - 1
    return [run.rest(from: first, at: offset), begin]
  }
}

extension SalvageSurvey.Run {
  /// What the run holds from this transaction on, whose frame is at the offset: with nothing lost
  /// before it.
  fileprivate func rest(from first: TransactionRecord, at offset: UInt64) -> SalvageSurvey.Run {
    var rest = self
    rest.first = first.firstNumber
    rest.firstOffset = offset
    rest.firstTimestamp = first.timestamp
    rest.reason = ""
    rest.lostBytes = offset..<offset
    return rest
  }
}

extension State {
  /// Applies all transactions of a batch, with their changes of the schema. Throws
  /// `TransactionMisfit` if one does not fit.
  fileprivate mutating func take(_ batch: ChangeBatch) throws {
    for record in batch.transactions {
      if record.part == 0, !record.schemaChange.isEmpty { changeSchema(record.schemaChange) }
      try take(record, of: batch, direction: .forward)
    }
  }
}
