#if JetStream

import AnnalsReplication
import AnnalsStorage

extension JetStreamLog {
  /// Appends a record; see `SharedLog`.
  ///
  /// One round trip to the stream's leader; two more first when the connection is new, or when the
  /// append before ended otherwise than with a clean acknowledgement.
  public func append(
    _ record: SharedRecord, after last: SharedLogEnd
  ) async throws(SharedLogError) -> UInt64 {
    guard record.id.isName, record.id.utf8.count <= 64 else {
      throw .refused("\(record.id) is no identifier of a record")
    }
    let generation = try await ready()
    let longest = longestRecord
    guard record.bytes.count <= longest else { throw .tooLong(limit: longest) }
    if inside.withLock({ $0.trusted }) != generation {
      if let sequence = try await compareEnd(with: record, after: last) { return sequence }
    }
    var comparesIdentifier = true
    while true {
      let answer = try await publish(record, after: last, comparesIdentifier)
      guard let error = answer.error else {
        return try await sequence(in: answer.json, of: record, after: last, generation)
      }
      switch error.number {
      case ServerError.wrongLastSequence:
        guard let sequence = error.lastNumber else { throw error.asLogError }
        if sequence < last.sequence { distrust() }
        throw .behind(last: sequence)
      case ServerError.wrongLastIdentifier where comparesIdentifier:
        // A server that was restarted does not know the identifier of a record that is older than
        // its window of duplicates; one that caught up as a follower may have that of another.
        if let sequence = try await compareEnd(with: record, after: last) { return sequence }
        comparesIdentifier = false
      case ServerError.messageTooLong: throw .tooLong(limit: longest)
      case ServerError.notStored:
        distrust()
        throw .unknownOutcome("the server says: \(error.text)")
      default:
        distrust()
        throw error.asLogError
      }
    }
  }

  /// Compares the log's last record with the one that a caller expects to be it. Returns the
  /// sequence of `record` if that is the last one, nil if the log ends with the expected one.
  /// Throws `.behind` if it ends with another.
  private func compareEnd(
    with record: SharedRecord, after last: SharedLogEnd
  ) async throws(SharedLogError) -> UInt64? {
    let end = try await end()
    if end.last == last.sequence + 1, end.id == record.id { return end.last }
    guard end.last == last.sequence else {
      // The record may be further back, and the servers remember it.
      return nil
    }
    // What was trimmed, all of it, cannot be compared.
    guard end.isEmpty || end.id == last.id else { throw .behind(last: end.last) }
    return nil
  }

  private func publish(
    _ record: SharedRecord, after last: SharedLogEnd, _ comparesIdentifier: Bool
  ) async throws(SharedLogError) -> ServerAnswer {
    let headers = JetStreamLog.headers(of: record, after: last, comparesIdentifier)
    let subject = inside.withLock { $0.recordSubject }
    do {
      return try await request(subject, record.bytes, headers: headers)
    } catch {
      distrust()
      throw error.ofWriting(longestRecord)
    }
  }

  static func headers(
    of record: SharedRecord, after last: SharedLogEnd, _ comparesIdentifier: Bool = true
  ) -> [(key: String, value: String)] {
    var headers = [
      (key: "Nats-Msg-Id", value: record.id),
      (key: "Nats-Expected-Last-Sequence", value: "\(last.sequence)"),
    ]
    if comparesIdentifier, let id = last.id {
      headers.append((key: "Nats-Expected-Last-Msg-Id", value: id))
    }
    return headers
  }

  /// The sequence in an acknowledgement; looks at the record itself if it is not the one to be
  /// expected.
  private func sequence(
    in json: JSON, of record: SharedRecord, after last: SharedLogEnd, _ generation: UInt64
  ) async throws(SharedLogError) -> UInt64 {
    guard let sequence = json["seq"]?.number(as: UInt64.self), sequence > 0 else {
      distrust()
      throw .unknownOutcome("the server's acknowledgement has no sequence")
    }
    guard json["stream"]?.text == names.records else {
      distrust()
      throw .refused("the stream \(json["stream"]?.text ?? "?") has taken the record")
    }
    let isDuplicate = json["duplicate"]?.isTrue == true
    if sequence == last.sequence + 1, !isDuplicate {
      inside.withLock { $0.trusted = generation }
      return sequence
    }
    distrust()
    if try await self.record(at: sequence)?.id == record.id { return sequence }
    let text = "the server says that it has the record as \(sequence), and has another one there"
    // One that was sent now may have been overwritten; one that it remembers is not there.
    throw isDuplicate ? .unavailable(text) : .unknownOutcome(text)
  }

  /// The next append compares the log's end first.
  func distrust() {
    inside.withLock { $0.trusted = 0 }
  }
}

#endif
