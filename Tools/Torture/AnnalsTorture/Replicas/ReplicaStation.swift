import Annals
import AnnalsFaults
import AnnalsReplication
import AnnalsStorage

/// A replica of a trial with its disk and its way to the log: it is cut off, crashes, and is opened
/// again with what its disk has kept.
final class ReplicaStation: Sendable {
  private static let path = "/replica.annals"
  let number: Int
  private let log: any SharedLog
  private let seed: UInt64
  private let options: ReplicaOptions
  private let content: Locked<Content>

  private struct Content {
    var files: FaultyFileSystem
    var way: CuttableLog
    /// Nil while it is being opened again.
    var replica: Replica?
    var openings = 0
    /// How many transactions earlier openings have proposed in batches.
    var batched = 0
  }

  /// Opens the replica with a disk of its own.
  init(
    _ number: Int, _ log: any SharedLog, seed: UInt64, _ options: ReplicaOptions
  ) async throws {
    self.number = number
    self.log = log
    self.seed = seed &+ UInt64(number) &* 1_000
    self.options = options
    let files = FaultyFileSystem(seed: self.seed)
    content = Locked(Content(files: files, way: CuttableLog(log)))
    try await open(files)
  }

  private func open(_ files: FaultyFileSystem) async throws {
    let way = CuttableLog(log)
    let opening = content.withLock { content in
      content.openings += 1
      return content.openings
    }
    let environment = WorkSession.environment(seed &+ UInt64(opening))
    let location = StoreLocation(fileSystem: files, path: ReplicaStation.path)
    let end = ContinuousClock.now + .seconds(60)
    while true {
      do {
        let replica = try await Replica.open(
          location, records: ReplicaMarks.Mark.self, ReplicaMarks.Total.self, log: way,
          options: options, environment: environment)
        content.withLock { content in
          content.files = files
          content.way = way
          content.replica = replica
        }
        return
      } catch let error as ReplicationError where !error.isLasting && .now < end {
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  /// The replica, once there is one.
  private func present() async throws -> (replica: Replica, opening: Int) {
    while true {
      let found = content.withLock { content in
        content.replica.map { ($0, content.openings) }
      }
      if let found { return found }
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  // MARK: Work

  /// Writes a mark, and notes what it was told.
  func write(_ mark: String, _ book: HistoryBook) async throws {
    let (replica, opening) = try await present()
    let began = book.withLock { $0.moment() }
    let outcome = await outcome(of: mark, replica)
    book.withLock {
      $0.add(.write(mark: mark, outcome), by: number, opening: opening, began: began)
    }
  }

  private func outcome(of mark: String, _ replica: Replica) async -> ReplicaHistory.Outcome {
    do {
      let token = try await replica.commit(author: mark) { try ReplicaMarks.write(mark, $0) }.token
      return .committed(token.number)
    } catch let error as ReplicationError {
      switch error.code {
      case .unavailable, .contended, .closed: return .refused
      // The log has it, or may have it, or may get it yet.
      default: return .unknown
      }
    } catch {
      // The file could not take what the log may have taken.
      return .unknown
    }
  }

  /// Reads the newest state, and notes it.
  func read(_ book: HistoryBook) async throws {
    let (replica, opening) = try await present()
    let began = book.withLock { $0.moment() }
    guard let (number, marks, total) = try? ReplicaMarks.read(replica.store.snapshot()) else {
      return
    }
    book.withLock {
      $0.add(
        .read(number: number, marks: marks, total: total), by: self.number, opening: opening,
        began: began)
    }
  }

  // MARK: Disturbances

  func disturb(
    _ disturbance: ReplicaTrial.Disturbance, _ random: inout SeededNumbers
  ) async throws {
    let (replica, _) = try await present()
    let (files, way) = content.withLock { ($0.files, $0.way) }
    let pause = Duration.milliseconds(Int.random(in: 1...40, using: &random))
    switch disturbance {
    case .cut: return try await disturb(way, by: .cut, for: pause)
    case .lostAnswers: return try await disturb(way, by: .withoutAnswers, for: pause)
    case .slowWay: return try await disturb(way, by: .slow(.milliseconds(5)), for: pause * 2)
    case .fullDisk:
      files.capacity = 0
      try await Task.sleep(for: pause)
      files.capacity = .max
      return
    case .powerCut:
      files.crash(at: files.pointCount + Int.random(in: 0..<6, using: &random))
      try await Task.sleep(for: pause)
    case .kill, .reopening: break
    }
    content.withLock { content in
      content.replica = nil
      content.batched += replica.batchCounts.transactions
    }
    if disturbance == .reopening {
      try await replica.close()
      return try await open(files)
    }
    // Whoever still works there is alone from now on.
    way.condition = .cut
    if disturbance == .kill { return try await open(files.afterKill()) }
    files.cutPower()
    var survivors: [FaultyFileSystem] = []
    files.forEachSurvivor(limit: 4) { survivors.append($0.files) }
    try await open(survivors.randomElement(using: &random) ?? files)
  }

  private func disturb(
    _ way: CuttableLog, by condition: CuttableLog.Condition, for time: Duration
  ) async throws {
    way.condition = condition
    try await Task.sleep(for: time)
    way.condition = .open
  }

  // MARK: The end

  /// The replica with all that the log has.
  func atTheEnd() async throws -> Replica {
    let replica = try await present().replica
    let end = ContinuousClock.now + .seconds(60)
    while true {
      do {
        try await replica.catchUp()
        return replica
      } catch let error as ReplicationError where !error.isLasting && .now < end {
        try await Task.sleep(for: .milliseconds(20))
      } catch let error as ReplicationError {
        throw BrokenPromise("replica \(number) cannot catch up: \(error)")
      }
    }
  }

  /// How many transactions were proposed in batches.
  var batched: Int {
    content.withLock { $0.batched + ($0.replica?.batchCounts.transactions ?? 0) }
  }

  func close() async throws { try await present().replica.close() }
}
