import AnnalsFormat
import AnnalsModel

// Finding transactions by date. No transaction was made later than now: timestamps beyond it do not
// count. The history index holds the greatest timestamp of each segment of the log; where that is
// beyond now, its records are read. See FORMAT.md, "States and dates".

extension LogView {
  /// The last transaction of the longest prefix of history that ends with one that counts and whose
  /// counting timestamps are all at or before `date`; the base if there is none.
  ///
  /// Reads one segment of the log; all from the first timestamp beyond `now` on if there is one.
  package func number(asOf date: Timestamp, now: Timestamp) throws(LogError) -> Int64 {
    try lastNumber(now, from: date < now ? Timestamp(microseconds: date.microseconds + 1) : nil)
  }

  /// As `number(asOf:now:)`, for timestamps before `date`.
  package func number(before date: Timestamp, now: Timestamp) throws(LogError) -> Int64 {
    try lastNumber(now, from: date <= now ? date : nil)
  }

  /// The last transaction that was made before `date` even if clocks had gone back: the last with
  /// the greatest timestamp of the prefix before `date`. One behind it with a lesser timestamp may
  /// be as young as what follows. The base if there is none.
  ///
  /// Reads as `number(before:now:)`, and back to that transaction.
  package func number(certainlyBefore date: Timestamp, now: Timestamp) throws(LogError) -> Int64 {
    let last = try number(before: date, now: now)
    guard last > base, let greatest = try greatestTimestamp(upTo: last, now: now) else {
      return base
    }
    return try lastNumber(through: last) { $0.timestamp == greatest } ?? base
  }

  /// The greatest timestamp up to the base that counts; nil if none is known.
  package func baseDate(now: Timestamp) throws(LogError) -> Timestamp? {
    if base == 0 { return nil }
    let greatest = file.header.greatestTimestamp
    return greatest <= now ? greatest : try firstDate(withBase: base, now: now)
  }

  /// The first date with a state if a transaction is the base; nil if none is known.
  package func firstDate(withBase number: Int64, now: Timestamp) throws(LogError) -> Timestamp? {
    // Where the greatest does not count, nobody will know the greatest that does. The base's own is
    // at most that.
    let position = try position(of: number)
    return [position.maximumTimestamp, position.timestamp].first { $0 <= now }
  }

  /// When a consumer was seen last, as far as that is certain: the latest of its own dates and
  /// those of the history that it has read, of those that count; now if none does.
  ///
  /// Reads history only if the lease would have expired otherwise. If that is damaged, the lease
  /// runs.
  package func leaseStart(of consumer: ConsumerState, now: Timestamp) -> Timestamp {
    let known = [consumer.registered, consumer.lastSeen].filter { $0 <= now }.max()
    if let known, consumer.isLeaseRunning(at: now, since: known) { return known }
    do throws(LogError) {
      let read = try lastDate(upTo: min(consumer.number, head.number), now: now)
      return [known, read].compactMap { $0 }.max() ?? now
    } catch {
      return now
    }
  }

  /// A moment that counts and that a transaction was not made before; nil if none is known.
  private func lastDate(upTo number: Int64, now: Timestamp) throws(LogError) -> Timestamp? {
    guard number > base else { return number == base ? try baseDate(now: now) : nil }
    let position = try position(of: number)
    if position.maximumTimestamp <= now { return position.maximumTimestamp }
    var date: Timestamp?
    _ = try lastNumber(through: number, skipping: HistoryFilter(until: now)) { record in
      guard record.timestamp <= now else { return false }
      date = record.timestamp
      return true
    }
    if let date { return date }
    return try baseDate(now: now)
  }

  /// The greatest timestamp that counts up to a transaction of the file. Reads all history up to it
  /// if one is beyond now.
  private func greatestTimestamp(
    upTo number: Int64, now: Timestamp
  ) throws(LogError) -> Timestamp? {
    let greatest = try position(of: number).maximumTimestamp
    if greatest <= now { return greatest }
    var result = try baseDate(now: now)
    let counting = HistoryFilter(until: now)
    try forEachTransaction(after: base, through: number, skipping: counting) { record in
      if record.timestamp <= now { result = max(result ?? record.timestamp, record.timestamp) }
      return true
    }
    return result
  }

  /// The last transaction that counts before the first counting one whose timestamp is `limit` or
  /// later. The limit is not beyond now; nil for none.
  private func lastNumber(_ now: Timestamp, from limit: Timestamp?) throws(LogError) -> Int64 {
    let greatest = head.maximumTimestamp
    guard limit.map({ greatest >= $0 }) ?? (greatest > now) else { return head.number }
    if let limit, let date = try baseDate(now: now), date >= limit { return base }
    var last = head.number
    if let limit { last = try numberBefore(limit, now) }
    if greatest <= now { return last }
    // A gap has the greatest timestamp before it, but its transactions were made.
    return try lastNumber(through: last, skipping: HistoryFilter(until: now)) {
      $0.timestamp <= now || $0.lost != nil
    } ?? base
  }

  /// The number before the first counting transaction whose timestamp is `limit` or later.
  private func numberBefore(_ limit: Timestamp, _ now: Timestamp) throws(LogError) -> Int64 {
    guard let first = try firstSegment(reaching: limit) else { return head.number }
    let start = try index.entry(at: first, in: file).firstNumber - 1
    let isInOrder = head.maximumTimestamp <= now
    var last = head.number
    try forEachTransaction(
      after: max(start, base), through: head.number,
      skipping: isInOrder ? .none : HistoryFilter(since: limit)
    ) { record in
      guard record.timestamp <= now, record.timestamp >= limit else { return true }
      last = record.firstNumber - 1
      return false
    }
    return last
  }

  /// The last transaction of the file up to `last` that matches; nil if none does.
  private func lastNumber(
    through last: Int64, skipping filter: HistoryFilter = .none,
    where matches: (TransactionRecord) -> Bool
  ) throws(LogError) -> Int64? {
    guard last > base else { return nil }
    var found: Int64?
    try forEachTransaction(after: base, through: last, direction: .backward, skipping: filter) {
      guard matches($0) else { return true }
      found = $0.number
      return false
    }
    return found
  }
}

extension HistoryFilter {
  /// Skips what was made before or after a moment only.
  fileprivate init(since: Timestamp? = nil, until: Timestamp? = nil) {
    self.init()
    self.since = since
    self.until = until
  }
}
