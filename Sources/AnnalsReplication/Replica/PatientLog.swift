import Annals
import AnnalsStorage

/// A shared log that is asked again while it cannot be reached, up to a deadline.
struct PatientLog: Sendable {
  let shared: any SharedLog
  /// How long to ask, for messages; who asks brings the pauses.
  let deadline: Duration
  let outage = Outage()

  /// What is known of the log's being reachable.
  final class Outage: Sendable {
    private let reason = Locked<String?>(nil)

    /// Why the log could not be reached when it was last asked; nil if it could.
    var text: String? { reason.withLock { $0 } }

    func note(_ failure: SharedLogError) { reason.withLock { $0 = failure.text } }

    func end() { reason.withLock { $0 = nil } }
  }

  /// Asks the log, again and again while it cannot be reached. Only for what may be asked twice.
  /// Throws `.unavailable`, `.tooLarge`, `.damaged`, `.refused`.
  func asking<Answer: Sendable>(
    _ retries: inout Retries,
    _ body: (any SharedLog) async throws(SharedLogError) -> Answer
  ) async throws -> Answer {
    while true {
      let failure: SharedLogError
      do throws(SharedLogError) {
        let answer = try await body(shared)
        outage.end()
        return answer
      } catch {
        failure = error
      }
      switch failure {
      case .unavailable, .unknownOutcome: break
      case .behind, .tooLong, .missing, .refused: throw ReplicationError(failure)
      }
      outage.note(failure)
      if Task.isCancelled { throw AnnalsError.cancelledWrite }
      guard await retries.wait() else { throw undecided(failure, false) }
    }
  }

  /// The error of a call that was given up at its deadline.
  func undecided(_ failure: SharedLogError, _ isDoubtful: Bool) -> ReplicationError {
    if isDoubtful {
      return ReplicationError(
        .outcomeUnknown,
        "the shared log did not say in \(deadline) whether it has taken the transaction: "
          + "\(failure.text). If it has, every replica will have it; look once the log can be "
          + "reached")
    }
    return ReplicationError(
      .unavailable,
      "the shared log could not be reached in \(deadline): \(failure.text). Nothing was "
        + "recorded")
  }

  /// The page of at most one record that begins there.
  func page(at sequence: UInt64, _ retries: inout Retries) async throws -> SharedLogPage {
    try await asking(&retries) { log throws(SharedLogError) in
      try await log.records(from: sequence, limit: 1)
    }
  }

  /// The objects whose names begin so.
  func objects(
    beginning prefix: String, _ retries: inout Retries
  ) async throws -> [SharedObject] {
    try await asking(&retries) { log throws(SharedLogError) in
      try await log.objects(beginning: prefix)
    }
  }

  /// The snapshots in the log, the newest last.
  func snapshots(
    _ retries: inout Retries
  ) async throws -> [(object: SharedObject, details: SnapshotDetails)] {
    let objects = try await objects(beginning: SnapshotDetails.prefix, &retries)
    return objects.inOrder
  }

  /// The transaction in a record; fetches its object if it is in one.
  func transaction(
    in record: SharedRecord, _ retries: inout Retries
  ) async throws -> PortableTransaction {
    try await transaction(in: try RecordForm(record.bytes), &retries)
  }

  private func transaction(
    in form: RecordForm, _ retries: inout Retries
  ) async throws -> PortableTransaction {
    switch form {
    case .erased(let digest, let left):
      return PortableTransaction(try await transaction(in: left, &retries), inPlaceOf: digest)
    case .whole(let bytes): return try PortableTransaction(decoding: bytes)
    case .object(let length, let digest):
      let name = RecordForm.objectName(of: digest)
      let found = try await objects(beginning: name, &retries)
      guard let object = found.first(where: { $0.name == name }), object.length == length,
        object.digest == digest
      else { throw ReplicationError(.damaged, "the log lacks the object \(name)") }
      var bytes: [UInt8] = []
      var index = 0
      while index < object.pieceCount, UInt64(bytes.count) <= length {
        let pieces = try await asking(&retries) { log throws(SharedLogError) in
          try await log.pieces(object.page(from: index), of: object)
        }
        bytes += pieces.joined()
        index += pieces.count
      }
      guard Digest(of: bytes) == digest else {
        throw ReplicationError(.damaged, "the object \(name) is not what was put into the log")
      }
      return try PortableTransaction(decoding: bytes)
    }
  }
}

extension SharedLogError {
  /// What happened, in words.
  package var text: String {
    switch self {
    case .behind(let last): "the log ends with record \(last)"
    case .unavailable(let text), .unknownOutcome(let text), .refused(let text): text
    case .tooLong(let limit): "more than \(limit) bytes"
    case .missing(let text): "there is no \(text)"
    }
  }
}

extension ReplicationError {
  /// The error for what the log will not do.
  init(_ error: SharedLogError) {
    switch error {
    case .tooLong(let limit):
      self.init(.tooLarge, "the log takes at most \(limit) bytes; nothing was recorded")
    case .missing(let text): self.init(.damaged, "the log lacks \(text)")
    case .unavailable(let text), .unknownOutcome(let text):
      self.init(.unavailable, "the shared log cannot be reached: \(text)")
    case .behind, .refused:
      self.init(.refused, "the shared log refuses the request: \(error.text)")
    }
  }
}
