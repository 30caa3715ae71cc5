/// What was read of the log from a sequence on: transactions that lie there one behind the other.
struct LogReading: Sendable {
  /// A transaction that came from the log.
  struct Arrival: Sendable {
    let sequence: UInt64
    let transaction: PortableTransaction

    init(_ sequence: UInt64, _ transaction: PortableTransaction) {
      self.sequence = sequence
      self.transaction = transaction
    }
  }

  /// The sequence of the first record that was asked for.
  let start: UInt64
  /// The sequences of the first and the last record of the log.
  let first: UInt64
  let last: UInt64
  fileprivate(set) var arrivals: [Arrival] = []
  /// Why the record behind these is no transaction.
  fileprivate(set) var failure: (any Error)?
}

extension PatientLog {
  /// Reads and decodes up to `limit` records from a sequence on; none if the log lost its tail, or
  /// has trimmed what is asked for. Throws as `asking`.
  func reading(
    from start: UInt64, _ limit: Int, _ retries: inout Retries
  ) async throws -> LogReading {
    let page = try await asking(&retries) { log throws(SharedLogError) in
      try await log.records(from: start, limit: limit)
    }
    var result = LogReading(start: start, first: page.first, last: page.last)
    guard page.first <= start, page.last >= start else { return result }
    var records: [UInt64: SharedRecord] = [:]
    for (sequence, record) in page.records { records[sequence] = record }
    var next = start
    while let record = records[next] {
      do {
        result.arrivals.append(
          LogReading.Arrival(next, try await transaction(in: record, &retries)))
      } catch {
        result.failure = error
        return result
      }
      next += 1
    }
    return result
  }
}
