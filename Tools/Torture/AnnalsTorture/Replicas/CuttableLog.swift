import AnnalsReplication
import AnnalsStorage

/// A way to a log that can be cut: for a while, or for good, as when the process has ended; in both
/// directions, or only for what comes back. Or it is slow.
final class CuttableLog: SharedLog {
  /// What the way is like.
  enum Condition: Equatable {
    case open
    /// Nothing arrives.
    case cut
    /// What is asked arrives, and no answer does.
    case withoutAnswers
    /// Everything takes so long.
    case slow(Duration)
  }

  private let log: any SharedLog
  private let content = Locked(Condition.open)

  init(_ log: any SharedLog) { self.log = log }

  var condition: Condition {
    get { content.withLock { $0 } }
    set { content.withLock { $0 = newValue } }
  }

  private func pass() async throws(SharedLogError) {
    switch condition {
    case .open, .withoutAnswers: break
    case .cut: throw .unavailable("the way is cut")
    case .slow(let time): try? await Task.sleep(for: time)
    }
  }

  /// Throws what an answer that does not arrive leaves unknown.
  private func passBack() throws(SharedLogError) {
    if hasNoAnswers { throw .unknownOutcome("the way was cut") }
  }

  private var hasNoAnswers: Bool { condition == .cut || condition == .withoutAnswers }

  /// What is read, if the answer arrives.
  private func answer<Answer>(_ answer: Answer) throws(SharedLogError) -> Answer {
    if hasNoAnswers { throw .unavailable("the way was cut") }
    return answer
  }

  var longestRecord: Int { log.longestRecord }
  var longestPiece: Int { log.longestPiece }

  func append(
    _ record: SharedRecord, after last: SharedLogEnd
  ) async throws(SharedLogError) -> UInt64 {
    try await pass()
    let sequence = try await log.append(record, after: last)
    try passBack()
    return sequence
  }

  func records(from sequence: UInt64, limit: Int) async throws(SharedLogError) -> SharedLogPage {
    try await pass()
    return try answer(await log.records(from: sequence, limit: limit))
  }

  func growth(after sequence: UInt64) -> AsyncStream<UInt64> { log.growth(after: sequence) }

  func put(_ piece: [UInt8], at index: Int, of object: String) async throws(SharedLogError) {
    try await pass()
    try await log.put(piece, at: index, of: object)
    try passBack()
  }

  func complete(_ object: SharedObject) async throws(SharedLogError) {
    try await pass()
    try await log.complete(object)
    try passBack()
  }

  func objects(beginning prefix: String) async throws(SharedLogError) -> [SharedObject] {
    try await pass()
    return try answer(await log.objects(beginning: prefix))
  }

  func pieces(
    _ range: Range<Int>, of object: SharedObject
  ) async throws(SharedLogError) -> [[UInt8]] {
    try await pass()
    return try answer(await log.pieces(range, of: object))
  }

  func remove(object name: String) async throws(SharedLogError) {
    try await pass()
    try await log.remove(object: name)
    try passBack()
  }

  func trim(before sequence: UInt64) async throws(SharedLogError) {
    try await pass()
    try await log.trim(before: sequence)
    try passBack()
  }
}
