import Annals
import AnnalsEngine
import AnnalsModel

// From a transaction that was proposed to one that the log has taken, or has not.

extension Replica {
  /// What became of a transaction that was offered to the log.
  enum Publication {
    /// The log has it, with this sequence.
    case taken(UInt64)
    /// The log has another one in its place, and will never take it.
    case behind
  }

  /// Offers a transaction to the log, as the one after `end`, until it is known what became of it.
  ///
  /// A log that ends before `end` gets back what it lost first, if `restores` is set; if not, it is
  /// behind. (A request that was not answered may yet arrive once the log has its tail again, so
  /// the transaction must stay the same.)
  ///
  /// Throws `.unavailable` if the log was not reached in time and has not taken it,
  /// `.outcomeUnknown` if it may have, `.tooLarge`, `.refused`; and as `catchUp`.
  func publish(
    _ transaction: PortableTransaction, after end: SharedLogEnd, _ retries: inout Retries,
    restores: Bool = true
  ) async throws -> Publication {
    let record = try await record(of: transaction, &retries)
    var isDoubtful = false
    while true {
      let failure: SharedLogError
      switch await appending(record, after: end) {
      case .success(let sequence):
        try requireSequence(sequence, after: end.sequence)
        return .taken(sequence)
      case .failure(let error): failure = error
      }
      switch failure {
      case .behind(let last):
        if last < end.sequence {
          guard restores else { return .behind }
          try await catchUp(isDoubtful, &retries)
          guard await retries.wait() else { throw log.undecided(failure, isDoubtful) }
          continue
        }
        // The record may be there from an attempt that was not answered.
        let isOurs = isDoubtful ? try await has(record, after: end, &retries) : false
        return isOurs ? .taken(end.sequence + 1) : .behind
      case .unknownOutcome: isDoubtful = true
      case .unavailable: break
      case .tooLong, .refused, .missing: throw ReplicationError(failure)
      }
      log.outage.note(failure)
      if !isDoubtful, Task.isCancelled { throw AnnalsError.cancelledWrite }
      guard await retries.wait() else { throw log.undecided(failure, isDoubtful) }
    }
  }

  private func catchUp(_ isDoubtful: Bool, _ retries: inout Retries) async throws {
    do {
      try await catchUp(&retries)
    } catch let error as ReplicationError where isDoubtful && error.code == .unavailable {
      throw log.undecided(.unknownOutcome(error.message), true)
    }
  }

  private func appending(
    _ record: SharedRecord, after end: SharedLogEnd
  ) async -> Result<UInt64, SharedLogError> {
    do throws(SharedLogError) {
      let sequence = try await log.shared.append(record, after: end)
      log.outage.end()
      return .success(sequence)
    } catch {
      return .failure(error)
    }
  }

  /// The record of a transaction; puts one that is too long for a record into an object first.
  private func record(
    of transaction: PortableTransaction, _ retries: inout Retries
  ) async throws -> SharedRecord {
    let id = transaction.digest.description
    func record(_ form: RecordForm) -> SharedRecord {
      let whole = transaction.isErased ? RecordForm.erased(transaction.digest, form) : form
      return SharedRecord(id: id, bytes: whole.bytes)
    }
    let whole = record(.whole(transaction.bytes))
    if whole.bytes.count <= log.shared.longestRecord { return whole }
    let digest = transaction.isErased ? Digest(of: transaction.bytes) : transaction.digest
    let name = RecordForm.objectName(of: digest)
    let object = SharedObject(
      name: name, length: UInt64(transaction.bytes.count), pieceLength: log.shared.longestPiece,
      digest: digest)
    for index in 0..<object.pieceCount {
      let start = index * object.pieceLength
      let end = min(start + object.pieceLength, transaction.bytes.count)
      let piece = Array(transaction.bytes[start..<end])
      try await log.asking(&retries) { log throws(SharedLogError) in
        try await log.put(piece, at: index, of: name)
      }
    }
    try await log.asking(&retries) { log throws(SharedLogError) in try await log.complete(object) }
    return record(.object(length: object.length, digest))
  }

  /// Whether the log has this record just after `end`.
  private func has(
    _ record: SharedRecord, after end: SharedLogEnd, _ retries: inout Retries
  ) async throws -> Bool {
    let sequence = end.sequence + 1
    do {
      let page = try await log.page(at: sequence, &retries)
      return page.records.contains { $0.sequence == sequence && $0.record.id == record.id }
    } catch let error as ReplicationError where error.code == .unavailable {
      throw log.undecided(.unknownOutcome(error.message), true)
    }
  }

  /// Throws `.skipped`, and notes it, unless a record has the sequence after that of the one before
  /// it.
  func requireSequence(_ sequence: UInt64, after last: UInt64) throws {
    if sequence == last + 1 { return }
    throw noting(
      ReplicationError(
        .skipped, "the log has given the sequence \(sequence) to the record after \(last)"))
  }
}
