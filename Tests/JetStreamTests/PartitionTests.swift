#if JetStream

import AnnalsReplication
import AnnalsTorture
import Foundation
import Testing

@testable import AnnalsJetStream

/// Servers that do not reach one another, in network namespaces. As root, by
/// `ANNALS_NAMESPACES=1 Tools/JetStream/namespaces.sh swift test …`.
@Suite(.serialized, .timeLimit(.minutes(5)), needsServer)
struct PartitionTests {
  static let isPossible = ProcessInfo.processInfo.environment["ANNALS_NAMESPACES"] != nil

  /// The leader is cut off from the others, with eight appenders connected to it. They go on
  /// with another server, and nothing that was acknowledged is lost.
  ///
  /// Once, and not again: when a second leader is cut off two seconds after the first one is back,
  /// nats-server 2.9.10 was seen to elect the first one before it had caught up, and to give up
  /// what the others had acknowledged. Replicas find such a loss, and have what was lost.
  @Test(.enabled(if: isPossible, "not in network namespaces"))
  func leaderCutOff() async throws {
    let cluster = try await NATSCluster(inNamespaces: ())
    let first = try await JetStreamLog.connect(cluster.options())
    let leader = try await cluster.leader(first)
    var options = cluster.options()
    options.requestTimeout = .seconds(1)
    // To the leader, as long as that is of use.
    options.servers = [leader.url]
    let log = try await JetStreamLog.connect(options)
    let progress = Progress()
    let sum = try await FaultWork.run(log, seconds: 240, progress: progress) {
      for _ in 0..<1 {
        try await Task.sleep(for: .seconds(1))
        let leader = try await cluster.leader(first)
        let start = ContinuousClock.now
        try cluster.setReach(of: leader, isCut: true)
        try await Task.sleep(for: .milliseconds(500))
        let before = progress.count
        while progress.count < before + 20, .now - start < .seconds(40) {
          try await Task.sleep(for: .milliseconds(50))
        }
        print("cut off: appends go on after \(ContinuousClock.now - start)")
        #expect(progress.count >= before + 20)
        let status = try await first.ask("STREAM.INFO.\(first.names.records)")
        print("leader then: \(status.json["cluster"]?["leader"]?.text ?? "?"), was \(leader.name)")
        try await Task.sleep(for: .seconds(2))
        try cluster.setReach(of: leader, isCut: false)
        try await Task.sleep(for: .seconds(2))
      }
    }
    print("leader cut off: \(sum)")
    #expect(sum.acknowledged > 100 && sum.lostTails == 0)
    log.close()
    first.close()
  }

  /// The leader is alone, one that follows is alone, two do not reach each other and both reach the
  /// third, nobody reaches anybody: each for some seconds, and then all are joined.
  @Test(.enabled(if: isPossible, "not in network namespaces"))
  func partitionsOfEveryShape() async throws {
    let cluster = try await NATSCluster(inNamespaces: ())
    let log = try await JetStreamLog.connect(cluster.options())
    var extent = CheckerTests.extent
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
