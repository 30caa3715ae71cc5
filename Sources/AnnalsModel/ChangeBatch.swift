/// What happened to an object in a transaction.
///
/// Stored in files: never renumber. FORMAT.md, "Changes", lists the same numbers.
@frozen
public enum ChangeKind: UInt8, Hashable, Sendable, CaseIterable {
  case insert = 0
  case update = 1
  case delete = 2
}

/// The decoded changes of one frame, flat: four arrays whatever the number of changes.
///
/// The one form that records are decoded into and encoded from, that projections apply, and that
/// `Change` reads. `changes` lists the changes of all transactions in order; each names its run in
/// `properties`, whose cells point into `arena`.
///
/// - An insert lists the properties that are not null, with `before` null.
/// - An update lists the properties that changed, with both values.
/// - A delete lists the properties that were not null, with `after` null.
///
/// Within a change, properties rise by number. Runs in `properties` may lie in any order.
package struct ChangeBatch: Sendable {
  package var transactions: ContiguousArray<TransactionRecord> = []
  package var changes: ContiguousArray<ChangeEntry> = []
  package var properties: ContiguousArray<PropertyChange> = []
  package var arena: ContiguousArray<UInt8> = []

  package init() {}

  /// Empties the batch and keeps its memory.
  package mutating func removeAll() {
    transactions.removeAll(keepingCapacity: true)
    changes.removeAll(keepingCapacity: true)
    properties.removeAll(keepingCapacity: true)
    arena.removeAll(keepingCapacity: true)
  }
}

/// One change in a batch.
@frozen
package struct ChangeEntry: Sendable {
  package var row: Int64
  package var entity: EntityNumber
  /// Where in the batch's `properties` the change's run begins.
  package var firstProperty: UInt32
  /// How many properties the change lists.
  package var propertyCount: UInt32
  package var kind: ChangeKind

  @inlinable
  package init(
    kind: ChangeKind, entity: EntityNumber, row: Int64, firstProperty: Int, propertyCount: Int
  ) {
    self.kind = kind
    self.entity = entity
    self.row = row
    self.firstProperty = UInt32(firstProperty)
    self.propertyCount = UInt32(propertyCount)
  }

  /// The change's run in the batch's `properties`.
  @inlinable package var propertyRange: Range<Int> {
    Int(firstProperty)..<Int(firstProperty) + Int(propertyCount)
  }
}

/// One property of a change, with its values before and after.
///
/// For a to-many relationship in an *update*, `before` holds the references removed and `after`
/// those inserted, each as an edit list (`isEdits`): 16 bytes an edit in the arena, position
/// UInt32, entity UInt32, row Int64, little-endian, positions rising. Positions of removals count
/// in the list before, those of insertions in the list after, so swapping the two inverts the
/// change.
@frozen
package struct PropertyChange: Sendable {
  package var before: ValueCell
  package var after: ValueCell
  package var property: PropertyNumber
  package var isEdits: Bool

  @inlinable
  package init(
    property: PropertyNumber, before: ValueCell, after: ValueCell, isEdits: Bool = false
  ) {
    self.property = property
    self.before = before
    self.after = after
    self.isEdits = isEdits
  }

  /// The count of bytes of one edit in an arena.
  @inlinable package static var editByteCount: Int { 16 }
}

/// What a batch knows of one transaction besides its changes.
package struct TransactionRecord: Sendable {
  /// The transaction's number, from 1.
  package var number: Int64
  package var timestamp: Timestamp
  /// The interned name of the author; 0 for none.
  package var author: NameNumber = 0
  /// The interned name of the context; 0 for none.
  package var context: NameNumber = 0
  /// The opening that wrote the transaction; 0 for none (a replayed or imported base).
  package var opening: OpeningNumber = 0
  /// The caller's key-value pairs, keys rising by UTF-8 bytes.
  package var metadata: [MetadataEntry] = []
  /// The complete new definitions of the entities whose definition changed; empty for none.
  package var schemaChange: [Entity] = []
  /// Names first used here: `NameNumber`s that follow those known before, from `firstNewName`.
  package var newNames: [String] = []
  package var firstNewName: NameNumber = 0
  /// The opening first used here, if it is.
  package var newOpening: Opening?
  /// What a gap record says of the lost transactions that it covers, the last of which has its
  /// number; nil for a transaction.
  package var lost: LostTransactions?
  /// The tagged extension area's raw bytes, kept by rewrites.
  package var extensions: ContiguousArray<UInt8> = []
  /// Which part of a transaction of several frames this is, from 0, and whether another follows.
  package var part: UInt32 = 0
  package var isContinued = false
  /// The transaction's run in the batch's `changes`.
  package var firstChange: UInt32 = 0
  package var changeCount: UInt32 = 0

  package init(number: Int64, timestamp: Timestamp) {
    self.number = number
    self.timestamp = timestamp
  }

  /// The transaction's run in the batch's `changes`.
  package var changeRange: Range<Int> { Int(firstChange)..<Int(firstChange) + Int(changeCount) }
}

/// A key and value that the caller attached to a transaction.
package struct MetadataEntry: Hashable, Sendable {
  package var key: String
  package var value: Value

  package init(key: String, value: Value) {
    self.key = key
    self.value = value
  }
}

/// The number of an interned name, from 1; 0 stands for no name.
package typealias NameNumber = UInt32

/// The number of an opening within a store, from 1; 0 stands for none.
package typealias OpeningNumber = UInt32

/// One opening of a store for writing.
package struct Opening: Hashable, Sendable {
  package var number: OpeningNumber
  /// Random; what tokens carry.
  package var id: UInt64
  package var processName: String
  package var processID: Int64

  package init(number: OpeningNumber, id: UInt64, processName: String, processID: Int64) {
    self.number = number
    self.id = id
    self.processName = processName
    self.processID = processID
  }
}
