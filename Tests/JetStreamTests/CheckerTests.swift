#if JetStream

import AnnalsJetStream
import AnnalsTorture
import Testing

/// Replicas that are cut off, killed and without power, over servers that are killed and stand
/// still: what their writers and readers were told is compared with what every replica has.
@Suite(.serialized, .timeLimit(.minutes(5)), needsServer) struct CheckerTests {
  static var extent: ReplicaTrial.Extent {
    var extent = ReplicaTrial.Extent()
    extent.writes = 60
    extent.deadline = .seconds(20)
    return extent
  }

  @Test func killedServer() async throws {
    let server = try NATSServer()
    try await server.start()
    let log = try await JetStreamLog.connect(server.options())
    let history = try await ReplicaTrial(log, seed: 1, Self.extent).run(
      count: 12,
      meanwhile: {
        for _ in 0..<3 {
          try await Task.sleep(for: .milliseconds(300))
          server.kill()
          try await Task.sleep(for: .milliseconds(100))
          try await server.start()
          try await log.untilReachable()
        }
      })
    print("killed server: \(history.acknowledged) acknowledged, \(history.reads) reads")
    #expect(history.acknowledged > 200)
    log.close()
  }

  @Test func killedAndPausedLeaders() async throws {
    let cluster = try await NATSCluster()
    let log = try await JetStreamLog.connect(cluster.options())
    let history = try await ReplicaTrial(log, seed: 2, Self.extent).run(
      count: 12,
      meanwhile: {
        for isPause in [false, true] {
          try await Task.sleep(for: .milliseconds(700))
          let leader = try await cluster.leader(log)
          if isPause { leader.pause() } else { leader.kill() }
          try await Task.sleep(for: .milliseconds(isPause ? 3_000 : 100))
          if isPause { leader.resume() } else { try await leader.start() }
          try await log.untilReachable()
        }
      })
    print("leaders: \(history.acknowledged) acknowledged, \(history.reads) reads")
    #expect(history.acknowledged > 200)
    log.close()
  }
}

#endif
