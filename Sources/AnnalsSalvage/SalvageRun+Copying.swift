import AnnalsEngine
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
      do {
        if run.first > target.head + 1 || remains != nil || baseDamage != nil {
          try bridge(to: run)
        }
        try copy(run)
      } catch let error as TransactionMisfit {
        renewChecks()
        waiting += try split(run, error)
      }
    }
  }

  /// Copies a run up to its end. Throws `TransactionMisfit`, with the place of its frame, for one
  /// that does not fit: what is in the frames before it is copied then.
  private mutating func copy(_ run: SalvageSurvey.Run) throws {
    var cursor = try ReadableTransactions(file, from: run.firstOffset, first: run.frameFirst)
    while let item = try cursor.next() {
      guard case .transactions(let offset) = item, let unit = run.part(of: cursor.batch),
        let last = unit.transactions.last
      else { continue }
      do {
        let newState = try state(behind: unit, cursor)
        try copy(unit, at: offset, &cursor)
        state = newState
      } catch var error as TransactionMisfit {
        error.offset = offset
        throw error
      }
      if last.number == run.last { return }
    }
  }

  /// The state behind a unit: transactions of one frame, or all parts of a transaction, whose first
  /// the cursor has read. Throws `TransactionMisfit` for what a verification of the new file would
  /// not let pass; the checks are of no more use then.
  private mutating func state(
    behind unit: ChangeBatch, _ cursor: ReadableTransactions
  ) throws -> State {
    var replay = StateReplay(state: state)
    try judge(unit, &replay)
    if unit.transactions.last?.isContinued == true {
      var ahead = cursor
      while ahead.batch.transactions.last?.isContinued == true, let item = try ahead.next() {
        if case .transactions = item { try judge(ahead.batch, &replay) }
      }
    }
    var newState = try replay.makeState()
    let collision = try newState.collisions().first { !collisions.contains($0) }
    guard let collision else { return newState }
    throw TransactionMisfit(
      number: try firstColliding(of: unit),
      reason: newState.text(of: collision, "would have") + ", which is unique")
  }

  /// Takes the transactions of a frame, or the part of one. Throws `TransactionMisfit`.
  private mutating func judge(_ next: ChangeBatch, _ replay: inout StateReplay) throws {
    var batch = next
    if let fault = checks.take(batch, largeValue: blobs.fault(of:)) {
      throw TransactionMisfit(number: fault.number, reason: fault.reason)
    }
    var before = BeforeImageCheck()
    try replay.apply(&batch) { (state, record, batch) throws(StateFault) in
      try before.compare(record, in: batch, with: state)
    }
    if let (number, says) = before.difference {
      throw TransactionMisfit(number: number, reason: "it \(says)")
    }
  }

  /// The first transaction of a unit that leaves a collision.
  private func firstColliding(of unit: ChangeBatch) throws -> Int64 {
    var replay = StateReplay(state: state)
    for record in unit.transactions.dropLast() {
      var own = ChangeBatch()
      own.append(record, from: unit)
      try replay.apply(&own)
      var newState = replay.state
      if try newState.collisions().contains(where: { !collisions.contains($0) }) {
        return record.number
      }
    }
    return unit.transactions.last?.number ?? target.head
  }

  /// Copies a unit, whose first frame is at this offset and was read by the cursor.
  private mutating func copy(
    _ unit: ChangeBatch, at offset: UInt64, _ cursor: inout ReadableTransactions
  ) throws {
    try copy(unit, of: cursor.batch, at: offset)
    guard unit.transactions.last?.isContinued == true else { return }
    while cursor.batch.transactions.last?.isContinued == true {
      guard let item = try cursor.next() else { return }
      if case .transactions(let offset) = item {
        try copy(cursor.batch, of: cursor.batch, at: offset)
      }
    }
  }

  /// Copies a frame, or those of its transactions that are in `part`.
  private mutating func copy(
    _ part: ChangeBatch, of frame: ChangeBatch, at offset: UInt64
  ) throws {
    try blobs.write(before: offset, from: source, to: target)
    try blobs.write(mentionedIn: part, from: source, to: target)
    if part.transactions.count == frame.transactions.count {
      guard let found = try source.frame(at: offset) else {
        throw AnnalsError(.io, "the file changed while it was read", offset: offset)
      }
      try found.payload.withUnsafeBytes {
        try target.append(copyOf: found.header.kind, payload: $0, batch: part)
      }
    } else {
      try target.write(part)
    }
    for record in part.transactions where !record.isContinued && record.lost == nil {
      report.transactions += 1
    }
  }

  // MARK: What does not fit

  /// What to take, the last first, instead of a run with a transaction that does not fit what is
  /// before it: what is left of it before that, if anything is, and the rest; or else what is
  /// behind that transaction, which is left out.
  private mutating func split(
    _ run: SalvageSurvey.Run, _ error: TransactionMisfit
  ) throws -> [SalvageSurvey.Run] {
    let offset = error.offset ?? run.firstOffset
    guard let frame = try source.transactions(at: offset), let unit = run.part(of: frame),
      let first = unit.transactions.first, let frameFirst = frame.transactions.first?.firstNumber
    else { throw AnnalsError(.io, "the file changed while it was read", offset: offset) }
    let record = unit.transactions.first { $0.number >= error.number } ?? first
    guard record.firstNumber > max(run.first, target.head + 1) else {
      return try [remainder(of: run, behind: record, at: offset, frameFirst, error)].compactMap(
        \.self)
    }
    var begin = run
    if target.head >= run.first { begin = run.rest(from: first, at: offset, frameFirst) }
    begin.last = record.firstNumber - 1
    return [run.rest(from: record, at: offset, frameFirst), begin]
  }

  /// Leaves out a transaction whose frame is at `offset`. Returns the run behind it; nil if it is
  /// the last of its run, or too much did not fit.
  private mutating func remainder(
    of run: SalvageSurvey.Run, behind record: TransactionRecord, at offset: UInt64,
    _ frameFirst: Int64, _ error: TransactionMisfit
  ) throws -> SalvageSurvey.Run? {
    misfits += 1
    let isTooMuch = misfits > SalvageRun.greatestMisfits && record.number < run.last
    let last = isTooMuch ? run.last : record.number
    var left = misfit ?? Misfit(last: last, reason: "\(error) at offset \(offset)", count: 0)
    left.last = last
    left.count += 1
    left.hasRest = isTooMuch
    misfit = left
    guard last < run.last else { return nil }
    var cursor = try ReadableTransactions(file, from: offset, first: frameFirst)
    while let item = try cursor.next() {
      guard case .transactions(let offset) = item,
        let next = cursor.batch.transactions.first(where: { $0.firstNumber > last }),
        let frameFirst = cursor.batch.transactions.first?.firstNumber
      else { continue }
      return run.rest(from: next, at: offset, frameFirst)
    }
    return nil
  }
}

extension SalvageSurvey.Run {
  /// What the run holds from this transaction on, in the frame at the offset whose first number
  /// this is: with nothing lost before it.
  fileprivate func rest(
    from first: TransactionRecord, at offset: UInt64, _ frameFirst: Int64
  ) -> SalvageSurvey.Run {
    var rest = self
    rest.first = first.firstNumber
    rest.firstOffset = offset
    rest.frameFirst = frameFirst
    rest.firstTimestamp = first.timestamp
    rest.reason = ""
    rest.lostBytes = offset..<offset
    return rest
  }

  /// Those of the transactions of a frame that are in the run, all of them mostly; nil if none is.
  func part(of frame: ChangeBatch) -> ChangeBatch? {
    guard let first = frame.transactions.first, let last = frame.transactions.last,
      first.firstNumber <= self.last, last.number >= self.first
    else { return nil }
    if first.firstNumber >= self.first, last.number <= self.last { return frame }
    var part = ChangeBatch()
    for record in frame.transactions
    where record.firstNumber >= self.first && record.number <= self.last {
      part.append(record, from: frame)
    }
    return part.transactions.isEmpty ? nil : part
  }
}
