import AnnalsReplication

extension TortureLane {
  /// Rounds of replicas over a log in memory with faults, without end.
  static func replicas(seed: UInt64) -> TortureLane {
    TortureLane("replicas", "replicas") { _ in
      var count: UInt64 = 0
      return AnyIterator {
        count += 1
        let number = count
        return Case(name: "replicas/\(number)") { row in
          row.tried += 1
          let history = try blockingThread {
            try await ReplicaTrial.inMemory(seed: seed &+ number &* 0x9e37_79b9)
          }
          row.tally.kills += 9
          row.tally.acknowledged += history.acknowledged
          row.tally.reads += history.reads
        }
      }
    }
  }
}

extension ReplicaTrial {
  /// A trial over a log in memory with faults of every kind, which is trimmed if the seed is odd.
  package static func inMemory(
    seed: UInt64, _ extent: Extent = Extent(), log: InMemorySharedLog = InMemorySharedLog()
  ) async throws -> ReplicaHistory {
    log.faults = .all(0.05, seed: seed)
    var extent = extent
    extent.keepsLog = !seed.isMultiple(of: 2)
    // What is late has arrived.
    return try await ReplicaTrial(log, seed: seed, extent)
      .run(settle: { log.faults = LogFaults(seed: 1) })
  }
}
