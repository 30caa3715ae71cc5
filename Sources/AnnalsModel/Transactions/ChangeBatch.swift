/// The kind of a change to an object.
///
/// Stored in files: never renumber. FORMAT.md, "Changes", lists the same numbers.
@frozen
public enum ChangeKind: UInt8, Hashable, Sendable, CaseIterable {
  case insert = 0
  case update = 1
  case delete = 2
}

/// The decoded changes of one frame in four flat arrays.
///
/// Records are decoded into this form and encoded from it; projections apply it, and `Change` reads
/// it. `changes` lists the changes of all transactions in order; each names its run in
/// `properties`, whose cells refer to `arena`.
///
/// - An insert lists the properties that are not null, with `before` null.
/// - An update lists the properties that changed, with both values.
/// - A delete lists the properties that were not null, with `after` null.
///
/// Within a change, properties rise by number. Runs in `properties` may lie in any order.
@usableFromInline
package struct ChangeBatch: Sendable {
  @usableFromInline package var transactions: ContiguousArray<TransactionRecord> = []
  @usableFromInline package var changes: ContiguousArray<ChangeEntry> = []
  @usableFromInline package var properties: ContiguousArray<PropertyChange> = []
  package var arena: ContiguousArray<UInt8> = []
  /// Long texts that many cells share, at the indexes given by `ValueCell.shared`, so that a reader
  /// decodes each only once. Changes of the other arrays may leave this unchanged.
  package var sharedTexts: ContiguousArray<ValueCell> = []

  package init() {}

  /// Creates an empty batch with the capacity of another one.
  package init(asLongAs other: ChangeBatch) {
    transactions.reserveCapacity(other.transactions.count)
    changes.reserveCapacity(other.changes.count)
    properties.reserveCapacity(other.properties.count)
    arena.reserveCapacity(other.arena.count)
  }

  /// Moves out the batch, and leaves an empty one.
  package mutating func moveOut() -> ChangeBatch {
    var result = ChangeBatch()
    swap(&result, &self)
    return result
  }

  /// Empties the batch and keeps its memory.
  package mutating func removeAll() {
    transactions.removeAll(keepingCapacity: true)
    changes.removeAll(keepingCapacity: true)
    properties.removeAll(keepingCapacity: true)
    arena.removeAll(keepingCapacity: true)
    sharedTexts.removeAll(keepingCapacity: true)
  }

  /// Appends a change of another batch, with its properties and their bytes in the arena.
  package mutating func append(_ change: ChangeEntry, from other: ChangeBatch) {
    var copy = change
    copy.firstProperty = UInt32(properties.count)
    other.arena.withUnsafeBytes { source in
      for index in change.propertyRange {
        var property = other.properties[index]
        property.before = property.before.copied(from: source, to: &arena)
        property.after = property.after.copied(from: source, to: &arena)
        properties.append(property)
      }
    }
    changes.append(copy)
  }

  /// Hands on each large value that its changes mention.
  package func forEachLargeValue(_ body: (LargeValue) -> Void) {
    arena.withUnsafeBytes { arena in
      for property in properties {
        for cell in [property.before, property.after] where cell.isLarge {
          if case .large(let value) = cell.value(in: arena) { body(value) }
        }
      }
    }
  }
}

/// One change in a batch.
@usableFromInline @frozen
package struct ChangeEntry: Sendable {
  @usableFromInline package var row: Int64
  @usableFromInline package var entity: EntityNumber
  /// The index in the batch's `properties` where the change's run begins.
  @usableFromInline package var firstProperty: UInt32
  /// The number of properties in the change.
  @usableFromInline package var propertyCount: UInt32
  @usableFromInline package var kind: ChangeKind

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

/// One property of a change, with its before- and after-image.
///
/// For a to-many relationship in an *update*, `before` holds the references removed and `after`
/// those inserted, each as an edit list (`isEdits`): 16 bytes an edit in the arena, position
/// UInt32, entity UInt32, row Int64, little-endian, positions rising. Positions of removals count
/// in the list before, those of insertions in the list after, so swapping the two inverts the
/// change.
@usableFromInline @frozen
package struct PropertyChange: Sendable {
  @usableFromInline package var before: ValueCell
  @usableFromInline package var after: ValueCell
  @usableFromInline package var property: PropertyNumber
  @usableFromInline package var isEdits: Bool

  @inlinable
  package init(
    property: PropertyNumber, before: ValueCell, after: ValueCell, isEdits: Bool = false
  ) {
    self.property = property
    self.before = before
    self.after = after
    self.isEdits = isEdits
  }

  /// The length of one edit in an arena.
  @inlinable package static var editByteCount: Int { 16 }
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
  /// A random number; part of tokens.
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
