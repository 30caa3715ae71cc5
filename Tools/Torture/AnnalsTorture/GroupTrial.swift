import Annals
import AnnalsFaults
import AnnalsStorage
import Foundation

/// Cuts the power while several threads commit at the same time and share syncs.
///
/// Their order differs from run to run. So each commit has its own contents, and the state left is
/// compared with the commits that were begun and with those that returned.
package struct GroupTrial: Sendable {
  private static let threads = 4
  private static let commits = 3

  let seed: UInt64
  let durability: StoreOptions.Durability
  /// The approximate number of points of a run.
  package let pointCount: Int

  /// Runs the work once on a disk that does not fail.
  ///
  /// - Throws: what the work throws; it should not throw.
  package init(_ durability: StoreOptions.Durability, seed: UInt64) throws {
    self.seed = seed
    self.durability = durability
    let files = GroupTrial.disk(seed)
    let witness = try GroupTrial.work(files, durability)
    guard witness.ledger.acknowledged.count == GroupTrial.threads * GroupTrial.commits else {
      throw BrokenPromise("commits of a group failed on a disk that does not")
    }
    pointCount = files.pointCount
  }

  private static func disk(_ seed: UInt64) -> FaultyFileSystem {
    FaultyFileSystem(seed: seed, syncDelay: .microseconds(200))
  }

  /// What the threads were promised.
  private struct Witness: Sendable {
    /// The commits that returned.
    var ledger = NoteLedger()
    /// Whether the store was opened.
    var isOpened = false
  }

  private static func work(
    _ files: FaultyFileSystem, _ durability: StoreOptions.Durability
  ) throws -> Witness {
    var options = StoreOptions()
    options.durability = durability
    guard
      let store = try? Store(
        files.location(), schema: Note.schema, options: options,
        environment: WorkSession.environment(3))
    else { return Witness() }
    let witness = Locked(Witness(isOpened: true))
    let group = DispatchGroup()
    for thread in 0..<threads {
      group.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        for index in 0..<commits {
          let id = "\(thread) \(index)"
          guard let number = try? NoteLedger.commit(id, to: store) else { return }
          witness.withLock { $0.ledger.acknowledged[number] = id }
        }
      }
    }
    group.wait()
    if durability == .deferred {
      // A power cut may take what was not synced, so none of it counts as promised.
      if (try? store.sync()) == nil { witness.withLock { $0.ledger.acknowledged = [:] } }
    }
    try? store.close()
    return witness.withLock { $0 }
  }

  /// Cuts the power at one point and checks the states left.
  ///
  /// - Throws: `BrokenPromise`.
  package func crash(at point: Int, survivors: Int = 24, _ tally: inout Tally) throws {
    let files = GroupTrial.disk(seed &+ UInt64(point))
    files.crash(at: point)
    let witness = try GroupTrial.work(files, durability)
    files.cutPower()
    tally.points += 1
    try files.forEachSurvivor(limit: survivors) { survivor in
      try tally.check(survivor.description) {
        try witness.ledger.check(survivor.files, mayBeGone: !witness.isOpened)
      }
    }
  }
}
