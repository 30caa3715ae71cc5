import AnnalsFormat
import AnnalsModel

extension State {
  /// Appends to a batch what happened to one object between two states, and returns whether
  /// anything did.
  ///
  /// `working` was copied from `base` and changed. Changes of to-many lists become edits, except in
  /// inserts and deletes. Nothing is appended to the batch's `transactions`.
  package static func appendNetChange(
    _ entity: EntityNumber, _ row: Int64, from base: State, to working: State,
    into batch: inout ChangeBatch
  ) throws(StateFault) -> Bool {
    guard let new = working.findTable(entity) else { return false }
    let old = base.findTable(entity)
    let wasThere = try old?.contains(row) ?? false
    let isThere = try new.contains(row)
    guard wasThere || isThere else { return false }
    let first = batch.properties.count
    for column in new.columnsByProperty {
      try new.appendNetChange(
        row, column: column, from: wasThere ? old : nil, isThere: isThere, into: &batch)
    }
    let count = batch.properties.count - first
    let kind: ChangeKind = !wasThere ? .insert : isThere ? .update : .delete
    if kind == .update, count == 0 { return false }
    batch.changes.append(
      ChangeEntry(
        kind: kind, entity: entity, row: row, firstProperty: first, propertyCount: count))
    return true
  }
}

extension Table {
  /// Appends the change of one property, if it changed. `old` is nil if the object was not there.
  fileprivate func appendNetChange(
    _ row: Int64, column: Int, from old: Table?, isThere: Bool, into batch: inout ChangeBatch
  ) throws(StateFault) {
    let place = RowPosition(row)
    let oldLeaf =
      column < old?.columns.count ?? 0 ? try old?.leaf(place, column: column) : nil
    let newLeaf = isThere ? try leaf(place, column: column) : nil
    // Leaves are copied when written, so the same leaf is the same value.
    if oldLeaf === newLeaf { return }
    let before = oldLeaf?.cell(place.slot) ?? .null
    let after = newLeaf?.cell(place.slot) ?? .null
    let oldBytes = oldLeaf?.arenaBytes ?? UnsafeRawBufferPointer(start: nil, count: 0)
    let newBytes = newLeaf?.arenaBytes ?? UnsafeRawBufferPointer(start: nil, count: 0)
    defer { withExtendedLifetime((oldLeaf, newLeaf)) {} }
    if ValueCell.areEqual(before, in: oldBytes, after, in: newBytes) { return }

    let property = columns[column].property
    let isUpdate = old != nil && isThere
    if columns[column].kind == .objects, isUpdate {
      let start = batch.arena.count
      let oldList = UnsafeRawBufferPointer(rebasing: oldBytes[before.arenaRange])
      let newList = UnsafeRawBufferPointer(rebasing: newBytes[after.arenaRange])
      let counts = appendEdits(
        from: ObjectReference.list(in: oldList), to: ObjectReference.list(in: newList),
        arena: &batch.arena)
      let width = PropertyChange.editByteCount
      batch.properties.append(
        PropertyChange(
          property: property,
          before: ValueCell(
            tag: .objects, bits: UInt64(start), length: UInt32(counts.removals * width)),
          after: ValueCell(
            tag: .objects, bits: UInt64(start + counts.removals * width),
            length: UInt32(counts.insertions * width)),
          isEdits: true))
      return
    }
    batch.properties.append(
      PropertyChange(
        property: property,
        before: before.copied(from: oldBytes, to: &batch.arena),
        after: after.copied(from: newBytes, to: &batch.arena)))
  }
}

extension ValueCell {
  /// The same value, its bytes appended to another arena.
  func copied(
    from source: UnsafeRawBufferPointer, to arena: inout ContiguousArray<UInt8>
  ) -> ValueCell {
    guard usesArena else { return self }
    var copy = self
    copy.bits = UInt64(arena.count)
    arena.append(contentsOf: UnsafeRawBufferPointer(rebasing: source[arenaRange]))
    return copy
  }
}
