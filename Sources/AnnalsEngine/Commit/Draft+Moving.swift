import AnnalsLog
import AnnalsModel
import AnnalsState

// Drafts that are kept outside of a write: an editing context, a batch to be committed later. When
// its turn comes, such a draft is made anew for the log: large values are written ahead, and new
// objects get rows that the newest state has never used.

extension Draft {
  /// The same changes in a draft of the turn, on the same state with the newest schema; also where
  /// new objects have moved, for those that have. Without `pending`, held large values stay held.
  /// O(what is touched); O(1) for a draft of the newest state that holds no large value.
  ///
  /// Throws `.invalidArgument` if others have committed since, and the draft changes the schema.
  func moved(
    to version: StoreVersion, _ pending: PendingLargeValues? = nil
  ) throws(AnnalsError) -> (draft: Draft, moves: [ObjectReference: ObjectReference]) {
    let held = largeValues as? HeldLargeValues
    if let pending, number == version.head.number, held?.isEmpty ?? false {
      return (given(to: pending, version), [:])
    }
    var newBase = base
    if number < version.head.number {
      guard changedEntities.isEmpty else {
        throw AnnalsError(
          .invalidArgument,
          "others have committed since the draft began, and it changes the schema; nothing was "
            + "recorded. Change the schema in a write of its own")
      }
      if base.schema != version.state.schema { newBase.changeSchema(version.state.schema.entities) }
    }
    newBase.adoptNextRows(of: version.state)
    var result = Draft(
      origin, base: newBase, number: number, working: newBase, store: version.store,
      records: version.records, largeValues: pending ?? largeValues)
    result.opening = opening
    result.define(changedEntities.sorted().compactMap { schema.entity(numbered: $0) })
    result.erasedAgain = erasedAgain
    result.earlier = earlier
    let moves = try makeObjects(in: &result)
    result.violations = violations.map { $0.moved(moves) }
    // In the order in which this draft has touched them.
    result.touched = TouchedObjects()
    for object in touched.list { try copy(object, into: &result, moves) }
    return (result, moves)
  }

  /// The same draft, with the large values of a turn.
  private func given(to pending: PendingLargeValues, _ version: StoreVersion) -> Draft {
    var result = Draft(
      origin, base: base, number: number, working: reader.state, store: version.store,
      records: version.records, largeValues: pending)
    result.touched = touched
    result.deletions = deletions
    result.changedEntities = changedEntities
    result.violations = violations
    result.erasedAgain = erasedAgain
    result.earlier = earlier
    return result
  }

  /// Makes the objects that this draft has inserted or revived in another draft. Returns where they
  /// are, for those whose rows are others there.
  private func makeObjects(
    in result: inout Draft
  ) throws(AnnalsError) -> [ObjectReference: ObjectReference] {
    var moves: [ObjectReference: ObjectReference] = [:]
    for object in touched.list {
      let isNew = object.row >= base.nextRow(of: object.entity)
      let isThere = try exists(object)
      let wasThere = try base.holds(object)
      guard isNew || isThere && !wasThere else { continue }
      let made = try result.insert(
        entity: object.entity, row: isNew ? nil : object.row, defaults: [])
      if made != object { moves[object] = made }
      // One that was deleted again keeps a row of its own: what still refers to it must not refer
      // to an object that others have made.
      if !isThere { try result.delete(made) }
    }
    return moves
  }

  /// Copies the values of an object that this draft changes, or deletes it.
  private func copy(
    _ object: ObjectReference, into result: inout Draft,
    _ moves: [ObjectReference: ObjectReference]
  ) throws(AnnalsError) {
    guard try exists(object) else {
      if try base.holds(object) { try result.delete(object) }
      return
    }
    let target = moves[object] ?? object
    let isKept = try base.holds(object)
    guard let entity = result.schema.entity(numbered: object.entity) else { return }
    try requireNothingLost(of: object, isKept: isKept, in: entity)
    for property in entity.readableProperties {
      if isKept {
        let isSame = try AnnalsError.translating {
          try base.hasSameValue(object.entity, object.row, property.number, as: reader.state)
        }
        if isSame { continue }
      }
      let value = try movedValue(of: object, property.number, in: entity, moves, result.largeValues)
      try result.put(value, in: property.number, row: target.row, of: target.entity)
    }
    if isKept {
      result.touch(target.entity, target.row)
    } else {
      result.noteInsertion(target.entity, target.row)
    }
  }

  /// Throws `.conflict` if the draft has changed a property that was removed since, or has another
  /// type since a migration: nothing could take the value.
  private func requireNothingLost(
    of object: ObjectReference, isKept: Bool, in entity: Entity
  ) throws(AnnalsError) {
    guard entity.hasRemovedProperties else { return }
    let removed = entity.removedProperties
    for property in schema.entity(numbered: object.entity)?.readableProperties ?? []
    where removed.contains(property.number) {
      let isUnchanged = try AnnalsError.translating {
        isKept
          ? try base.hasSameValue(object.entity, object.row, property.number, as: reader.state)
          : try reader.state.value(object.entity, object.row, property.number).isNull
      }
      if isUnchanged { continue }
      throw .conflict(
        "\(nameText(of: object)).\(property.name) was changed, and meanwhile the property was "
          + "removed from the schema, or got another type; nothing was recorded. Take the change "
          + "back, and make it anew")
    }
  }

  /// A value as the draft of the turn stores it.
  private func movedValue(
    of object: ObjectReference, _ property: PropertyNumber, in entity: Entity,
    _ moves: [ObjectReference: ObjectReference], _ largeValues: any LargeValueSink
  ) throws(AnnalsError) -> Value {
    let value = try value(object, property)
    switch value {
    case .large(let large) where HeldLargeValues.holds(large) && !(largeValues is HeldLargeValues):
      return .large(
        try largeValues.add(try self.largeValues.bytes(of: large), tag: large.tag))
    default:
      return value.moved(as: entity.relationships.first { $0.number == property }) {
        moves[$0] ?? $0
      }
    }
  }
}

extension StoreWriter {
  /// An empty draft of the newest published state, to be filled outside of a write and committed
  /// later. Holds that state in memory. Safe on any thread; so is each use of the draft, which is a
  /// value.
  package func makeDraft(_ origin: TransactionOrigin) -> Draft {
    let version = head.published
    return version.makeDraft(origin, HeldLargeValues(stored: LogLargeValues(version.view)))
  }

  /// Commits a draft that was filled outside of a write. If others have committed since it began,
  /// its changes are merged into theirs by the policy; without one, it is refused if both changed
  /// one property.
  ///
  /// If it throws, no trace remains, except where the error says otherwise (`outcomeUnknown`), and
  /// the draft can be committed again.
  package func commit(
    _ draft: Draft, if preconditions: Preconditions = .none
  ) throws -> CommitResult {
    let result = try write { try $0.append(draft, if: preconditions) }
    checkpointIfDue()
    return result
  }

  private func append(
    _ given: Draft, if preconditions: Preconditions
  ) throws -> CommitResult {
    try appendingLargeValues { pending in
      var preconditions = preconditions
      var (draft, moves) = try move(given, if: &preconditions, pending)
      var result: CommitResult
      do {
        result = try append(&draft, if: preconditions, pending)
      } catch let error as AnnalsError {
        throw error.naming(asGiven: moves)
      }
      result.moves = moves
      result.nameAsGiven(moves)
      return result
    }
  }

  /// A draft that was filled outside of a write as one of the turn, with the preconditions that it
  /// has then, and where its new objects have moved.
  private func move(
    _ given: Draft, if preconditions: inout Preconditions, _ pending: PendingLargeValues?
  ) throws(AnnalsError) -> (draft: Draft, moves: [ObjectReference: ObjectReference]) {
    if let failure = given.failure { throw failure }
    let version = newest
    try preconditions.check(before: version)
    var given = given
    let token = try version.position(of: given)
    if given.number < version.head.number {
      preconditions.basedOn = token
      given = try given.withoutRuleEffects()
    }
    given.adoptRuleEffects()
    return try given.moved(to: version, pending)
  }

  /// Passes a draft that was filled outside of a write through the stages, as `commit` does, for
  /// the holder of the turn. Returns the transaction, or nil if there is nothing to record. Writes
  /// nothing to the file; new large values stay where the draft has them.
  ///
  /// If it throws, the draft can be proposed again.
  package func propose(
    _ given: Draft, if preconditions: Preconditions
  ) throws -> ProposedTransaction? {
    try AnnalsError.translatingFaults {
      var preconditions = preconditions
      var (draft, moves) = try move(given, if: &preconditions, nil)
      var proposed: ProposedTransaction?
      do {
        proposed = try propose(&draft, if: preconditions, draft.largeValues, on: newest)
      } catch let error as AnnalsError {
        throw error.naming(asGiven: moves)
      }
      proposed?.moves = moves
      return proposed
    }
  }
}

extension StoreVersion {
  /// An empty draft of this state.
  func makeDraft(_ origin: TransactionOrigin, _ largeValues: HeldLargeValues) -> Draft {
    var draft = Draft(
      origin, base: state, number: head.number, working: state, store: store, records: records,
      largeValues: largeValues)
    draft.opening = head.openingID
    return draft
  }

  /// Where history begins that a draft lacks: after the transaction that it is based on, or the
  /// base if that was pruned. A draft holds its own base, so it can be merged all the same.
  ///
  /// Throws `.lostBranch` and `.beyondHead` if the transaction is not of this history.
  func position(of draft: Draft) throws(AnnalsError) -> Token {
    let token = Token(store: store, number: draft.number, opening: draft.opening)
    guard draft.number >= view.base else { return try self.token(of: view.base) }
    _ = try number(after: token)
    return token
  }
}

extension AnnalsError {
  /// Names the objects of violations by the ids that they had in the draft as it was given.
  fileprivate func naming(
    asGiven moves: [ObjectReference: ObjectReference]
  ) -> AnnalsError {
    if violations.isEmpty || moves.isEmpty { return self }
    let given = Dictionary(uniqueKeysWithValues: moves.map { ($0.value, $0.key) })
    return .invalidChange(violations.map { $0.moved(given) })
  }
}

extension ValidationViolation {
  /// The violation with the object's new id.
  fileprivate func moved(_ moves: [ObjectReference: ObjectReference]) -> ValidationViolation {
    var result = self
    result.object = object.map { moves[$0] ?? $0 }
    return result
  }
}

extension CommitResult {
  /// Names the objects that a merge united by the ids that they had in the draft as it was given,
  /// before its new objects moved.
  mutating func nameAsGiven(_ moves: [ObjectReference: ObjectReference]) {
    for (given, moved) in moves {
      guard let stored = mergedObjects.removeValue(forKey: moved) else { continue }
      mergedObjects[given] = stored
      self.moves[given] = nil
    }
    let given = Dictionary(uniqueKeysWithValues: moves.map { ($0.value, $0.key) })
    for index in conflicts.indices {
      guard let id = conflicts[index].insertedAs,
        let reference = given[ObjectReference(entity: id.entity, row: id.row)]
      else { continue }
      conflicts[index].insertedAs = ObjectID(
        store: id.store, entity: id.entity, row: reference.row)
    }
  }
}
