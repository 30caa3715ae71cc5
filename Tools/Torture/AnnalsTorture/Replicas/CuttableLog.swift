import AnnalsReplication
import AnnalsStorage

/// A way to a log that can be cut: for a while, or for good, as when the process has ended.
final class CuttableLog: SharedLog {
  private let log: any SharedLog
  private let cut = Locked(false)

  init(_ log: any SharedLog) { self.log = log }

  var isCut: Bool {
    get { cut.withLock { $0 } }
    set { cut.withLock { $0 = newValue } }
  }

  private func pass() throws(SharedLogError) {
    if isCut { throw .unavailable("the way is cut") }
  }

  /// Throws what an answer that does not arrive leaves unknown.
  private func passBack() throws(SharedLogError) {
    if isCut { throw .unknownOutcome("the way was cut") }
  }

  var longestRecord: Int { log.longestRecord }
  var longestPiece: Int { log.longestPiece }

  func append(
    _ record: SharedRecord, after last: SharedLogEnd
  ) async throws(SharedLogError) -> UInt64 {
    try pass()
    let sequence = try await log.append(record, after: last)
    try passBack()
    return sequence
  }

  func records(from sequence: UInt64, limit: Int) async throws(SharedLogError) -> SharedLogPage {
    try pass()
    return try await log.records(from: sequence, limit: limit)
  }

  func growth(after sequence: UInt64) -> AsyncStream<UInt64> { log.growth(after: sequence) }

  func put(_ piece: [UInt8], at index: Int, of object: String) async throws(SharedLogError) {
    try pass()
    try await log.put(piece, at: index, of: object)
    try passBack()
  }

  func complete(_ object: SharedObject) async throws(SharedLogError) {
    try pass()
    try await log.complete(object)
    try passBack()
  }

  func objects(beginning prefix: String) async throws(SharedLogError) -> [SharedObject] {
    try pass()
    return try await log.objects(beginning: prefix)
  }

  func piece(_ index: Int, of object: SharedObject) async throws(SharedLogError) -> [UInt8] {
    try pass()
    return try await log.piece(index, of: object)
  }

  func remove(object name: String) async throws(SharedLogError) {
    try pass()
    try await log.remove(object: name)
    try passBack()
  }

  func trim(before sequence: UInt64) async throws(SharedLogError) {
    try pass()
    try await log.trim(before: sequence)
    try passBack()
  }
}
