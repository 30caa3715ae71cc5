import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsState
import AnnalsStorage

/// The past states that were asked for last. The next one is often near: a step of the slider
/// begins where the last one ended.
final class SnapshotCache: Sendable {
  private struct Entry {
    var generation: UInt64
    var snapshot: Snapshot
  }

  private let entries = Locked<[Entry]>([])
  private static let most = 4

  /// The state just after a transaction of the version.
  func snapshot(at number: Int64, in version: StoreVersion) throws(AnnalsError) -> Snapshot {
    if number == version.token.number { return version.snapshot }
    let generation = version.view.file.header.generation
    let known = entries.withLock { entries -> [Snapshot] in
      entries.removeAll { $0.generation != generation }
      if let place = entries.firstIndex(where: { $0.snapshot.number == number }) {
        let found = entries.remove(at: place)
        entries.append(found)
        return [found.snapshot]
      }
      return entries.map(\.snapshot)
    }
    if let found = known.first(where: { $0.number == number }) { return found }
    let nearest = known.min { distance($0, number) < distance($1, number) }
    let made = try version.snapshot(at: number, near: nearest)
    entries.withLock { entries in
      entries.append(Entry(generation: generation, snapshot: made))
      if entries.count > SnapshotCache.most { entries.removeFirst() }
    }
    return made
  }

  private func distance(_ snapshot: Snapshot, _ number: Int64) -> UInt64 {
    (snapshot.number - number).magnitude
  }
}
