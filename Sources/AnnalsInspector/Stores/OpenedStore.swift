import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

/// A store that is open for reading, with what answers keep for the next one.
package final class OpenedStore: Sendable {
  package let store: Store
  package let path: String
  package let zone: LocalZone
  private let clock: @Sendable () -> Timestamp
  /// While it lives, commits of other processes arrive.
  private let listener: FeedListener?
  let snapshots = SnapshotCache()
  let lists = RowLists()
  /// Where the file of a generation is.
  private let place: Locked<(inode: UInt64, generation: UInt64)>
  let sketch = HistorySketch()

  /// Opens the store at the path. Throws as `Store.init(path:)` does.
  package convenience init(
    path: String, environment: StoreEnvironment = .system, zone: LocalZone = .current
  ) throws(AnnalsError) {
    let store = try Store(path: path, options: .readOnly, environment: environment)
    try self.init(store, path: path, environment: environment, zone: zone)
  }

  /// Takes over a store that was opened from the path.
  package init(
    _ store: Store, path: String, environment: StoreEnvironment, zone: LocalZone
  ) throws(AnnalsError) {
    self.store = store
    self.path = path
    self.zone = zone
    clock = environment.clock
    place = Locked(
      (try FileReading.stamp(of: path).inode, store.version.view.file.header.generation))
    listener = try? store.writer.listen()
  }

  /// The version that is shown: the newest that has arrived.
  var version: StoreVersion { store.version }

  /// The number of the file's generation: each rewrite makes the next.
  var generation: UInt64 { version.view.file.header.generation }

  var now: Timestamp { clock() }

  /// The failure that keeps commits of other processes from being read; nil if they arrive.
  var failure: AnnalsError? {
    do throws(AnnalsError) {
      _ = try store.writer.head.feedPosition()
      return nil
    } catch {
      return error
    }
  }

  /// Whether the file in this place is the store's: the one that was opened, or a later generation
  /// of it.
  func isStill(at inode: UInt64) -> Bool {
    let known = place.withLock { $0 }
    if known.inode == inode { return true }
    guard (try? store.refresh()) != nil, generation > known.generation else { return false }
    place.withLock { $0 = (inode, generation) }
    return true
  }

  /// Whether commits of other processes arrive.
  var isFollowed: Bool { listener != nil && failure == nil }

  package func close() { try? store.close() }

  deinit { try? store.close() }
}

extension OpenedStore {
  /// The number of the transaction at a TOKEN; the newest for nil.
  func number(_ text: String?, parameter: String = "at") throws -> Int64 {
    let version = version
    guard let text else { return version.token.number }
    do {
      let token = try TokenArgument(text, zone: zone, now: now)
      return try version.number(at: token.place(in: version, isEnd: true), clock)
    } catch var fault as RequestFault {
      fault.parameter = parameter
      throw fault
    }
  }

  /// The state at a TOKEN; the newest for nil.
  func snapshot(_ text: String?) throws -> Snapshot { try snapshot(at: number(text)) }

  /// The state just after a transaction.
  func snapshot(at number: Int64) throws -> Snapshot {
    try snapshots.snapshot(at: number, in: version)
  }

  /// The moment of a snapshot.
  func moment(_ number: Int64) throws -> ShownMoment {
    let version = version
    var moment = ShownMoment(
      number: number, head: version.token.number, base: version.view.base)
    if number > version.view.base, version.view.gap(at: number) == nil {
      let transaction = try version.header(of: number)
      moment.timestamp = transaction.moment.description
      moment.us = transaction.moment.microseconds
      moment.author = transaction.author
      moment.context = transaction.context
      moment.message = transaction.message?.clipped(to: ValueShowing.usualCut)
    } else if number > 0 {
      let position = try AnnalsError.translating { try version.view.position(of: number) }
      moment.timestamp = position.timestamp.description
      moment.us = position.timestamp.microseconds
    }
    return moment
  }
}

extension StoreVersion {
  /// A transaction, of a large one the first part alone.
  func header(of number: Int64) throws(AnnalsError) -> Transaction {
    var cursor = try PartCursor(history(of: number))
    guard let part = try cursor.next() else { return try transaction(number) }
    return part.transaction
  }
}
