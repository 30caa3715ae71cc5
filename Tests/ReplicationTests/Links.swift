import AnnalsReplication
import AnnalsStorage

/// A way to a log that one replica has alone, and that a test can break at a chosen point.
final class Link: SharedLog {
  /// What happens to the next record that is appended.
  enum Fault: Sendable {
    /// It is appended, and the way breaks for good: as if the process had ended just then.
    case endAfterAppending
    /// It is appended, and nobody says so for this many calls.
    case silence(Int)
    /// The log loses its last records and this one with them, which arrives again as soon as it
    /// fits; nobody says so.
    case arriveLater(losing: Int)
    /// It is given another sequence than the next.
    case wrongSequence
  }

  let log: InMemorySharedLog
  private let fault = Locked<Fault?>(nil)
  private let silences = Locked<Int>(0)
  /// How many pieces are given, and then none; and how many were asked for.
  let pieces = Locked<(rest: Int, count: Int)>((.max, 0))
  /// Where pages of records were asked for, and where the next one is lost.
  let pages = Locked<(starts: [UInt64], lost: Set<UInt64>)>(([], []))
  /// What happens before a piece is given, once.
  let onPiece = Locked<(@Sendable () async -> Void)?>(nil)
  /// What happens when a snapshot is refused.
  let onRefusal = Locked<(@Sendable () -> Void)?>(nil)
  private let cut = Locked<(snapshots: Bool, trim: Bool)>((false, false))
  private let late = Locked<(record: SharedRecord, last: SharedLogEnd)?>(nil)
  private let away = Locked<Bool>(false)

  /// Whether the log cannot be reached this way.
  var isAway: Bool {
    get { away.withLock { $0 } }
    set { away.withLock { $0 = newValue } }
  }

  /// Whether snapshots are not taken.
  var refusesSnapshots: Bool {
    get { cut.withLock { $0.snapshots } }
    set { cut.withLock { $0.snapshots = newValue } }
  }

  /// Whether the way breaks when the log is to be trimmed.
  var isTrimCut: Bool {
    get { cut.withLock { $0.trim } }
    set { cut.withLock { $0.trim = newValue } }
  }

  init(_ log: InMemorySharedLog) { self.log = log }

  var longestRecord: Int { log.longestRecord }
  var longestPiece: Int { log.longestPiece }

  /// Breaks the way at the next record.
  func breakNext(_ next: Fault) { fault.withLock { $0 = next } }

  func append(
    _ record: SharedRecord, after last: SharedLogEnd
  ) async throws(SharedLogError) -> UInt64 {
    try passSilence()
    await deliver()
    let next = fault.withLock { fault in
      defer { fault = nil }
      return fault
    }
    let sequence = try await log.append(record, after: last)
    switch next {
    case nil: return sequence
    case .endAfterAppending: throw .refused("the process ends here")
    case .wrongSequence: return sequence + 1
    case .arriveLater(let count):
      log.loseTail(1 + count)
      late.withLock { $0 = (record, last) }
      throw .unknownOutcome("late")
    case .silence(let count):
      silences.withLock { $0 = count }
      throw .unknownOutcome("silence")
    }
  }

  /// Appends the record that is on its way, if it fits.
  private func deliver() async {
    guard let (record, last) = late.withLock({ $0 }) else { return }
    if (try? await log.append(record, after: last)) != nil { late.withLock { $0 = nil } }
  }

  private func pass() throws(SharedLogError) {
    if isAway { throw .unavailable("the way is cut") }
  }

  private func passSilence() throws(SharedLogError) {
    try pass()
    let isSilent = silences.withLock { count in
      defer { count = max(count - 1, 0) }
      return count > 0
    }
    if isSilent { throw .unavailable("silence") }
  }

  func records(from sequence: UInt64, limit: Int) async throws(SharedLogError) -> SharedLogPage {
    try passSilence()
    let isLost = pages.withLock { pages in
      if limit > 1 { pages.starts.append(sequence) }
      return limit > 1 && pages.lost.remove(sequence) != nil
    }
    if isLost { throw .unavailable("a page is lost") }
    return try await log.records(from: sequence, limit: limit)
  }

  func growth(after sequence: UInt64) -> AsyncStream<UInt64> { log.growth(after: sequence) }

  func ask(for turn: TurnRequest) { log.ask(for: turn) }

  func turnRequests() -> AsyncStream<TurnRequest> { log.turnRequests() }

  func put(_ piece: [UInt8], at index: Int, of object: String) async throws(SharedLogError) {
    try pass()
    try await log.put(piece, at: index, of: object)
  }

  func complete(_ object: SharedObject) async throws(SharedLogError) {
    try pass()
    if object.name.hasPrefix("snapshot/"), refusesSnapshots {
      onRefusal.withLock { $0?() }
      throw .refused("no more objects")
    }
    try await log.complete(object)
  }

  func objects(beginning prefix: String) async throws(SharedLogError) -> [SharedObject] {
    try pass()
    return try await log.objects(beginning: prefix)
  }

  func pieces(
    _ range: Range<Int>, of object: SharedObject
  ) async throws(SharedLogError) -> [[UInt8]] {
    let isGiven = pieces.withLock { pieces in
      defer { pieces = (max(pieces.rest - 1, 0), pieces.count + 1) }
      return pieces.rest > 0
    }
    try pass()
    if let call = onPiece.withLock({ $0.take() }) { await call() }
    guard isGiven else { throw .unavailable("no more pieces") }
    return try await log.pieces(range.prefix(1), of: object)
  }

  func remove(object name: String) async throws(SharedLogError) {
    try pass()
    try await log.remove(object: name)
  }

  func trim(before sequence: UInt64) async throws(SharedLogError) {
    try pass()
    if isTrimCut { throw .refused("the process ends here") }
    try await log.trim(before: sequence)
  }
}
