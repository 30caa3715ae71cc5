import Annals
import AnnalsExchange
import AnnalsFaults
import AnnalsReplication
import AnnalsStorage
import Foundation

/// Writers and readers on several replicas of one log, while ways to the log are cut, disks lose
/// their power, and whatever else the caller does to the log. At the end the history of what was
/// said to them is compared with what every replica has.
package struct ReplicaTrial: Sendable {
  /// How much is done.
  package struct Extent: Sendable {
    /// How many replicas there are.
    package var replicas = 3
    /// How many writers each has.
    package var writers = 4
    /// How many marks each writer writes.
    package var writes = 8
    /// How long a write or a read tries, and the end waits.
    package var deadline = Duration.seconds(2)

    /// Whether the replicas put snapshots by a policy, and trim the log.
    package var keepsLog = false

    /// What one turn of a torture run does.
    package init() {}
  }

  /// What is done to the replicas from outside.
  package enum Disturbance: Sendable, CaseIterable {
    /// A replica cannot reach the log for a while.
    case cut
    /// The log hears a replica, which does not hear the log.
    case lostAnswers
    /// Each call to the log takes as long as others' writes.
    case slowWay
    /// A replica's disk is full for a while.
    case fullDisk
    /// The power of a replica's disk fails; it is opened again with what the disk kept.
    case powerCut
    /// A replica's process ends without closing; it is opened again.
    case kill
    /// A replica is closed and opened again.
    case reopening
  }

  let log: any SharedLog
  let seed: UInt64
  let extent: Extent

  /// A trial on a log that has nothing yet.
  package init(_ log: any SharedLog, seed: UInt64, _ extent: Extent = Extent()) {
    self.log = log
    self.seed = seed
    self.extent = extent
  }

  /// Works, with these disturbances and `meanwhile`; then `settle` ends what the caller does to the
  /// log, and all is checked. Returns what was done and said.
  ///
  /// - Throws: `BrokenPromise`; and what opening a replica throws that could not be opened again.
  @discardableResult
  package func run(
    _ disturbances: [Disturbance] = Disturbance.allCases, count: Int = 9,
    meanwhile: @escaping @Sendable () async throws -> Void = {},
    settle: @Sendable () async throws -> Void = {}
  ) async throws -> ReplicaHistory {
    let book = HistoryBook()
    var stations: [ReplicaStation] = []
    for number in 0..<extent.replicas {
      stations.append(try await ReplicaStation(number, log, seed: seed, options))
    }
    let all = stations
    let rest = Countdown(extent.replicas * extent.writers)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for station in all {
        for writer in 0..<extent.writers {
          group.addTask {
            defer { rest.step() }
            for index in 0..<extent.writes {
              let mark = "mark \(station.number).\(writer).\(index)"
              try await station.write(mark, book)
              if index % 3 == writer % 3 { try await station.read(book) }
            }
          }
        }
      }
      group.addTask {
        var random = SeededNumbers(seed: seed, "disturbances")
        for _ in 0..<(disturbances.isEmpty ? 0 : count) {
          if rest.isOver { return }
          let station = all.randomElement(using: &random) ?? all[0]
          let disturbance = disturbances.randomElement(using: &random) ?? .cut
          try await station.disturb(disturbance, &random)
          try await Task.sleep(for: .milliseconds(Int.random(in: 1...20, using: &random)))
        }
      }
      group.addTask { try await meanwhile() }
      try await group.waitForAll()
    }
    try await settle()
    try await check(all, book.withLock { $0 })
    for station in all { book.withLock { $0.batched += station.batched } }
    for station in all { try await station.close() }
    return book.withLock { $0 }
  }

  private var options: ReplicaOptions {
    var options = ReplicaOptions()
    options.deadline = extent.deadline
    options.firstPause = .milliseconds(1)
    options.longestPause = .milliseconds(50)
    guard extent.keepsLog else { return options }
    options.upkeep = .milliseconds(10)
    options.snapshots = SnapshotPolicy(transactions: 10, trimming: LogKeep(transactions: 3))
    options.snapshots?.spread = .milliseconds(5)
    // In some runs leases end while replicas are away: each look at their clocks takes a second.
    if seed % 4 == 1 { options.lease = .seconds(30) }
    return options
  }

  // MARK: The end

  private func check(_ stations: [ReplicaStation], _ history: ReplicaHistory) async throws {
    let fresh = try await ReplicaStation(stations.count, log, seed: seed, options)
    var replicas: [Replica] = []
    for station in stations + [fresh] { replicas.append(try await station.atTheEnd()) }
    let stores = replicas.map(\.store)
    let token = stores[0].token
    for (number, store) in stores.enumerated() {
      guard store.token == token else {
        throw BrokenPromise(
          "replica \(number) ends with \(store.token), and replica 0 with \(token)")
      }
      let faults = try store.verify().filter { $0.severity == .error }
      if let fault = faults.first { throw BrokenPromise("replica \(number): \(fault)") }
      do {
        try history.check(try ReplicaMarks.all(store))
      } catch let error as BrokenPromise {
        throw BrokenPromise("in replica \(number): \(error)")
      }
    }
    for number in stride(from: token.number, through: 1, by: -max(Int(token.number / 8), 1)) {
      let states = try stores.map { try ReplicaTrial.state(of: $0, at: number) }
      guard states.allSatisfy({ $0 == states[0] }) else {
        throw BrokenPromise("the states at transaction \(number) differ")
      }
    }
    try await fresh.close()
  }

  /// The canonical state as of a transaction.
  private static func state(of store: Store, at number: Int64) throws -> ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = []
    var state = CanonicalState(try store.version.snapshot(at: number))
    try state.write { bytes += $0 }
    return bytes
  }
}
