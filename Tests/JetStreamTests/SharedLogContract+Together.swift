#if JetStream

import AnnalsReplication
import Testing

// What is promised of records that are given together.

extension SharedLogContract {
  /// Gives records to the log until it is known what became of them.
  static func give(
    _ records: [SharedRecord], to log: any SharedLog, after last: SharedLogEnd
  ) async -> SharedLogAnswer {
    var whole = SharedLogAnswer(sequences: [])
    var end = last
    for _ in 0..<200 {
      let rest = Array(records.dropFirst(whole.sequences.count))
      let answer = await log.append(contentsOf: rest, after: end)
      #expect(answer.sequences.count == rest.count || answer.failure != nil)
      for (record, sequence) in zip(rest, answer.sequences) {
        #expect(sequence == end.sequence + 1)
        end = SharedLogEnd(sequence: sequence, id: record.id)
      }
      whole.sequences += answer.sequences
      whole.failure = answer.failure
      switch answer.failure {
      case .unknownOutcome, .unavailable: continue
      default: return whole
      }
    }
    return whole
  }

  static func together(_ log: any SharedLog) async throws {
    let end = try await fill(log, 1...2)
    let records = (3...40).map { record($0) }
    let sequences = (3...40).map { UInt64($0) }
    var answer = await log.append(contentsOf: records, after: end)
    #expect(answer.sequences == sequences && answer.failure == nil)
    #expect(await log.append(contentsOf: [], after: end).sequences.isEmpty)
    // Sent again, all of them, and a part with new ones behind it.
    answer = await give(records, to: log, after: end)
    #expect(answer.sequences == sequences && answer.failure == nil)
    let more = records.suffix(3) + [record(41), record(42)]
    answer = await give(
      Array(more), to: log, after: SharedLogEnd(sequence: 37, id: record(37).id))
    #expect(answer.sequences == [38, 39, 40, 41, 42] && answer.failure == nil)
    // After another end, none is taken.
    for wrong in [
      SharedLogEnd.beginning, end, SharedLogEnd(sequence: 42, id: "recordX"),
      SharedLogEnd(sequence: 43, id: record(42).id),
    ] {
      answer = await give([record(50), record(51), record(52)], to: log, after: wrong)
      #expect(answer.sequences.isEmpty && answer.failure == .behind(last: 42), "\(wrong)")
    }
    let long = record(44, log.longestRecord + 1)
    let last = SharedLogEnd(sequence: 42, id: record(42).id)
    answer = await give([record(43), long, record(45)], to: log, after: last)
    #expect(answer.sequences == [43] && answer.failure == .tooLong(limit: log.longestRecord))
    let page = try await log.records(from: 1, limit: 100)
    #expect(page.last == 43 && sorted(page).map(\.record) == (1...43).map { record($0) })
  }

  /// Six tasks append several records at a time; what each was told is where the log has it, and no
  /// record is lost or doubled.
  static func appendersOfMany(_ log: any SharedLog) async throws {
    let tasks = 6
    let batches = 12
    let told = try await withThrowingTaskGroup(of: [(UInt64, String)].self) { group in
      for task in 0..<tasks {
        group.addTask {
          var end = SharedLogEnd.beginning
          var own: [(UInt64, String)] = []
          for batch in 0..<batches {
            var rest = (0...(batch % 7)).map { record(task * 1_000 + batch * 10 + $0) }
            while !rest.isEmpty {
              let answer = await give(rest, to: log, after: end)
              for (record, sequence) in zip(rest, answer.sequences) {
                own.append((sequence, record.id))
                end = SharedLogEnd(sequence: sequence, id: record.id)
              }
              rest.removeFirst(answer.sequences.count)
              guard let failure = answer.failure else { continue }
              guard case .behind(let last) = failure else { throw failure }
              let page = try await log.records(from: last, limit: 1)
              guard let newest = page.records.first else { continue }
              end = SharedLogEnd(sequence: newest.sequence, id: newest.record.id)
            }
          }
          return own
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    let page = try await log.records(from: 1, limit: .max)
    let found = Dictionary(uniqueKeysWithValues: page.records.map { ($0.sequence, $0.record.id) })
    #expect(told.count == page.records.count && Set(told.map(\.1)).count == told.count)
    for (sequence, id) in told { #expect(found[sequence] == id) }
  }
}

#endif
