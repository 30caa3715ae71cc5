#if JetStream

import AnnalsJetStream
import AnnalsTorture
import Testing

/// Replicas that are cut off, killed and without power, over servers that are killed and stand
/// still: what their writers and readers were told is compared with what every replica has.
@Suite(.serialized, .timeLimit(.minutes(5)), needsServer) struct CheckerTests {
  private var extent: ReplicaTrial.Extent {
    var extent = ReplicaTrial.Extent()
    extent.writes = 60
    extent.deadline = .seconds(20)
    return extent
  }

  @Test func killedServer() async throws {
    let server = try NATSServer()
    try await server.start()
    let log = try await JetStreamLog.connect(server.options())
    let history = try await ReplicaTrial(log, seed: 1, extent).run(
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
    let history = try await ReplicaTrial(log, seed: 2, extent).run(
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

  /// The leader is alone, one that follows is alone, two do not reach each other and both reach the
  /// third, nobody reaches anybody: each for some seconds, and then all are joined.
  @Test(.enabled(if: PartitionTests.isPossible, "not in network namespaces"))
  func partitionsOfEveryShape() async throws {
    let cluster = try await NATSCluster(inNamespaces: ())
    let log = try await JetStreamLog.connect(cluster.options())
    var extent = extent
    extent.writes = 150
    let history = try await ReplicaTrial(log, seed: 3, extent).run(
      [.cut, .lostAnswers, .slowWay, .kill], count: 20,
      meanwhile: {
        for shape in 0..<4 {
          try await Task.sleep(for: .milliseconds(700))
          let leader = try await cluster.leader(log)
          let others = cluster.servers.filter { $0 !== leader }
          let cuts =
            switch shape {
            case 0: others.map { (leader, $0) }
            case 1: [(others[0], leader), (others[0], others[1])]
            case 2: [(leader, others[1])]
            default: [(leader, others[0]), (leader, others[1]), (others[0], others[1])]
            }
          for (one, other) in cuts { try cluster.setReach(between: one, other, isCut: true) }
          try await Task.sleep(for: .seconds(4))
          for (one, other) in cuts { try cluster.setReach(between: one, other, isCut: false) }
          try await log.untilReachable()
        }
      })
    print("partitions: \(history.acknowledged) acknowledged, \(history.reads) reads")
    #expect(history.acknowledged > 200)
    log.close()
  }
}

#endif
