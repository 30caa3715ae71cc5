#if JetStream

import AnnalsReplication
import AnnalsStorage
import Foundation
import Testing

@testable import AnnalsJetStream

/// Servers that are killed, paused, restored from older folders.
@Suite(.serialized, .timeLimit(.minutes(5)), needsServer) struct FaultTests {
  /// A server is killed in the middle of eight appenders, three times.
  @Test func killedServer() async throws {
    let server = try NATSServer()
    try await server.start()
    let log = try await JetStreamLog.connect(server.options())
    let progress = Progress()
    let sum = try await FaultWork.run(log, progress: progress) {
      for _ in 0..<3 {
        try await Task.sleep(for: .milliseconds(500))
        server.kill()
        try await Task.sleep(for: .milliseconds(100))
        try await server.start()
        try await log.untilReachable()
      }
      try await Task.sleep(for: .milliseconds(500))
      try await progress.reaches(200)
    }
    print("killed server: \(sum)")
    #expect(sum.acknowledged > 100 && sum.unavailable > 0 && sum.lostTails == 0)
    log.close()
  }

  /// The leader of three is killed in the middle of eight appenders, and comes back; twice.
  @Test func killedLeader() async throws {
    let cluster = try await NATSCluster()
    let log = try await JetStreamLog.connect(cluster.options())
    let progress = Progress()
    let sum = try await FaultWork.run(log, progress: progress) {
      for _ in 0..<2 {
        try await Task.sleep(for: .milliseconds(1_000))
        let leader = try await cluster.leader(log)
        leader.kill()
        try await Task.sleep(for: .milliseconds(100))
        try await log.untilReachable()
        try await leader.start()
      }
      try await Task.sleep(for: .milliseconds(2_000))
      try await progress.reaches(200)
    }
    print("killed leader: \(sum)")
    #expect(sum.acknowledged > 100 && sum.lostTails == 0)
    log.close()
  }

  /// The leader of three stands still until the others have another one, and wakes up believing
  /// that it still leads.
  @Test func pausedLeader() async throws {
    let cluster = try await NATSCluster()
    let log = try await JetStreamLog.connect(cluster.options())
    let progress = Progress()
    let sum = try await FaultWork.run(log, progress: progress) {
      try await Task.sleep(for: .milliseconds(1_000))
      let leader = try await cluster.leader(log)
      leader.pause()
      try await Task.sleep(for: .milliseconds(500))
      try await log.untilReachable()
      try await Task.sleep(for: .milliseconds(2_000))
      leader.resume()
      try await Task.sleep(for: .milliseconds(2_000))
      try await progress.reaches(200)
    }
    print("paused leader: \(sum)")
    #expect(sum.acknowledged > 100 && sum.lostTails == 0)
    log.close()
  }

  /// All three are killed at once, and come back.
  @Test func killedCluster() async throws {
    let cluster = try await NATSCluster()
    let log = try await JetStreamLog.connect(cluster.options())
    let progress = Progress()
    let sum = try await FaultWork.run(log, progress: progress) {
      try await Task.sleep(for: .milliseconds(1_000))
      for server in cluster.servers { server.kill() }
      for server in cluster.servers { try await server.start() }
      try await log.untilReachable()
      try await Task.sleep(for: .milliseconds(1_000))
      try await progress.reaches(200)
    }
    print("killed cluster: \(sum)")
    #expect(sum.acknowledged > 100 && sum.lostTails == 0)
    log.close()
  }

  /// A follower stands still, perhaps the one that a consumer is on: pages are still exact, and do
  /// not take for ever.
  @Test func pausedFollower() async throws {
    let cluster = try await NATSCluster()
    var options = cluster.options()
    options.requestTimeout = .milliseconds(500)
    let log = try await JetStreamLog.connect(options)
    let end = try await SharedLogContract.fill(log, 1...300)
    let leader = try await cluster.leader(log)
    let follower = try #require(cluster.servers.first { $0.name != leader.name })
    follower.pause()
    try await log.untilReachable()
    let start = ContinuousClock.now
    // It lacks these.
    var last = end
    for number in 301...320 {
      let record = SharedLogContract.record(number)
      while true {
        if let sequence = try? await log.append(record, after: last) {
          last = SharedLogEnd(sequence: sequence, id: record.id)
          break
        }
        try await Task.sleep(for: .milliseconds(20))
      }
    }
    for _ in 0..<5 {
      var next: UInt64 = 1
      while next <= 320 {
        guard let page = try? await log.records(from: next, limit: 1_000) else { continue }
        #expect(page.last == 320)
        for (sequence, record) in page.records {
          #expect(sequence == next)
          #expect(record == SharedLogContract.record(Int(sequence)))
          next += 1
        }
      }
    }
    print("paused follower: read five times in \(ContinuousClock.now - start)")
    follower.resume()
    log.close()
  }

  /// A follower loses its folder, gets all records from the others, and becomes the leader: it has
  /// never seen the identifier of the last record as it came.
  @Test func wipedServer() async throws {
    let cluster = try await NATSCluster()
    let log = try await JetStreamLog.connect(cluster.options())
    var end = try await SharedLogContract.fill(log, 1...20)
    let leader = try await cluster.leader(log)
    let wiped = try #require(cluster.servers.first { $0.name != leader.name })
    wiped.kill()
    try FileManager.default.removeItem(at: wiped.data)
    try await log.untilReachable()
    end = try await cluster.fill(log, 21...40, after: end)
    try await wiped.start()
    try await cluster.untilCurrent(log)
    var tries = 0
    while try await cluster.leader(log) !== wiped, tries < 40 {
      _ = try? await log.ask("STREAM.LEADER.STEPDOWN.\(log.names.records)")
      try await Task.sleep(for: .milliseconds(500))
      tries += 1
    }
    print("wiped server: leads after \(tries) elections")
    #expect(try await cluster.leader(log) === wiped)
    await #expect(throws: SharedLogError.behind(last: 40)) {
      try await log.append(
        SharedLogContract.record(41), after: SharedLogEnd(sequence: 40, id: "recordX"))
    }
    end = try await cluster.fill(log, 41...45, after: end)
    #expect(end.sequence == 45)
    let page = try await log.records(from: 1, limit: 100)
    #expect(page.records.map(\.record) == (1...45).map { SharedLogContract.record($0) })
    log.close()
  }

  /// Servers of three are killed and paused at random, all of them too, for as many seconds as
  /// ANNALS_TORTURE says.
  @Test(.enabled(if: tortureSeconds > 0), .timeLimit(.minutes(60)))
  func torture() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    let cluster = try await NATSCluster()
    let log = try await JetStreamLog.connect(cluster.options())
    let sum = try await FaultWork.run(log, seconds: FaultTests.tortureSeconds + 120) {
      var dice = SplitMix64(seed: seed)
      let end = ContinuousClock.now + .seconds(FaultTests.tortureSeconds)
      while .now < end {
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...2_000, using: &dice)))
        let number = Int.random(in: 1...3, using: &dice)
        let some = cluster.servers.shuffled(using: &dice).prefix(number)
        let isPause = Bool.random(using: &dice)
        for server in some { isPause ? server.pause() : server.kill() }
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...8_000, using: &dice)))
        for server in some {
          if isPause { server.resume() } else { try await server.start() }
        }
        if Bool.random(using: &dice) { try await log.untilReachable() }
      }
      try await log.untilReachable()
    }
    print("torture: \(sum)")
    log.close()
  }

  private static let tortureSeconds =
    ProcessInfo.processInfo.environment["ANNALS_TORTURE"].flatMap { Int($0) } ?? 0

  /// A server that answers nothing: the outcome is unknown, and known as soon as it answers.
  @Test func pausedServer() async throws {
    let server = try NATSServer()
    try await server.start()
    var options = server.options()
    options.requestTimeout = .milliseconds(500)
    let log = try await JetStreamLog.connect(options)
    let end = try await SharedLogContract.fill(log, 1...3)
    server.pause()
    let record = SharedLogContract.record(4)
    await #expect(throws: SharedLogError.unknownOutcome("no answer came in 0.5 seconds")) {
      try await log.append(record, after: end)
    }
    await #expect(throws: SharedLogError.unavailable("no answer came in 0.5 seconds")) {
      try await log.records(from: 1, limit: 1)
    }
    server.resume()
    #expect(try await log.append(record, after: end) == 4)
    let page = try await log.records(from: 1, limit: 10)
    #expect(page.records.map(\.record.id) == (1...4).map { "record\($0)" })
    log.close()
  }

  /// A server that reads nothing, and is sent more than the socket takes: no task is blocked, and
  /// every call ends.
  @Test func pausedServerUnderLoad() async throws {
    let server = try NATSServer()
    try await server.start()
    var options = server.options()
    options.requestTimeout = .milliseconds(500)
    let log = try await JetStreamLog.connect(options)
    server.pause()
    let start = ContinuousClock.now
    let piece = [UInt8](repeating: 1, count: log.longestPiece)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<64 {
        group.addTask { try? await log.put(piece, at: number, of: "much") }
      }
    }
    #expect(.now - start < .seconds(5))
    server.resume()
    for _ in 0..<200 {
      if (try? await log.records(from: 1, limit: 1)) != nil { break }
      try await Task.sleep(for: .milliseconds(50))
    }
    try await SharedLogContract.fill(log, 1...3)
    log.close()
  }

  /// An older folder is restored: the log ends before what was acknowledged.
  @Test func restoredFolder() async throws {
    let server = try NATSServer()
    try await server.start()
    let log = try await JetStreamLog.connect(server.options())
    let old = try await SharedLogContract.fill(log, 1...5)
    server.stop()
    let copy = server.folder.appendingPathComponent("copy")
    try FileManager.default.copyItem(at: server.data, to: copy)
    try await server.start()
    try await log.untilReachable()
    let end = try await SharedLogContract.fill(log, 6...10, after: old)
    let loss = Task {
      for await last in log.growth(after: 10) { return last }
      return 0
    }
    let patience = Task {
      try await Task.sleep(for: .seconds(20))
      loss.cancel()
    }

    server.kill()
    try FileManager.default.removeItem(at: server.data)
    try FileManager.default.moveItem(at: copy, to: server.data)
    try await server.start()
    try await log.untilReachable()
    await #expect(throws: SharedLogError.behind(last: 5)) {
      try await log.append(SharedLogContract.record(11), after: end)
    }
    #expect(try await log.records(from: 1, limit: 100).last == 5)
    // Who listens is told, too.
    #expect(await loss.value == 5)
    patience.cancel()

    // Others go on from there, up to the same sequence: the identifiers differ.
    let other = try await JetStreamLog.connect(server.options())
    let otherEnd = try await SharedLogContract.fill(other, 106...110, after: old)
    #expect(otherEnd.sequence == end.sequence)
    await #expect(throws: SharedLogError.behind(last: 10)) {
      try await log.append(SharedLogContract.record(11), after: end)
    }
    #expect(try await log.append(SharedLogContract.record(11), after: otherEnd) == 11)
    log.close()
    other.close()
  }

  /// The server has no room left: that is said, nothing that was acknowledged is lost, and with
  /// more room it goes on.
  @Test func fullServer() async throws {
    let server = try NATSServer(limits: "max_file_store: 1MB")
    try await server.start()
    let log = try await JetStreamLog.connect(server.options())
    var end = SharedLogEnd.beginning
    var refusal: SharedLogError?
    while refusal == nil, end.sequence < 500 {
      let record = SharedLogContract.record(Int(end.sequence) + 1, 9_000)
      do throws(SharedLogError) {
        end = SharedLogEnd(sequence: try await log.append(record, after: end), id: record.id)
      } catch {
        refusal = error
      }
    }
    print("full after \(end.sequence) records: \(refusal.map { "\($0)" } ?? "never")")
    #expect(end.sequence > 20 && end.sequence < 500)
    switch refusal {
    case .unavailable, .unknownOutcome: break
    default: Issue.record("another error")
    }
    #expect(try await log.records(from: end.sequence, limit: 10).records.count == 1)
    server.kill()
    server.limits = ""
    try await server.start()
    try await log.untilReachable()
    #expect(try await log.records(from: end.sequence, limit: 10).records.count == 1)
    let next = try await log.append(SharedLogContract.record(1_000), after: end)
    #expect(next == end.sequence + 1)
    log.close()
  }

  /// Servers forget the identifier of their last record when they are restarted after their window
  /// of duplicates. The record itself is compared then.
  @Test func forgottenIdentifier() async throws {
    let server = try NATSServer()
    try await server.start()
    let maker = try await JetStreamLog.connect(server.options("maker"))
    let made = try await maker.ask(
      "STREAM.CREATE.old",
      """
      {"name":"old","subjects":["some.subject"],"storage":"file","retention":"limits",\
      "discard":"new","num_replicas":1,"duplicate_window":100000000}
      """)
    #expect(made.error == nil)
    let objects = try await maker.ask(
      "STREAM.CREATE.old-objects",
      """
      {"name":"old-objects","subjects":["annals.old.objects.*","annals.old.pieces.*.*"],\
      "storage":"file","retention":"limits","num_replicas":1,"max_msgs_per_subject":1}
      """)
    #expect(objects.error == nil)
    maker.close()
    var options = server.options("old")
    options.opening = .existing
    let log = try await JetStreamLog.connect(options)
    let end = try await SharedLogContract.fill(log, 1...5)
    let task = Task {
      for await last in log.growth(after: 5) where last >= 6 { return last }
      return 0
    }
    try await Task.sleep(for: .milliseconds(200))
    server.kill()
    try await server.start()
    try await log.untilReachable()
    await #expect(throws: SharedLogError.behind(last: 5)) {
      try await log.append(
        SharedLogContract.record(6), after: SharedLogEnd(sequence: 5, id: "recordX"))
    }
    #expect(try await log.append(SharedLogContract.record(6), after: end) == 6)
    // Sent again when it is forgotten: the log says that it goes on.
    try await Task.sleep(for: .milliseconds(200))
    await #expect(throws: SharedLogError.behind(last: 6)) {
      try await log.append(SharedLogContract.record(5), after: end)
    }
    // This stream announces nothing; the log looks by itself.
    #expect(await task.value == 6)
    log.close()
  }

  /// Growth goes on over a lost connection.
  @Test func growthAfterReconnect() async throws {
    let server = try NATSServer()
    try await server.start()
    let log = try await JetStreamLog.connect(server.options())
    let other = try await JetStreamLog.connect(server.options())
    var end = try await SharedLogContract.fill(other, 1...3)
    var seen = log.growth(after: 3).makeAsyncIterator()
    for round in 0..<3 {
      server.kill()
      try await server.start()
      try await other.untilReachable()
      try await log.untilReachable()
      let next = 4 + round
      end = try await SharedLogContract.fill(other, next...next, after: end)
      #expect(await seen.next() == UInt64(next))
    }
    log.close()
    #expect(await seen.next() == nil)
    other.close()
  }
}

extension JetStreamLog {
  /// Waits until the servers answer.
  func untilReachable() async throws {
    for _ in 0..<800 {
      if (try? await records(from: 1, limit: 1)) != nil { return }
      try await Task.sleep(for: .milliseconds(25))
    }
    Issue.record("the servers do not come back")
  }
}

extension NATSCluster {
  /// Waits until the servers that lead nothing have all that the leader has.
  func untilCurrent(_ log: JetStreamLog) async throws {
    for _ in 0..<400 {
      if let answer = try? await log.ask("STREAM.INFO.\(log.names.records)"),
        let others = answer.json["cluster"]?["replicas"]?.elements, others.count == 2,
        others.allSatisfy({ $0["current"]?.isTrue == true })
      {
        return
      }
      try await Task.sleep(for: .milliseconds(50))
    }
    Issue.record("a server does not catch up")
  }

  /// Appends records while servers come and go.
  func fill(
    _ log: JetStreamLog, _ numbers: ClosedRange<Int>, after end: SharedLogEnd
  ) async throws -> SharedLogEnd {
    var end = end
    for number in numbers {
      for round in 0... {
        do throws(SharedLogError) {
          let record = SharedLogContract.record(number)
          end = SharedLogEnd(sequence: try await log.append(record, after: end), id: record.id)
          break
        } catch {
          guard round < 200 else { throw error }
          try? await Task.sleep(for: .milliseconds(50))
        }
      }
    }
    return end
  }

  /// The server that leads the stream of records.
  func leader(_ log: JetStreamLog) async throws -> NATSServer {
    for _ in 0..<200 {
      if let answer = try? await log.ask("STREAM.INFO.\(log.names.records)"),
        let name = answer.json["cluster"]?["leader"]?.text,
        let server = servers.first(where: { $0.name == name })
      {
        return server
      }
      try await Task.sleep(for: .milliseconds(50))
    }
    throw SharedLogError.unavailable("no leader")
  }
}

#endif
