import AnnalsFormat
import AnnalsModel

/// What a file holds and where its bytes go: what `stat` prints.
///
/// `bytesByUse` counts every byte of the file once. How the bytes of transactions divide among
/// entities and properties is an estimate: a frame's length is shared out among its values in
/// proportion to what each would take by row (a tag, and a variable-length number or the bytes),
/// with three bytes for each change as such and twelve for each transaction. Chunks of columns and
/// large values are counted as they are.
package struct FileStatistics: Sendable {
  /// What bytes of a file are for.
  package enum Use: String, Hashable, Sendable, CaseIterable {
    /// The header, the root slots, and announcements of features.
    case header
    /// Transactions as they were committed: small ones by row, large ones by column.
    case live
    /// Transactions that compaction put together in blocks.
    case sealed
    /// Large values.
    case blobs
    /// What became of consumers, and of the retention policy.
    case consumers
    /// Deletes of history that was dropped.
    case tombstones
    /// The base's and the newest checkpoint: chunks and directories.
    case checkpoints
    /// Chunks and directories that neither the base nor the newest checkpoint refers to.
    case dead
    /// Space allocated ahead.
    case preallocated
    /// What a crash left behind the end of the log.
    case torn
    /// What cannot be read, and frames of kinds that this version does not know.
    case unreadable
  }

  /// The bytes of a property of an entity; of no property: what its changes take besides values.
  package struct Share: Hashable, Sendable {
    package var entity: EntityNumber
    /// nil for what belongs to no property.
    package var property: PropertyNumber?
    /// The names, as of the last transaction; `entity 3` where they are unknown.
    package var entityName: String
    package var propertyName: String?
    /// In transactions; an estimate.
    package var historyBytes: UInt64
    /// In the newest checkpoint.
    package var stateBytes: UInt64
    /// In large values.
    package var blobBytes: UInt64
    /// How often transactions mention it.
    package var changes: Int64
    package var totalBytes: UInt64 { historyBytes &+ stateBytes &+ blobBytes }
  }

  package var fileSize: UInt64 = 0
  /// The header, if it is valid.
  package var header: FileHeader?
  /// The features announced in frames.
  package var announced = Features.none
  /// The number of the last whole transaction; the base's if there is none behind it; nil if the
  /// header is damaged and no transaction was found.
  package var head: Int64?
  /// How many whole transactions the file holds, and how many of them change nothing.
  package var transactions: Int64 = 0
  package var emptyTransactions: Int64 = 0
  package var changesByKind: [ChangeKind: Int64] = [:]
  package var changesByEntity: [EntityNumber: Int64] = [:]
  /// By author and by context, the number of transactions, most first; nil stands for none.
  package var authors: [(name: String?, transactions: Int64)] = []
  package var contexts: [(name: String?, transactions: Int64)] = []
  /// How many openings for writing the file knows of.
  package var openings = 0
  package var earliest: Timestamp?
  package var latest: Timestamp?
  /// How often the clock was found to have jumped back, as the newest checkpoint has it.
  package var clockJumps: Int64 = 0
  /// How many transactions are of an earlier moment than the one before them (imports keep theirs).
  package var timestampsBack: Int64 = 0
  package var bytesByUse: [Use: UInt64] = [:]
  /// How many frames there are of each kind.
  package var frames: [FrameKind: Int64] = [:]
  /// Most bytes first.
  package var shares: [Share] = []
  /// The schema as of the last transaction.
  package var schema = Schema()
  /// How many objects live, as the newest checkpoint has it, by entity.
  package var objectsAtCheckpoint: [EntityNumber: Int64] = [:]
  /// The transaction whose state the newest checkpoint holds; nil if there is none.
  package var checkpointNumber: Int64?
  package var blobCount = 0

  package init() {}

  /// The features that the file has, in words: those in its header and those announced in frames.
  package var features: [(place: String, text: String)] {
    [("features", header?.features ?? .none), ("announced", announced)].filter { !$0.1.isEmpty }
      .map { ($0.0, "\($0.1)") }
  }

  /// How many changes there are of all kinds.
  package var changes: Int64 { changesByKind.values.reduce(0, +) }
}
