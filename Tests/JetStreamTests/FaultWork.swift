#if JetStream

import AnnalsReplication
import AnnalsStorage
import Testing

/// Appends as a replica does: tries again until it is known what became of each record, and
/// remembers what was acknowledged.
struct FaultWork: Sendable {
  let log: any SharedLog
  let name: String
  /// What the log has acknowledged, by sequence.
  var acknowledged: [UInt64: String] = [:]
  var unknown = 0
  var unavailable = 0
  /// Counts what all have acknowledged.
  var progress = Progress()
  /// How often the log ended before a record that it had acknowledged.
  var lostTails = 0

  init(_ log: any SharedLog, _ name: String) {
    self.log = log
    self.name = name
  }

  mutating func append(while goesOn: Flag, until end: ContinuousClock.Instant) async {
    var last = SharedLogEnd.beginning
    var number = 0
    while goesOn.isSet, .now < end {
      let record = SharedRecord(
        id: "\(name)x\(number)", bytes: [UInt8](repeating: UInt8(number & 255), count: 100))
      last = await append(record, after: last, until: end)
      number += 1
    }
  }

  private mutating func append(
    _ record: SharedRecord, after known: SharedLogEnd, until end: ContinuousClock.Instant
  ) async -> SharedLogEnd {
    var last = known
    var isDoubtful = false
    while .now < end {
      do throws(SharedLogError) {
        let sequence = try await log.append(record, after: last)
        acknowledged[sequence] = record.id
        progress.add()
        return SharedLogEnd(sequence: sequence, id: record.id)
      } catch {
        switch error {
        case .unknownOutcome:
          unknown += 1
          isDoubtful = true
        case .behind(let newest):
          if newest < last.sequence { lostTails += 1 }
          if isDoubtful, let there = await self.record(at: last.sequence + 1, until: end),
            there.id == record.id
          {
            acknowledged[last.sequence + 1] = record.id
            return SharedLogEnd(sequence: last.sequence + 1, id: record.id)
          }
          isDoubtful = false
          last = await self.end(until: end) ?? last
          continue
        case .unavailable: unavailable += 1
        case .tooLong, .missing, .refused: Issue.record("append: \(error)")
        }
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
    return last
  }

  private func record(
    at sequence: UInt64, until end: ContinuousClock.Instant
  ) async -> SharedRecord? {
    while .now < end {
      if let page = try? await log.records(from: sequence, limit: 1) {
        return page.records.first { $0.sequence == sequence }?.record
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
    return nil
  }

  private func end(until deadline: ContinuousClock.Instant) async -> SharedLogEnd? {
    while .now < deadline {
      if let last = try? await log.records(from: .max, limit: 1).last {
        guard last > 0 else { return .beginning }
        if let record = await record(at: last, until: deadline) {
          return SharedLogEnd(sequence: last, id: record.id)
        }
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
    return nil
  }

  /// What the work met.
  struct Sum {
    var acknowledged = 0
    var unknown = 0
    var unavailable = 0
    var lostTails = 0
  }

  /// Runs eight of these at once, until `faults` are over; then compares all that was acknowledged
  /// with what the log has.
  static func run(
    _ log: any SharedLog, tasks: Int = 8, seconds: Int = 120, progress: Progress = Progress(),
    faults: @Sendable () async throws -> Void
  ) async throws -> Sum {
    let end = ContinuousClock.now + .seconds(seconds)
    let goesOn = Flag()
    let works = try await withThrowingTaskGroup(of: FaultWork.self) { group in
      for task in 0..<tasks {
        group.addTask {
          var work = FaultWork(log, "task\(task)")
          work.progress = progress
          await work.append(while: goesOn, until: end)
          return work
        }
      }
      defer { goesOn.clear() }
      try await faults()
      goesOn.clear()
      var works: [FaultWork] = []
      for try await work in group { works.append(work) }
      return works
    }
    #expect(.now < end, "the log did not come back")
    var acknowledged: [UInt64: String] = [:]
    for work in works {
      for (sequence, id) in work.acknowledged {
        #expect(acknowledged[sequence] == nil, "two records have the sequence \(sequence)")
        acknowledged[sequence] = id
      }
    }
    var found: [UInt64: String] = [:]
    var next: UInt64 = 1
    var last: UInt64 = 1
    while next <= last {
      guard let page = try? await log.records(from: next, limit: 1_000) else {
        guard .now < end else { throw SharedLogError.unavailable("at the end") }
        try await Task.sleep(for: .milliseconds(50))
        continue
      }
      last = page.last
      for (sequence, record) in page.records {
        #expect(found[sequence] == nil, "record \(sequence) came twice")
        found[sequence] = record.id
      }
      guard let newest = page.records.map(\.sequence).max() else { break }
      next = newest + 1
    }
    #expect(found.count == Int(last), "there are gaps")
    #expect(Set(found.values).count == found.count, "a record is there twice")
    for (sequence, id) in acknowledged {
      #expect(found[sequence] == id, "record \(sequence) was acknowledged")
    }
    return works.reduce(into: Sum(acknowledged: acknowledged.count)) { sum, work in
      sum.unknown += work.unknown
      sum.unavailable += work.unavailable
      sum.lostTails += work.lostTails
    }
  }
}

/// How many records were acknowledged so far.
final class Progress: Sendable {
  private let value = Locked(0)

  var count: Int { value.withLock { $0 } }

  func add() { value.withLock { $0 += 1 } }

  /// Returns once so many were, however slow the machine is.
  func reaches(_ wanted: Int) async throws {
    while count < wanted { try await Task.sleep(for: .milliseconds(20)) }
  }
}

/// A flag that is set until somebody clears it.
final class Flag: Sendable {
  private let value = Locked(true)

  var isSet: Bool { value.withLock { $0 } }

  func clear() { value.withLock { $0 = false } }
}

#endif
