#if JetStream

import AnnalsReplication
import AnnalsStorage

extension JetStreamLog {
  /// Where the log begins and ends, says its leader.
  struct Ends: Sendable {
    var first: UInt64
    var last: UInt64
    var isEmpty: Bool
    /// The identifier of the last record; nil if that was not asked for, or the record is gone.
    var id: String?
  }

  /// Up to so many records are asked for one by one, at once.
  private static let few = 8
  /// About the most bytes of a page.
  private static let pageBytes = 16 << 20
  /// The most records of a page that are asked for one by one, where consumers fail.
  private static let manyOneByOne = 256

  /// The records from a sequence on; see `SharedLog`.
  ///
  /// Answers with fewer than there are if they would be more than about 16 MiB. One round trip
  /// where there is one record or none; two or three for more.
  public func records(
    from sequence: UInt64, limit: Int
  ) async throws(SharedLogError) -> SharedLogPage {
    let generation = try await ready()
    let (ends, known) = try await endsAndRecord(at: sequence)
    var page = SharedLogPage(records: [], first: ends.first, last: ends.last)
    let start = max(sequence, ends.first)
    guard start <= ends.last, !ends.isEmpty else { return page }
    let last = start + min(ends.last - start, UInt64(max(limit, 1)) - 1)
    if last == sequence, let known {
      page.records = [(sequence, known)]
      return page
    }
    if last - start >= UInt64(JetStreamLog.few) {
      page.records = await pull(start...last, generation)
      if let end = page.records.last?.sequence { page.last = max(page.last, end) }
    }
    if page.records.isEmpty {
      // Few; or the consumer failed, or its server lags. The leader has them.
      page.records = try await get(start...last)
    }
    return page
  }

  // MARK: From the leader

  /// Where the log begins and ends.
  func ends() async throws(SharedLogError) -> Ends {
    let answer = try await ask("STREAM.INFO.\(names.records)")
    if let error = answer.error { throw error.asLogError }
    guard let state = answer.json["state"], let first = state["first_seq"]?.number(as: UInt64.self),
      let last = state["last_seq"]?.number(as: UInt64.self),
      let count = state["messages"]?.number(as: UInt64.self)
    else { throw .unavailable("the server does not say where the stream ends") }
    return Ends(
      first: count == 0 ? last + 1 : max(first, 1), last: last, isEmpty: count == 0)
  }

  /// Where the log begins and ends, and the record of a sequence, nil if there is none; at once.
  private func endsAndRecord(
    at sequence: UInt64
  ) async throws(SharedLogError) -> (Ends, SharedRecord?) {
    // What can be no record is not asked for.
    guard sequence > 0, sequence < .max else { return (try await ends(), nil) }
    let parts = try await atOnce([true, false]) { asksForEnds throws(SharedLogError) -> Part in
      if asksForEnds { return Part(ends: try await self.ends()) }
      return Part(record: try await self.record(at: sequence))
    }
    guard var ends = parts[0].ends else { return (try await self.ends(), nil) }
    let record = parts[1].record
    // It may have come between the two.
    if record != nil, ends.last + 1 == sequence {
      ends.last = sequence
      ends.isEmpty = false
    }
    return (ends, record)
  }

  private struct Part: Sendable {
    var ends: Ends?
    var record: SharedRecord?
  }

  /// Where the log begins and ends, with the last record's identifier.
  func end() async throws(SharedLogError) -> Ends {
    var ends = try await ends()
    if !ends.isEmpty { ends.id = try await record(at: ends.last)?.id ?? "" }
    return ends
  }

  /// A record; nil if there is none of that sequence.
  func record(at sequence: UInt64) async throws(SharedLogError) -> SharedRecord? {
    let json = "{\"seq\":\(sequence)}"
    guard let stored = try await message(of: names.records, json) else { return nil }
    return SharedRecord(id: stored.id ?? "", bytes: stored.bytes)
  }

  /// A message of a stream, of its leader; nil if there is none such.
  func message(
    of stream: String, _ request: String
  ) async throws(SharedLogError) -> StoredMessage? {
    let answer = try await ask("STREAM.MSG.GET.\(stream)", request)
    if let error = answer.error {
      if error.number == ServerError.noMessage { return nil }
      throw error.asLogError
    }
    guard let message = answer.json["message"], let stored = StoredMessage(message) else {
      throw .unavailable("the server's answer has no message")
    }
    return stored
  }

  /// The records of a range, or some of them from its beginning, one by one.
  private func get(
    _ range: ClosedRange<UInt64>
  ) async throws(SharedLogError) -> [(sequence: UInt64, record: SharedRecord)] {
    var records: [(sequence: UInt64, record: SharedRecord)] = []
    var bytes = 0
    var rest = range.prefix(JetStreamLog.manyOneByOne)
    while !rest.isEmpty, bytes < JetStreamLog.pageBytes {
      let some = rest.prefix(JetStreamLog.few * 2)
      rest = rest.dropFirst(some.count)
      let found = try await atOnce(some) { sequence throws(SharedLogError) in
        try await self.record(at: sequence)
      }
      // One that was trimmed meanwhile is just not there.
      for (sequence, record) in zip(some, found) {
        guard let record else { continue }
        bytes += record.bytes.count
        records.append((sequence: sequence, record: record))
      }
    }
    return records
  }

  /// The records of a range, or some of them from its beginning, or none if the consumer fails.
  private func pull(
    _ range: ClosedRange<UInt64>, _ generation: UInt64
  ) async -> [(sequence: UInt64, record: SharedRecord)] {
    let page = ReaderPage(
      stream: names.records, filter: nil, first: range.lowerBound,
      count: Int(range.upperBound - range.lowerBound) + 1, waits: true,
      bytes: max(JetStreamLog.pageBytes, 2 * longestRecord))
    let messages = await pull(page, generation) {
      range.lowerBound
    } next: {
      $0.last?.sequence.map { $0 + 1 }
    }
    var records: [(sequence: UInt64, record: SharedRecord)] = []
    records.reserveCapacity(messages.count)
    for message in messages {
      guard let sequence = message.sequence else { continue }
      records.append((sequence, SharedRecord(id: message.id ?? "", bytes: message.bytes)))
    }
    return records
  }
}

#endif
