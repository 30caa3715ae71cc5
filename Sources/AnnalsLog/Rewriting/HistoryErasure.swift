import AnnalsFormat
import AnnalsModel

/// The values that a rewrite erases from history.
///
/// Must see the transactions in order, since it counts the references in lists: the edits alone do
/// not tell whether a list existed before.
package struct HistoryErasure {
  /// A to-many relationship of an object.
  package struct List: Hashable, Sendable {
    package var object: ObjectReference
    package var property: PropertyNumber

    package init(_ object: ObjectReference, _ property: PropertyNumber) {
      self.object = object
      self.property = property
    }
  }

  /// The properties to erase of each object; empty for all of them.
  private var targets: [ObjectReference: Set<PropertyNumber>] = [:]
  private let entities: Set<EntityNumber>
  /// The last transaction whose values are erased.
  private let through: Int64
  /// How many references each list has; lists without any are left out.
  private var lengths: [List: Int]
  /// The large values that something unerased refers to; all others are dropped.
  private(set) var keptLargeValues: Set<UInt64> = []

  /// Erases values of transactions up to and including `through`. `lengths` gives the number of
  /// references that these objects' lists have at the base.
  package init(_ erasure: Erasure, through: Int64, lengths: [List: Int]) {
    for target in erasure.targets { targets[target.object] = Set(target.properties) }
    entities = Set(erasure.targets.map(\.object.entity))
    self.through = through
    self.lengths = lengths
  }

  /// Finds the large values that are not erased. Reads the whole history.
  mutating func findKeptLargeValues(in view: LogView) throws(LogError) {
    guard view.tables.nextLargeValueNumber > 1 else { return }
    var cursor = try view.history(after: view.base, through: view.head.number)
    var batch = ChangeBatch()
    while try cursor.next(into: &batch) {
      for record in batch.transactions {
        noteLargeValues(of: record, in: batch, into: &keptLargeValues)
      }
    }
  }

  /// Also keeps these large values of the state at the base.
  mutating func keep(_ largeValues: [UInt64]) { keptLargeValues.formUnion(largeValues) }

  /// Collects the large values that a transaction refers to in values that are not erased.
  func noteLargeValues(
    of record: TransactionRecord, in batch: ChangeBatch, into found: inout Set<UInt64>
  ) {
    batch.arena.withUnsafeBytes { arena in
      for change in batch.changes[record.changeRange] {
        for property in batch.properties[change.propertyRange] {
          for cell in [property.before, property.after] where cell.isLarge {
            if erases(property.property, of: change, in: record) { continue }
            if case .large(let value) = cell.value(in: arena) { found.insert(value.number) }
          }
        }
      }
    }
  }

  /// Whether a block may hold anything to erase, by its summary.
  func touches(_ summary: BlockSummary) -> Bool {
    summary.firstNumber <= through
      && summary.entities.contains { entity in
        entities.contains(entity.entity)
          && targets.keys.contains {
            $0.entity == entity.entity && entity.minimumRow <= $0.row && $0.row <= entity.maximumRow
          }
      }
  }

  private func erases(
    _ property: PropertyNumber, of change: ChangeEntry, in record: TransactionRecord
  ) -> Bool {
    guard record.number <= through, entities.contains(change.entity),
      let properties = targets[ObjectReference(entity: change.entity, row: change.row)]
    else { return false }
    return properties.isEmpty || properties.contains(property)
  }

  /// Erases values of one transaction of the batch. Their bytes stay in its arena, where no encoder
  /// reads them.
  mutating func erase(_ record: TransactionRecord, in batch: inout ChangeBatch) {
    guard record.number <= through else { return }
    for change in batch.changes[record.changeRange] where entities.contains(change.entity) {
      let object = ObjectReference(entity: change.entity, row: change.row)
      guard let properties = targets[object] else { continue }
      for place in change.propertyRange {
        let property = batch.properties[place].property
        if properties.isEmpty || properties.contains(property) {
          erase(&batch.properties[place], of: List(object, property))
        }
      }
    }
  }

  /// Erases one value. A null stays null: there was no value.
  private mutating func erase(_ change: inout PropertyChange, of list: List) {
    if change.isEdits {
      let old = lengths[list] ?? 0
      let new =
        old - Int(change.before.length) / PropertyChange.editByteCount
        + Int(change.after.length) / PropertyChange.editByteCount
      change.isEdits = false
      change.before = old == 0 ? .null : .erased
      change.after = new <= 0 ? .null : .erased
      lengths[list] = new <= 0 ? nil : new
      return
    }
    lengths[list] =
      change.after.tag == .objects && change.after.length > 0
      ? Int(change.after.length) / ObjectReference.byteCount : nil
    change.before = change.before.erasedUnlessAbsent
    change.after = change.after.erasedUnlessAbsent
  }
}

extension ValueCell {
  fileprivate var erasedUnlessAbsent: ValueCell {
    tag == .null || tag == .objects && length == 0 ? .null : .erased
  }
}
