import Annals
import AnnalsReplication
import AnnalsStorage

/// A way to a log that can be shut, so that writes gather behind it, and that breaks in the midst
/// of records which are given together.
final class Gate: SharedLog {
  /// What happens to the next records that are given together.
  enum Fault: Sendable {
    /// The log takes the first ones, and says so only of some of them.
    case silence(taken: Int, told: Int)
    /// The log takes the first ones and says so; the others arrive with the next call, if they fit,
    /// and nobody says so.
    case lateArrival(taken: Int)
    /// The log takes the first ones, and cannot be reached for the others, nor for this many calls.
    case outage(taken: Int, calls: Int)
    /// The log takes none, and does not allow it.
    case refusal
    /// Others write first.
    case slower(@Sendable () async -> Void)
  }

  private struct Content {
    var isShut = false
    var waiting = 0
    var faults: [Fault] = []
    var late: [(record: SharedRecord, last: SharedLogEnd)] = []
    var silences = 0
    var given: [Int] = []
  }

  let log: InMemorySharedLog
  private let content = Locked(Content())

  init(_ log: InMemorySharedLog) { self.log = log }

  var longestRecord: Int { log.longestRecord }
  var longestPiece: Int { log.longestPiece }

  /// Whether appends wait.
  var isShut: Bool {
    get { content.withLock { $0.isShut } }
    set { content.withLock { $0.isShut = newValue } }
  }

  /// How many appends wait.
  var waiting: Int { content.withLock { $0.waiting } }

  /// The counts of records that were given together.
  var given: [Int] { content.withLock { $0.given } }

  /// Has this happen to the next records that are given together, one after the other.
  func breakNext(_ faults: Fault...) { content.withLock { $0.faults += faults } }

  private func pass() async {
    content.withLock { $0.waiting += 1 }
    while isShut { try? await Task.sleep(for: .microseconds(200)) }
    content.withLock { $0.waiting -= 1 }
  }

  private func passSilence() throws(SharedLogError) {
    let isSilent = content.withLock { content in
      defer { content.silences = max(content.silences - 1, 0) }
      return content.silences > 0
    }
    if isSilent { throw .unavailable("silence") }
  }

  /// Appends the records that are on their way, as far as they fit.
  private func deliver() async {
    let late = content.withLock { content in
      defer { content.late = [] }
      return content.late
    }
    for (record, last) in late { _ = try? await log.append(record, after: last) }
  }

  func append(
    _ record: SharedRecord, after last: SharedLogEnd
  ) async throws(SharedLogError) -> UInt64 {
    await pass()
    try passSilence()
    await deliver()
    return try await log.append(record, after: last)
  }

  func append(
    contentsOf records: [SharedRecord], after last: SharedLogEnd
  ) async -> SharedLogAnswer {
    await pass()
    let fault = content.withLock { content -> Fault? in
      content.given.append(records.count)
      return content.faults.isEmpty ? nil : content.faults.removeFirst()
    }
    do throws(SharedLogError) {
      try passSilence()
    } catch {
      return SharedLogAnswer(sequences: [], failure: error)
    }
    await deliver()
    switch fault {
    case nil: return await log.append(contentsOf: records, after: last)
    case .slower(let others):
      await others()
      return await log.append(contentsOf: records, after: last)
    case .refusal: return SharedLogAnswer(sequences: [], failure: .refused("not allowed"))
    case .silence(let taken, let told):
      var answer = await log.append(contentsOf: Array(records.prefix(taken)), after: last)
      answer.sequences.removeLast(max(answer.sequences.count - told, 0))
      answer.failure = .unknownOutcome("silence")
      return answer
    case .lateArrival(let taken):
      var answer = await log.append(contentsOf: Array(records.prefix(taken)), after: last)
      var end = last
      for (index, record) in records.enumerated() {
        if index >= taken { content.withLock { $0.late.append((record, end)) } }
        end = SharedLogEnd(sequence: end.sequence + 1, id: record.id)
      }
      answer.failure = .unknownOutcome("late")
      return answer
    case .outage(let taken, let calls):
      var answer = await log.append(contentsOf: Array(records.prefix(taken)), after: last)
      content.withLock { $0.silences = calls }
      answer.failure = .unavailable("out")
      return answer
    }
  }

  func records(from sequence: UInt64, limit: Int) async throws(SharedLogError) -> SharedLogPage {
    try passSilence()
    return try await log.records(from: sequence, limit: limit)
  }

  func growth(after sequence: UInt64) -> AsyncStream<UInt64> { log.growth(after: sequence) }

  func ask(for turn: TurnRequest) { log.ask(for: turn) }

  func turnRequests() -> AsyncStream<TurnRequest> { log.turnRequests() }

  func put(_ piece: [UInt8], at index: Int, of object: String) async throws(SharedLogError) {
    try await log.put(piece, at: index, of: object)
  }

  func complete(_ object: SharedObject) async throws(SharedLogError) {
    try await log.complete(object)
  }

  func objects(beginning prefix: String) async throws(SharedLogError) -> [SharedObject] {
    try await log.objects(beginning: prefix)
  }

  func pieces(
    _ range: Range<Int>, of object: SharedObject
  ) async throws(SharedLogError) -> [[UInt8]] {
    try await log.pieces(range, of: object)
  }

  func remove(object name: String) async throws(SharedLogError) {
    try await log.remove(object: name)
  }

  func trim(before sequence: UInt64) async throws(SharedLogError) {
    try await log.trim(before: sequence)
  }
}

extension Gate {
  typealias Body = @Sendable (WriteTransaction) throws -> Void

  /// Calls that wait for a replica's turn behind a write which the log holds, in this order; then
  /// lets the log go on. Returns what each came to: the number of its transaction.
  func together(
    _ replica: Replica, _ calls: [@Sendable () async throws -> Int64],
    meanwhile: @Sendable ([Task<Int64, any Error>]) async throws -> Void = { _ in }
  ) async throws -> [Result<Int64, any Error>] {
    isShut = true
    let first = Task {
      try await replica.write(author: "first") { tx in _ = try tx.insert(Note(title: "first")) }
    }
    while waiting == 0 { try await Task.sleep(for: .microseconds(200)) }
    var tasks: [Task<Int64, any Error>] = []
    for call in calls {
      tasks.append(Task { try await call() })
      while replica.waitingWrites < tasks.count { try await Task.sleep(for: .microseconds(200)) }
    }
    try await meanwhile(tasks)
    isShut = false
    try await first.value
    var results: [Result<Int64, any Error>] = []
    for task in tasks { results.append(await task.result) }
    return results
  }

  /// As the other form, for writes with these closures.
  func together(
    _ replica: Replica, writes: [Body]
  ) async throws -> [Result<Int64, any Error>] {
    try await together(
      replica,
      writes.map { body in { try await replica.commit(author: "a", body).token.number } })
  }
}

extension Result {
  /// The error; nil for a success.
  var error: Failure? { if case .failure(let error) = self { error } else { nil } }

  /// The value; nil for a failure.
  var value: Success? { try? get() }
}
