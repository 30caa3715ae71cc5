import AnnalsFormat
import AnnalsModel

/// Writes tombstones, the deletes that a new file remembers of pruned history. They precede its
/// base, whose directory names their frames.
///
/// Memory: a frame, and the numbers of the large values among the preserved values.
struct TombstoneWriter {
  private let target: RewriteTarget
  private var payload: ContiguousArray<UInt8> = []
  /// The number of tombstones in the payload.
  private var pending: UInt32 = 0
  /// The large values that they refer to.
  private(set) var largeValues: Set<UInt64> = []

  init(_ target: RewriteTarget) { self.target = target }

  /// Writes the tombstones of the old file, and those of the deletes in the history that is
  /// dropped, up to the new base: of transactions after `least`, which a blocking consumer has not
  /// read; none if it is nil. Returns the large values that they refer to.
  ///
  /// Keeps the values of attributes that were preserved after deletion and that the schema at the
  /// base has not removed.
  static func write(
    after least: Int64?, of view: LogView, upTo base: Int64, into target: RewriteTarget,
    _ erasure: HistoryErasure? = nil
  ) throws(LogError) -> Set<UInt64> {
    guard let least, least < base else { return [] }
    let old = try view.tombstones()
    // A copy of its own: what it counts here says nothing about the lists at the base.
    var erasure = erasure
    var writer = TombstoneWriter(target)
    var preserved = PreservedAttributes(view, base: base)
    var batch = ChangeBatch()
    var last: Int64 = 0
    for frame in old?.frames ?? [] {
      try view.read(tombstones: frame, into: &batch)
      guard batch.transactions.first?.number ?? 0 >= last else {
        throw .damage(at: frame.offset, "tombstones out of order")
      }
      last = batch.transactions.last?.number ?? last
      for record in batch.transactions where record.number > least {
        erasure?.erase(record, in: &batch)
        try writer.add(record, of: batch) { !preserved.isRemoved($1, of: $0) }
      }
    }
    var start = max(view.base, least)
    if let gap = view.gap(at: start), gap.last != start { start = max(view.base, gap.first - 1) }
    if start < base {
      var cursor = try view.history(after: start, through: base)
      while try cursor.next(into: &batch) {
        for record in batch.transactions where record.number > least {
          preserved.advance(to: record.number)
          erasure?.erase(record, in: &batch)
          try writer.add(record, of: batch) { preserved.contains($1, of: $0) }
        }
      }
    }
    try writer.flush()
    // Transactions lost in a salvage may have deleted more than their gap records say.
    let lost = view.gaps.last { $0.last <= base }?.last ?? 0
    target.remember(after: min(base, max(old?.completeAfter ?? view.base, least, lost)))
    return writer.largeValues
  }

  /// Adds the deletes of a transaction, or of a part of one, with the wanted properties.
  mutating func add(
    _ record: TransactionRecord, of batch: ChangeBatch,
    keeping isWanted: (EntityNumber, PropertyNumber) -> Bool
  ) throws(LogError) {
    var own = ChangeBatch()
    own.arena = batch.arena
    var length = 0
    for change in batch.changes[record.changeRange] where change.kind == .delete {
      let kept = batch.properties[change.propertyRange].filter {
        isWanted(change.entity, $0.property)
      }
      own.changes.append(
        ChangeEntry(
          kind: .delete, entity: change.entity, row: change.row,
          firstProperty: own.properties.count, propertyCount: kept.count))
      own.properties += kept
      for cell in kept.lazy.map(\.before) where cell.isLarge {
        if case .large(let value) = batch.arena.withUnsafeBytes({ cell.value(in: $0) }) {
          largeValues.insert(value.number)
        }
      }
      length += own.rowLength(ofChange: own.changes.count - 1)
      if length < TombstoneCodec.targetLength { continue }
      try append(record, &own)
      length = 0
    }
    if !own.changes.isEmpty { try append(record, &own) }
  }

  /// Appends a record with the changes of the batch, and empties it.
  private mutating func append(
    _ record: TransactionRecord, _ own: inout ChangeBatch
  ) throws(LogError) {
    var plain = TransactionRecord(number: record.number, timestamp: record.timestamp)
    plain.author = record.author
    plain.context = record.context
    plain.opening = record.opening
    plain.changeCount = UInt32(own.changes.count)
    own.transactions = [plain]
    TombstoneCodec.append(own, transaction: 0, to: &payload)
    pending += plain.changeCount
    own.changes.removeAll(keepingCapacity: true)
    own.properties.removeAll(keepingCapacity: true)
    if payload.count >= TombstoneCodec.targetLength { try flush() }
  }

  /// Writes what was added since the last frame.
  mutating func flush() throws(LogError) {
    guard pending > 0 else { return }
    try payload.withBytes { bytes throws(LogError) in
      try target.store(tombstones: bytes, count: pending)
    }
    payload.removeAll(keepingCapacity: true)
    pending = 0
  }
}

/// Which attributes are preserved after deletion, transaction by transaction.
private struct PreservedAttributes {
  private var schema = Schema()
  /// The schema changes still ahead.
  private var rest: ArraySlice<SchemaHistoryEntry>
  private var sets: [EntityNumber: Set<PropertyNumber>] = [:]
  private let removed: [EntityNumber: Set<PropertyNumber>]

  /// Starts before the first transaction. The schema of the transaction `base` says what is
  /// removed.
  init(_ view: LogView, base: Int64) {
    rest = view.schemaHistory[...]
    removed = Dictionary(
      uniqueKeysWithValues: view.schema(at: base).entities.map { entity in
        (entity.number, Set(entity.attributes.lazy.filter(\.isRemoved).map(\.number)))
      })
  }

  /// Advances to the schema just after a transaction; never backward.
  mutating func advance(to number: Int64) {
    guard let next = rest.first, next.number <= number else { return }
    while let step = rest.first, step.number <= number {
      schema.apply(step.change)
      rest.removeFirst()
    }
    sets = Dictionary(
      uniqueKeysWithValues: schema.entities.map { entity in
        (
          entity.number,
          Set(entity.attributes.lazy.filter(\.isPreservedAfterDeletion).map(\.number))
        )
      })
  }

  /// Whether the attribute is preserved, and not removed later.
  func contains(_ property: PropertyNumber, of entity: EntityNumber) -> Bool {
    sets[entity]?.contains(property) == true && !isRemoved(property, of: entity)
  }

  func isRemoved(_ property: PropertyNumber, of entity: EntityNumber) -> Bool {
    removed[entity]?.contains(property) == true
  }
}
