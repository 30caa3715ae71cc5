import AnnalsFormat
import AnnalsModel

/// The net changes of objects between two states.
///
/// Both states define all properties that either has a value in. Fastest if objects are looked up
/// in row order.
package struct NetChanges {
  private let base: State
  private let working: State
  // Cached for the last object: most come in runs.
  private var entity: EntityNumber = 0
  private var old: Table?
  private var new: Table?
  private var group = -1
  private var oldGroup: RowGroup?
  private var newGroup: RowGroup?
  private let isPassing: Bool
  private let hasAfter: Bool

  /// The changes between two states. With `isPassing`, chunks read for them are released after each
  /// group of 4,096 rows. Without `hasAfter`, changes have before-images alone, and lists are whole
  /// in updates, too.
  package init(
    from base: State, to working: State, isPassing: Bool = false, hasAfter: Bool = true
  ) {
    self.base = base
    self.working = working
    self.isPassing = isPassing
    self.hasAfter = hasAfter
  }

  /// Appends the net change of one object to a batch; returns whether there is one.
  ///
  /// Changes of to-many lists become edits, except in inserts and deletes. Does not touch the
  /// batch's `transactions`.
  package mutating func append(
    _ object: ObjectReference, to batch: inout ChangeBatch
  ) throws(StateFault) -> Bool {
    move(to: object)
    let place = RowPosition(object.row)
    let wasThere = try oldGroup?.isLive(place.offset) ?? false
    let isThere = try newGroup?.isLive(place.offset) ?? false
    guard let new, wasThere || isThere else { return false }
    let first = batch.properties.count
    try RowGroup.withRow(isThere ? newGroup : nil, place) { (newRow) throws(StateFault) in
      guard wasThere, let old else {
        if hasAfter { try new.appendValues(of: newRow, into: &batch) }
        return
      }
      try RowGroup.withRow(oldGroup, place) { (oldRow) throws(StateFault) in
        try new.appendDifferences(
          from: oldRow, of: old, to: newRow, hasAfter: hasAfter && isThere, into: &batch)
      }
    }
    let count = batch.properties.count - first
    let kind: ChangeKind = !wasThere ? .insert : isThere ? .update : .delete
    if kind == .update, count == 0 { return false }
    batch.changes.append(
      ChangeEntry(
        kind: kind, entity: object.entity, row: object.row, firstProperty: first,
        propertyCount: count))
    return true
  }

  /// Finds the tables and the group of an object.
  @inline(__always)
  private mutating func move(to object: ObjectReference) {
    let isKnown = object.row >= 1 && object.row <= RowPosition.maximumRow
    let group = isKnown ? RowPosition(object.row).group : -1
    guard object.entity != entity || group != self.group else { return }
    if object.entity != entity {
      entity = object.entity
      old = base.findTable(entity)
      new = working.findTable(entity)
    }
    self.group = group
    oldGroup = isKnown ? old?.groups.group(group) : nil
    newGroup = isKnown ? new?.groups.group(group) : nil
    if isPassing { (oldGroup, newGroup) = RowGroup.passing(oldGroup, newGroup) }
  }
}

// The pointers in rows are valid as long as the two states are, see RowView.
extension Table {
  /// The place of a property's column, which is mostly the one given.
  @inline(__always)
  fileprivate func position(of property: PropertyNumber, near place: Int) -> Int? {
    place < columns.count && columns[place].property == property
      ? place : position(of: property)
  }

  /// Appends the values of an object that was not there before.
  fileprivate func appendValues(
    of row: RowView, into batch: inout ChangeBatch
  ) throws(StateFault) {
    for column in columnsByProperty {
      let new = try row.cell(column)
      if new.cell.isNull { continue }
      batch.properties.append(
        PropertyChange(
          property: columns[column].property, before: .null,
          after: new.cell.copied(from: new.arena, to: &batch.arena)))
    }
  }

  /// Appends the properties in which two rows differ.
  fileprivate func appendDifferences(
    from oldRow: RowView, of before: Table, to newRow: RowView, hasAfter: Bool,
    into batch: inout ChangeBatch
  ) throws(StateFault) {
    for column in columnsByProperty {
      let property = columns[column].property
      // Two states that were not copied from one another may have their columns in another order.
      var oldLeaf: Unmanaged<Leaf>?
      if let place = before.position(of: property, near: column) {
        if newRow.shares(column, with: oldRow, place) { continue }
        oldLeaf = try oldRow.unretainedLeaf(place)
      }
      let newLeaf = try newRow.unretainedLeaf(column)
      if oldLeaf?.toOpaque() == newLeaf?.toOpaque() { continue }
      let old = oldRow.cell(in: oldLeaf)
      let new = newRow.cell(in: newLeaf)
      if ValueCell.areEqual(old.cell, in: old.arena, new.cell, in: new.arena) { continue }
      // What was erased has no list to edit.
      if hasAfter, columns[column].kind == .objects, old.cell.tag != .erased,
        new.cell.tag != .erased
      {
        batch.properties.append(
          PropertyChange(property: property, from: old, to: new, arena: &batch.arena))
        continue
      }
      batch.properties.append(
        PropertyChange(
          property: property, before: old.cell.copied(from: old.arena, to: &batch.arena),
          after: hasAfter ? new.cell.copied(from: new.arena, to: &batch.arena) : .null))
    }
  }
}

extension PropertyChange {
  /// The edits that make one to-many list another.
  fileprivate init(
    property: PropertyNumber, from old: RowCell, to new: RowCell,
    arena: inout ContiguousArray<UInt8>
  ) {
    let start = arena.count
    let oldList = UnsafeRawBufferPointer(rebasing: old.arena[old.cell.arenaRange])
    let newList = UnsafeRawBufferPointer(rebasing: new.arena[new.cell.arenaRange])
    let counts = appendEdits(
      from: ObjectReference.list(in: oldList), to: ObjectReference.list(in: newList),
      arena: &arena)
    let width = PropertyChange.editByteCount
    self.init(
      property: property,
      before: ValueCell(
        tag: .objects, bits: UInt64(start), length: UInt32(counts.removals * width)),
      after: ValueCell(
        tag: .objects, bits: UInt64(start + counts.removals * width),
        length: UInt32(counts.insertions * width)),
      isEdits: true)
  }
}
