import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

/// Everything that can be read as of one transaction: the state in memory, and the log up to there.
///
/// Immutable while anybody else holds it: only `StoreHead` applies a commit in place, as the one
/// holder. A version keeps its generation of the file open, so it stays readable after a rewrite
/// has replaced the file.
package final class StoreVersion: @unchecked Sendable {
  // Exclusive access follows from the rule above.
  @exclusivity(unchecked) package private(set) var state: State
  @exclusivity(unchecked) package private(set) var view: LogView
  /// The position of the last transaction. Kept beside the view, since copying a view for one field
  /// is expensive.
  @exclusivity(unchecked) package private(set) var head: LogPosition
  /// The last transaction that changed the schema.
  package let schemaVersion: Int64
  package let store: RawUUID
  /// The record types, bound to the newest schema.
  @exclusivity(unchecked) package private(set) var records: BoundRecords
  /// Whether the state has the objects' values. If not, it only knows which objects exist, and
  /// `state(at:keeping:)` replays the log even for the newest state.
  package let holdsValues: Bool

  package convenience init(
    state: State, view: LogView, store: RawUUID, bindings: RecordBindings, holdsValues: Bool = true
  ) {
    self.init(
      state, view, view.head, store, BoundRecords(bindings, to: state.schema, asOf: view),
      holdsValues: holdsValues)
  }

  private init(
    _ state: State, _ view: LogView, _ head: LogPosition, _ store: RawUUID,
    _ records: BoundRecords, holdsValues: Bool
  ) {
    self.state = state
    self.view = view
    self.head = head
    schemaVersion = view.schemaVersion
    self.store = store
    self.records = records
    self.holdsValues = holdsValues
  }

  /// The version after this one. After a reload a transaction number may stand for another schema
  /// than before, so record types are bound again.
  package func successor(
    state: State, view: LogView, isReloaded: Bool = false
  ) -> StoreVersion {
    let records =
      isReloaded
      ? BoundRecords(RecordBindings(records.bindings.functions), to: state.schema, asOf: view)
      : records.following(to: state.schema, asOf: view)
    return StoreVersion(state, view, view.head, store, records, holdsValues: holdsValues)
  }

  /// The version after a transaction that is not in the log, and does not change the schema.
  func successor(state: State, proposedAt head: LogPosition) -> StoreVersion {
    StoreVersion(state, view, head, store, records, holdsValues: holdsValues)
  }

  /// Applies one transaction in place, and becomes the version after it. `batch` holds all of its
  /// changes, none of them to the schema; `newer` is the state that the transaction made, `view`
  /// the log up to it. Only for the holder of the only reference.
  ///
  /// If it throws, the version must not be used any more.
  func applyInPlace(
    _ batch: ChangeBatch, like newer: State, view: LogView
  ) throws(StateFault) {
    try state.apply(batch)
    state.adoptNextRows(of: newer)
    try state.updateIndexes()
    self.view = view
    head = view.head
    records = records.following(to: state.schema, asOf: view)
  }

  /// The migrations made, in their order; including those that were pruned.
  package var migrations: [MigrationRecord] { view.migrations }

  /// The position of the last transaction.
  package var position: LogPosition { head }

  /// The position just after the last transaction.
  package var token: Token {
    Token(store: store, number: head.number, opening: head.openingID)
  }

  /// The base's number, 0 unless the store was pruned, and its timestamp.
  package var base: (number: Int64, timestamp: Timestamp) {
    (view.base, view.file.header.baseTimestamp)
  }

  /// A reader of a state of this store: this version's, or a past one's.
  ///
  /// It holds the version. While one of the newest state is kept, as live views keep one, the next
  /// commit makes a version of the state that the transaction made anyway, instead of applying its
  /// changes once more to what it would have to copy first.
  package func reader(of state: State) -> StateReader {
    StateReader(state: state, store: store, largeValues: self)
  }
}

extension StoreVersion: LargeValueSource {
  package func bytes(of value: LargeValue) throws(AnnalsError) -> ContiguousArray<UInt8> {
    try LogLargeValues(view).bytes(of: value)
  }

  package func cursor(of value: LargeValue) throws(AnnalsError) -> LargeValueCursor? {
    try LogLargeValues(view).cursor(of: value)
  }
}

/// Reads chunks from one generation of a store's file.
package final class LogChunkSource: ChunkSource {
  private let file: LogGeneration

  package init(_ file: LogGeneration) {
    self.file = file
  }

  package func chunk(
    _ reference: ChunkReference
  ) throws(StateFault) -> ContiguousArray<UInt8> {
    do throws(LogError) {
      return try file.chunk(reference)
    } catch {
      throw .chunk(.unreadable(error), at: reference.offset)
    }
  }
}

/// Reads large values from a store's file.
package struct LogLargeValues: LargeValueSource {
  private let view: LogView

  package init(_ view: LogView) {
    self.view = view
  }

  package func bytes(of value: LargeValue) throws(AnnalsError) -> ContiguousArray<UInt8> {
    try AnnalsError.translating { try view.bytes(of: value) }
  }

  package func cursor(of value: LargeValue) throws(AnnalsError) -> LargeValueCursor? {
    try AnnalsError.translating { try view.cursor(of: value) }
  }
}

extension BoundRecords {
  /// The bindings to the newest schema, whose log is this.
  fileprivate convenience init(_ bindings: RecordBindings, to schema: Schema, asOf view: LogView) {
    self.init(
      bindings: bindings, schema: schema, schemaVersion: view.schemaVersion,
      history: view.schemaHistory, migrations: view.migrations)
  }

  /// The bindings after transactions that follow: the same unless these have changed the schema.
  fileprivate func following(to schema: Schema, asOf view: LogView) -> BoundRecords {
    let isSame =
      view.schemaVersion == schemaVersion && view.migrations.count == migrations.count
    return isSame ? self : BoundRecords(bindings, to: schema, asOf: view)
  }
}
