import Annals
import AnnalsReplication
import AnnalsStorage
import Foundation

/// A clock that stands still until somebody turns it.
private final class TurnedClock: Sendable {
  private let seconds = Locked<Double>(1_700_000_000)

  var now: Date { seconds.withLock { Date(timeIntervalSince1970: $0) } }

  func turn(by length: Double) { seconds.withLock { $0 += length } }
}

/// Replicas that register, with one clock that a test turns, and a policy.
final class KeepingWorld {
  let world: ReplicaWorld
  private let clock = TurnedClock()
  private var openings: UInt64 = 0
  /// Backups of stores in memory are in the system's folder, under names by chance.
  private let seed = KeepingWorld.count.withLock { count in
    count += 1
    return UInt64(ProcessInfo.processInfo.processIdentifier) << 32 + count << 20
  }
  private static let count = Locked<UInt64>(0)

  init(_ count: Int, log: InMemorySharedLog = InMemorySharedLog()) {
    world = ReplicaWorld(count, log: log)
  }

  var log: InMemorySharedLog { world.log }
  var replicas: [Replica] {
    get { world.replicas }
    set { world.replicas = newValue }
  }

  /// Turns the clock on.
  func wait(_ seconds: Double) { clock.turn(by: seconds) }

  var now: Date { clock.now }

  /// Options of a replica that registers for a day.
  static func options(_ policy: SnapshotPolicy? = nil) -> ReplicaOptions {
    var options = ReplicaWorld.options
    options.lease = .seconds(86_400)
    options.snapshots = policy
    options.snapshots?.spread = .zero
    return options
  }

  /// Opens the replica in a place; it is called by its index.
  func open(
    _ index: Int, _ options: ReplicaOptions = KeepingWorld.options(),
    over log: (any SharedLog)? = nil
  ) async throws -> Replica {
    openings += 1
    var options = options
    options.name = "\(index)"
    let random = StoreEnvironment.fixed(seed: seed + openings * 977 + UInt64(index)).random
    return try await Replica.open(
      world.places[index], records: Folder.self, Note.self, log: log ?? self.log, options: options,
      environment: StoreEnvironment(
        now: { [clock] in clock.now }, random: random,
        processName: "replica \(index)", processID: Int64(index + 1)))
  }

  /// Writes as many notes through a replica.
  func write(_ count: Int, _ index: Int = 0) async throws {
    for number in 0..<count {
      try await replicas[index].write { tx in _ = try tx.insert(Note(title: "\(number)")) }
    }
  }

  /// Applies what there is, and registers, as a replica that follows does after a while.
  func catchUp(_ index: Int) async throws {
    wait(120)
    try await replicas[index].catchUp()
  }

  /// The sequences of the log's snapshots.
  func snapshots() async throws -> [UInt64] {
    try await log.objects(beginning: "snapshot/").compactMap { object in
      object.name.split(separator: "/").last.flatMap { UInt64($0.prefix(20)) }
    }
  }
}
