import AnnalsModel
import AnnalsState

/// Makes a kept draft again: on the state that it is to be merged into, with the objects that it
/// knew as they were.
///
/// What the merge compares then is what the draft knew, and no more: whatever else has changed
/// since is none of its business. Objects that the draft did not know are left out of its state
/// where a delete rule would reach them, or they have a unique key that the draft gives to one of
/// its own: so the merge finds them as made by others.
struct KeptDraftReplay {
  private let kept: KeptDraft
  private let pending: PendingState
  private let moves: ObjectMoves
  private let keepsRows: Bool
  /// The objects that others have made, and that are left out.
  private var hidden: Set<ObjectReference> = []
  /// The objects that the draft knew, by their present ids.
  private var known: Set<ObjectReference> = []
  /// The ids of the objects that the draft inserts, by those in the kept draft.
  private(set) var inserted: [ObjectReference: ObjectReference] = [:]

  private struct Place {
    let batch: Int
    let change: Int
  }

  private var places: [ObjectReference: Place] = [:]

  init(
    _ kept: KeptDraft, on pending: PendingState, after moves: ObjectMoves, keepsRows: Bool
  ) {
    self.kept = kept
    self.pending = pending
    self.moves = moves
    self.keepsRows = keepsRows
    for (batch, objects) in kept.objects.enumerated() {
      for (index, change) in objects.changes.enumerated() {
        places[change.object] = Place(batch: batch, change: index)
      }
    }
  }

  private var schema: Schema { pending.version.state.schema }

  /// The draft.
  mutating func draft(
    _ origin: TransactionOrigin, _ number: Int64, _ rules: CommitRules
  ) throws -> Draft {
    while true {
      let draft = try make(origin, number)
      let foreign = try objectsReached(by: draft, rules.deletes)
        .union(holders(ofKeysIn: draft, rules.derivations))
      if foreign.isEmpty { return draft }
      hidden.formUnion(foreign)
    }
  }

  /// The objects of others that delete rules would reach.
  private func objectsReached(
    by draft: Draft, _ rules: DeleteRules
  ) throws -> Set<ObjectReference> {
    if rules.isEmpty || draft.deletions.isEmpty { return [] }
    var trial = draft
    let reached = Set(try trial.apply(rules, denies: false).map(\.object))
    return reached.subtracting(known).subtracting(draft.touched.list)
  }

  /// The objects of others that have unique keys which the draft gives to its own.
  private func holders(
    ofKeysIn draft: Draft, _ derivations: Derivations
  ) throws -> Set<ObjectReference> {
    var trial = draft
    try trial.derive(derivations)
    let own = Set(draft.touched.list)
    var holders: Set<ObjectReference> = []
    for violation in try trial.collisions() {
      let rows = [violation.row, violation.otherRow ?? violation.row]
      let pair = rows.map { ObjectReference(entity: violation.entity, row: $0) }
      guard pair.contains(where: own.contains) else { continue }
      holders.formUnion(pair.filter { !own.contains($0) })
    }
    return holders
  }

  private mutating func make(_ origin: TransactionOrigin, _ number: Int64) throws -> Draft {
    inserted = [:]
    known = []
    let base = try self.base()
    var draft = Draft(
      origin, base: base, number: number, working: base, store: pending.version.store,
      records: pending.version.records, largeValues: pending.largeValues)
    for batch in kept.changes {
      for change in batch.changes where change.kind == .insert {
        let entity = try self.entity(of: change.object)
        // What an undo revives has the id that it had.
        let isRevived = !PendingState.isPending(change.object)
        if isRevived, try base.contains(change.entity, change.row) {
          throw AnnalsError.conflict(
            "\(entity.name)#\(change.row), which the draft revives, was revived by others", [])
        }
        inserted[change.object] = try draft.insert(
          entity: change.entity, row: keepsRows || isRevived ? change.row : nil, defaults: [])
      }
    }
    for batch in kept.changes {
      for change in batch.changes { try apply(change, of: batch, to: &draft) }
    }
    return draft
  }

  // MARK: The state before

  private mutating func base() throws -> State {
    var base = pending.version.state
    for batch in kept.objects {
      for change in batch.changes {
        guard let object = try place(of: change.object),
          let entity = schema.entity(numbered: change.entity), !entity.isRemoved
        else { continue }
        known.insert(object)
        try restore(object, entity, batch.before(of: change), in: &base)
      }
    }
    for object in hidden where try base.contains(object.entity, object.row) {
      try base.deleteRow(object.entity, object.row)
    }
    _ = try base.checkUniqueness()
    return base
  }

  /// Makes an object what it was.
  private func restore(
    _ object: ObjectReference, _ entity: Entity, _ values: [StoredValue], in base: inout State
  ) throws {
    if try !base.contains(object.entity, object.row) {
      try base.insertRow(object.entity, row: object.row)
    }
    for property in entity.readableProperties {
      let given = values.first { $0.property == property.number }?.value ?? .null
      let stored = try base.value(object.entity, object.row, property.number)
      // The same large value, by what describes it: that of the store can be read.
      if given == stored { continue }
      let relationship = entity.relationships.first { $0.number == property.number }
      let value = try given.moved(as: relationship) { try place(of: $0) ?? $0 }
      do throws(StateFault) {
        try base.set(object.entity, object.row, property.number, to: value)
      } catch {
        // A value that the property does not take any more is no value to compare with.
        guard case .invalid = error else { throw error }
      }
    }
  }

  // MARK: The changes

  private func apply(
    _ change: ChangeEntry, of batch: ChangeBatch, to draft: inout Draft
  ) throws {
    let entity = try self.entity(of: change.object)
    let object = try present(change.object, entity)
    guard try draft.exists(object) else { throw missing(change.object, entity) }
    if change.kind == .delete { return try draft.delete(object) }
    for property in batch.properties[change.propertyRange] {
      if entity.derivedAttributes.contains(property.property) { continue }
      guard entity.readableProperties.contains(where: { $0.number == property.property }) else {
        throw AnnalsError.conflict(
          "a property of \(entity.name) that the draft sets was removed from the schema since", [])
      }
      let given = try value(after: property, of: change.object, in: batch)
      var lost: ObjectReference?
      let relationship = entity.relationships.first { $0.number == property.property }
      let value = try given.moved(as: relationship) { target in
        guard let place = try inserted[target] ?? place(of: target) else {
          lost = target
          return target
        }
        return place
      }
      if let lost { throw missing(lost, schema.entity(numbered: lost.entity) ?? entity) }
      do throws(StateFault) {
        try draft.reader.state.set(object.entity, object.row, property.property, to: value)
      } catch {
        guard case .invalid = error else { throw error }
        throw AnnalsError.conflict(
          "\(entity.name).\(entity.propertyName(property.property) ?? "") does not take the "
            + "draft's value any more", [])
      }
    }
    if change.kind == .update { draft.touch(object.entity, object.row) }
  }

  /// The value that a change gives a property; of a list, the whole.
  private func value(
    after property: PropertyChange, of object: ObjectReference, in batch: ChangeBatch
  ) throws(AnnalsError) -> Value {
    guard property.isEdits else {
      return batch.arena.withUnsafeBytes { property.after.value(in: $0) }
    }
    guard let place = places[object] else {
      throw AnnalsError(.damaged, "a draft that waits lacks an object that it changes")
    }
    let objects = kept.objects[place.batch]
    let before =
      objects.before(of: objects.changes[place.change])
      .first { $0.property == property.property }?.value.targets ?? []
    let list = batch.arena.withUnsafeBytes { arena in
      before.edited(
        removing: ListEdit.list(in: property.before.bytes(in: arena)),
        inserting: ListEdit.list(in: property.after.bytes(in: arena)))
    }
    return list.isEmpty ? .null : .objects(list)
  }

  // MARK: Objects

  /// Where an object is that the draft did not insert; nil if it is gone with an earlier draft.
  private func place(of object: ObjectReference) throws(AnnalsError) -> ObjectReference? {
    if moves.gone.contains(object) { return nil }
    if let place = moves.places[object] { return place }
    guard PendingState.isPending(object) else { return object }
    return try pending.version.state.holds(object) ? object : nil
  }

  private func present(
    _ object: ObjectReference, _ entity: Entity
  ) throws(AnnalsError) -> ObjectReference {
    if let place = inserted[object] { return place }
    guard let place = try place(of: object) else { throw missing(object, entity) }
    return place
  }

  private func entity(of object: ObjectReference) throws(AnnalsError) -> Entity {
    if let entity = schema.entity(numbered: object.entity), !entity.isRemoved { return entity }
    throw .conflict("an entity whose objects the draft changes was removed from the schema", [])
  }

  private func missing(_ object: ObjectReference, _ entity: Entity) -> AnnalsError {
    .conflict(
      PendingState.isPending(object)
        ? "\(entity.name)#\(object.row) is an object of an earlier draft that waits, which is in "
          + "conflict or was discarded"
        : "\(entity.name)#\(object.row) is gone", [])
  }
}

extension [ObjectReference] {
  /// The list with edits: positions of removals count in this one, those of insertions in the
  /// result, both rising.
  fileprivate func edited(
    removing removals: [ListEdit], inserting insertions: [ListEdit]
  ) -> [ObjectReference] {
    let removed = Set(removals.map { Int($0.position) })
    var rest = indices.filter { !removed.contains($0) }.map { self[$0] }[...]
    var result: [ObjectReference] = []
    for insertion in insertions {
      while result.count < Int(insertion.position), let next = rest.popFirst() {
        result.append(next)
      }
      result.append(insertion.reference)
    }
    return result + rest
  }
}
