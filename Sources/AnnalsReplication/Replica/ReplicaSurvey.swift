import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Foundation

/// How a replica's file and its log stand to each other, found without writing to either.
public struct ReplicaSurvey: Sendable {
  /// What a log has.
  public struct LogState: Sendable {
    /// The sequence of its first record; of the next one if it has none.
    public var first: UInt64
    /// The sequence of its last record; 0 if it never had any.
    public var last: UInt64
    /// The position of its newest snapshot; nil if it has none.
    public var snapshot: Token?
    /// The sequence of the last record that the snapshot has.
    public var snapshotSequence: UInt64?
    /// How many bytes the snapshot has.
    public var snapshotLength: UInt64?
    /// The replicas that are registered in it, by their names.
    public var replicas: [ReplicaRegistration] = []
    /// What keeps it from being trimmed up to its newest snapshot when it was looked at, that which
    /// holds it most first.
    public var holds: [TrimHold] = []
    /// The store whose transactions it has; nil if it has none, or that cannot be told.
    public var store: UUID?
    /// Whether it has the file's newest record as the file has it; nil if that cannot be compared:
    /// the record was trimmed, or the file is no replica.
    public var agrees: Bool?
  }

  /// The newest position of the file.
  public var token: Token
  /// The sequence of the newest record that is in the file; nil if its newest transaction did not
  /// come from a log.
  public var sequence: UInt64?
  /// What waits in the outbox beside the file; nil if there is none.
  public var outbox: OutboxStatus?
  /// What the log has; nil if none was asked.
  public var log: LogState?

  /// How many records of the log the file lacks; nil without a log, or if the file is no replica.
  public var lag: UInt64? {
    guard let log, let sequence else { return nil }
    return log.last > sequence ? log.last - sequence : 0
  }

  /// Looks at a store, and at a log if there is one.
  ///
  /// - Parameters:
  ///   - store: a store, open for reading at least.
  ///   - log: the log, or nil.
  ///   - now: the moment by which leases are looked at.
  /// - Throws: as reading the store; `SharedLogError` if the log cannot be asked.
  public init(
    of store: Store, log: (any SharedLog)? = nil, now: Date = Date()
  ) async throws {
    let version = store.version
    token = version.token
    var place = version.head.number == 0 ? version.origin : try version.newestPlace()
    sequence = place?.sequence
    outbox = try ReplicaSurvey.outbox(beside: store)
    guard let log else { return }
    let snapshots = try await log.objects(beginning: SnapshotDetails.prefix)
      .compactMap { object in SnapshotDetails(object).map { (object, $0) } }
    // The log goes on from this store, and nothing was added yet.
    let origin = version.origin
    if place == nil, snapshots.contains(where: { $0.1.place == origin }) { place = origin }
    sequence = place?.sequence
    let page = try await log.records(from: max(place?.sequence ?? 1, 1), limit: 1)
    var state = LogState(first: page.first, last: page.last)
    if let place, place.sequence > 0 {
      let own = page.records.first { $0.sequence == place.sequence }
      if let own { state.agrees = own.record.id == place.digest.description }
      if place.sequence > page.last { state.agrees = false }
    }
    state.store = try await log.store().map { UUID($0) }
    if let newest = snapshots.max(by: { $0.1.place.sequence < $1.1.place.sequence }) {
      state.snapshot = newest.1.token
      state.snapshotSequence = newest.1.place.sequence
      state.snapshotLength = newest.0.length
    }
    state.replicas = try await log.registeredReplicas()
    state.holds =
      TrimGate(
        snapshot: state.snapshotSequence, registrations: state.replicas, now: now
      ).holds
    self.log = state
  }

  /// Reads the outbox beside a store; nil if there is none.
  private static func outbox(beside store: Store) throws -> OutboxStatus? {
    let log = store.writer.log
    let location = StoreLocation(fileSystem: log.fileSystem, path: log.path + Outbox.suffix)
    let isThere = try AnnalsError.translating {
      try location.fileSystem.identity(of: location.path) != nil
    }
    guard isThere else { return nil }
    let outbox = try Store(location, creates: false, options: .readOnly)
    defer { try? outbox.close() }
    let snapshot = outbox.snapshot()
    guard snapshot.schema.entity(named: "Draft") != nil else { return OutboxStatus([]) }
    let found = try snapshot.objects(of: "Draft", properties: OutboxSchema.listed)
    return OutboxStatus(found.compactMap { OutboxItem($0) })
  }
}
