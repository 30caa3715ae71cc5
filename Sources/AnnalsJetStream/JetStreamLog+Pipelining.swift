#if JetStream

import AnnalsReplication
import AnnalsStorage

// Records that are on their way together.
//
// - Each states which record it follows on, by sequence and by identifier, also the second one and
//   those behind it. The leader takes them in the order in which they were sent; where one was
//   lost, or refused, no record behind it finds the one that it follows on.
// - So an acknowledgement stands for all before it, and the log has a prefix of them.
// - Nothing here is sent twice. What is not clear is left to the next call, which begins with
//   `append` for one record alone: it reads the log's end first.

extension JetStreamLog {
  /// Appends records one after the other, all of them sent before the first is acknowledged; see
  /// `SharedLog`.
  ///
  /// One round trip to the stream's leader, as long as all goes well; else the first record goes
  /// alone, as `append` says.
  public func append(
    contentsOf records: [SharedRecord], after last: SharedLogEnd
  ) async -> SharedLogAnswer {
    do throws(SharedLogError) {
      let generation = try await ready()
      guard inside.withLock({ $0.trusted }) != generation, let first = records.first else {
        return await pipeline(records, after: last, generation)
      }
      let sequence = try await append(first, after: last)
      guard records.count > 1, sequence == last.sequence + 1 else {
        return SharedLogAnswer(sequences: [sequence])
      }
      var answer = await append(
        contentsOf: Array(records.dropFirst()),
        after: SharedLogEnd(sequence: sequence, id: first.id))
      answer.sequences.insert(sequence, at: 0)
      return answer
    } catch {
      return SharedLogAnswer(sequences: [], failure: error)
    }
  }

  private func pipeline(
    _ records: [SharedRecord], after last: SharedLogEnd, _ generation: UInt64
  ) async -> SharedLogAnswer {
    let longest = longestRecord
    let isWrong = records.firstIndex {
      !$0.id.isName || $0.id.utf8.count > 64 || $0.bytes.count > longest
    }
    let given = records[..<(isWrong ?? records.count)]
    var end = last
    var messages: [(bytes: [UInt8], headers: [(key: String, value: String)])] = []
    for record in given {
      messages.append((record.bytes, JetStreamLog.headers(of: record, after: end)))
      end = SharedLogEnd(sequence: end.sequence + 1, id: record.id)
    }
    let subject = inside.withLock { $0.recordSubject }
    let outcomes = await connection.askAll(subject, messages).enumerated().map { index, answer in
      outcome(of: answer, subject, after: last.sequence + UInt64(index))
    }
    var count = (outcomes.lastIndex(of: .taken) ?? -1) + 1
    if let known = outcomes.lastIndex(of: .repeated), known >= count {
      // The server remembers it, and may have lost it.
      distrust()
      let there = try? await record(at: last.sequence + 1 + UInt64(known))
      if there?.id == records[known].id { count = known + 1 }
    }
    var result = SharedLogAnswer(sequences: (0..<count).map { last.sequence + 1 + UInt64($0) })
    if count < given.count {
      distrust()
      result.failure = failure(in: outcomes[count...])
    } else if let isWrong {
      let record = records[isWrong]
      result.failure =
        record.bytes.count > longest
        ? .tooLong(limit: longest) : .refused("\(record.id) is no identifier of a record")
    } else if outcomes.contains(where: { $0 != .taken }) {
      distrust()
    }
    return result
  }

  /// What became of a record that was sent with others.
  private enum Outcome: Equatable {
    case taken
    /// It was sent before, and is where it belongs, as the server says.
    case repeated
    case failed(SharedLogError)
  }

  private func outcome(
    of answer: Result<NATSMessage, NATSFailure>, _ subject: String, after last: UInt64
  ) -> Outcome {
    let answered: ServerAnswer
    do throws(NATSFailure) {
      let message = try answer.get()
      if message.isNoResponders { throw .notSent("no server answers for \(subject)") }
      answered = try self.answer(message, for: subject)
    } catch {
      noteFailure(error)
      return .failed(error.ofWriting(longestRecord))
    }
    guard let error = answered.error else {
      let json = answered.json
      guard json["seq"]?.number(as: UInt64.self) == last + 1,
        json["stream"]?.text == names.records
      else {
        return .failed(.unknownOutcome("the server's acknowledgement is of another record"))
      }
      return json["duplicate"]?.isTrue == true ? .repeated : .taken
    }
    switch error.number {
    case ServerError.wrongLastSequence:
      return .failed(error.lastNumber.map { .behind(last: $0) } ?? error.asLogError)
    case ServerError.wrongLastIdentifier:
      // The server may have forgotten it; a record by itself is compared otherwise.
      return .failed(.unavailable("the server says: \(error.text)"))
    case ServerError.messageTooLong: return .failed(.tooLong(limit: longestRecord))
    case ServerError.notStored: return .failed(.unknownOutcome("the server says: \(error.text)"))
    default: return .failed(error.asLogError)
    }
  }

  /// Why the first of these records is not in the log, if it is known that none of them will be.
  private func failure(in outcomes: ArraySlice<Outcome>) -> SharedLogError? {
    for outcome in outcomes {
      switch outcome {
      case .failed(.unknownOutcome(let text)): return .unknownOutcome(text)
      case .repeated: return .unknownOutcome("the server remembers a record, and has it not")
      case .taken, .failed: break
      }
    }
    guard case .failed(let error) = outcomes.first else { return nil }
    return error
  }
}

#endif
