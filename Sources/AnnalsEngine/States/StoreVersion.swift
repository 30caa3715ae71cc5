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
  private let bindings: RecordBindings
  /// Whether the state has the objects' values. If not, it only knows which objects exist, and
  /// `state(at:keeping:)` replays the log even for the newest state.
  package let holdsValues: Bool

  package init(
    state: State, view: LogView, store: RawUUID, bindings: RecordBindings, holdsValues: Bool = true,
    head: LogPosition? = nil
  ) {
    self.state = state
    self.holdsValues = holdsValues
    self.view = view
    self.head = head ?? view.head
    schemaVersion = view.schemaVersion
    self.store = store
    self.bindings = bindings
  }

  /// The version after this one. After a reload a transaction number may stand for another schema
  /// than before, so record types are bound again.
  package func successor(
    state: State, view: LogView, isReloaded: Bool = false
  ) -> StoreVersion {
    StoreVersion(
      state: state, view: view, store: store,
      bindings: isReloaded ? RecordBindings(bindings.functions) : bindings,
      holdsValues: holdsValues)
  }

  /// The version after a transaction that is not in the log, and does not change the schema.
  func successor(state: State, proposedAt head: LogPosition) -> StoreVersion {
    StoreVersion(
      state: state, view: view, store: store, bindings: bindings, holdsValues: holdsValues,
      head: head)
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
  }

  /// The record types, bound to the newest schema.
  package var records: BoundRecords {
    BoundRecords(
      bindings: bindings, schema: state.schema, schemaVersion: schemaVersion,
      history: view.schemaHistory, migrations: migrations)
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
