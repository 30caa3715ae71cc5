import AnnalsFormat
import AnnalsInspection
import AnnalsModel

/// What a file holds and what its bytes are used for: the figures of `stat`.
///
/// `bytesByUse` counts every byte of the file once. The bytes of transactions by entity and
/// property are an estimate: the length of a frame is divided among its values in proportion to
/// their size by row (a tag, and a variable-length number or the bytes), with three bytes for each
/// change and twelve for each transaction. Chunks of columns and large values are counted exactly.
package struct FileStatistics: Sendable {
  /// The bytes of a property of an entity, or, without a property, those of an entity's changes
  /// apart from values.
  package struct Share: Hashable, Sendable {
    package var entity: EntityNumber
    /// nil for bytes that belong to no property.
    package var property: PropertyNumber?
    /// The names, as of the last transaction; `entity 3` where they are unknown.
    package var entityName: String
    package var propertyName: String?
    /// In transactions; an estimate.
    package var historyBytes: UInt64
    /// In the newest checkpoint.
    package var stateBytes: UInt64
    /// In large values.
    package var largeValueBytes: UInt64
    /// The number of changes.
    package var changes: Int64
    package var totalBytes: UInt64 { historyBytes &+ stateBytes &+ largeValueBytes }
  }

  package var fileSize: UInt64 = 0
  /// The header, if it is valid.
  package var header: FileHeader?
  /// The features announced in frames.
  package var announced = Features.none
  /// The number of whole transactions, and of those that change nothing.
  package var transactions: Int64 = 0
  package var emptyTransactions: Int64 = 0
  package var changesByKind: [ChangeKind: Int64] = [:]
  /// The number of transactions by author, most first; nil stands for none.
  package var authors: [(name: String?, transactions: Int64)] = []
  /// The bytes and the number of transactions by author and by month of UTC, an estimate as that by
  /// property; empty unless the collection was to divide the history.
  package var historyByAuthor: [(name: String?, bytes: UInt64, transactions: Int64)] = []
  package var historyByMonth: [(month: String, bytes: UInt64, transactions: Int64)] = []
  /// The number of openings for writing.
  package var openings = 0
  package var earliest: Timestamp?
  package var latest: Timestamp?
  /// How often a writer's clock jumped back.
  package var clockJumps: Int64 = 0
  /// The number of transactions with an earlier timestamp than the one before (imports keep
  /// theirs).
  package var timestampsBack: Int64 = 0
  package var bytesByUse: [ByteUse: UInt64] = [:]
  /// Most bytes first.
  package var shares: [Share] = []

  /// The features in the header and those announced in frames, as text.
  package var features: [(place: String, text: String)] {
    [("features", header?.features ?? .none), ("announced", announced)].filter { !$0.1.isEmpty }
      .map { ($0.0, "\($0.1)") }
  }
}
