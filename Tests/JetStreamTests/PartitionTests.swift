#if JetStream

import AnnalsReplication
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
}

#endif
