import AnnalsEngine
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

// Copies runs of transactions. A readable transaction that does not fit the state before it is lost
// like an unreadable one: the run ends before it, and another begins behind it.

extension SalvageRun {
  /// Transactions since the last gap that were left out because they do not fit the state.
  struct Misfit {
    /// The number of the last one.
    var last: Int64
    /// Why the first was left out, and its offset, in words.
    var reason: String
    var count = 1
    /// Whether the rest of the run was left out, too.
    var hasRest = false

    /// Why they were left out, in words.
    var text: String {
      (count == 1 ? reason : "\(reason), and \(count - 1) more")
        + (hasRest ? "; what follows was given up, as too much does not fit" : "")
    }
  }

  /// How many misfits are left out one by one. Each costs reading the rest of its run again; only
  /// crafted files have more than a few.
  private static let greatestMisfits = 100

  /// Writes a gap for what is missing before a run, and copies the run.
  mutating func salvage(_ run: SalvageSurvey.Run) throws {
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

  /// Copies a run. Throws `TransactionMisfit`, with the offset of the frame, for a transaction that
  /// does not fit; the frames before it are copied.
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

  /// The state behind a unit: the transactions of one frame, or all parts of a transaction, whose
  /// first part the cursor has read. Throws `TransactionMisfit` if a verification of the new file
  /// would find an error; then the checks must be renewed.
  private mutating func state(
    behind unit: ChangeBatch, _ cursor: ReadableTransactions
  ) throws -> State {
    var replay = StateReplay(state: state)
    try check(unit, &replay)
    if unit.transactions.last?.isContinued == true {
      var ahead = cursor
      while ahead.batch.transactions.last?.isContinued == true, let item = try ahead.next() {
        if case .transactions = item { try check(ahead.batch, &replay) }
      }
    }
    var newState = try replay.makeState()
    let collision = try newState.collisions().first { !collisions.contains($0) }
    guard let collision else { return newState }
    throw TransactionMisfit(
      number: try firstColliding(of: unit),
      reason: newState.text(of: collision, "would have") + ", which is unique")
  }

  /// Checks and replays the transactions, or the part of one, of a frame. Throws
  /// `TransactionMisfit`.
  private mutating func check(_ next: ChangeBatch, _ replay: inout StateReplay) throws {
    var batch = next
    if let fault = checks.firstFault(in: batch, largeValue: largeValues.fault(of:)) {
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

  /// The number of the first transaction of a unit that leaves a collision.
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

  /// Copies a unit whose first frame is at `offset` and was read by the cursor.
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

  /// Copies a frame, or only its transactions in `part`.
  private mutating func copy(
    _ part: ChangeBatch, of frame: ChangeBatch, at offset: UInt64
  ) throws {
    try largeValues.write(before: offset, from: source, to: target)
    try largeValues.write(mentionedIn: part, from: source, to: target)
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

  // MARK: Misfits

  /// Splits a run before its first transaction that does not fit, so that a gap can come between.
  /// If nothing of the run is left before that transaction, leaves it out and returns what is
  /// behind it. The run to copy next is last.
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
  /// the last of its run, or there are too many misfits.
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
  /// The run from a transaction on, with nothing lost before it. Its frame is at `offset` and
  /// begins with `frameFirst`.
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

  /// Calls `body` with the transactions of the run, frame by frame, and the frame's offset.
  func forEachBatch(
    in file: any StorageFile, _ body: (ChangeBatch, UInt64) throws -> Void
  ) throws {
    var cursor = try ReadableTransactions(file, from: firstOffset, first: frameFirst)
    while let item = try cursor.next() {
      guard case .transactions(let offset) = item, let batch = part(of: cursor.batch),
        let last = batch.transactions.last
      else { continue }
      try body(batch, offset)
      if last.number == self.last, !last.isContinued { return }
    }
  }

  /// The transactions of a frame that belong to the run, usually all; nil if none does.
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
