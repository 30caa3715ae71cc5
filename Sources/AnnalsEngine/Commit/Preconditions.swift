import AnnalsLog
import AnnalsModel
import AnnalsState

/// The preconditions of a write based on an earlier state, and how it is merged with later commits.
///
/// Checked under the lock, after catching up with other processes, so nothing can come between the
/// check and the commit.
package struct Preconditions {
  /// The position of the state that the write is based on; nil for none.
  package var basedOn: Token?
  /// How the write is merged with later commits; nil to refuse it if both changed one property.
  package var policy: MergePolicy?
  /// The position that the store must be at; nil for any.
  package var expecting: Token?

  /// No preconditions.
  package static let none = Preconditions()

  package init(basedOn: Token? = nil, policy: MergePolicy? = nil, expecting: Token? = nil) {
    self.basedOn = basedOn
    self.policy = policy
    self.expecting = expecting
  }

  package var isEmpty: Bool { basedOn == nil && expecting == nil }

  /// Throws `.conflict` if the store is not at the expected position, and the errors of a token
  /// that does not belong to its history.
  func check(before version: StoreVersion) throws(AnnalsError) {
    if let expecting { try version.requireHead(expecting) }
    if let basedOn { _ = try version.number(after: basedOn) }
  }

  /// The error for an object that does not exist: `.conflict` if it was deleted after the state
  /// that the write is based on; otherwise nil.
  func deletion(
    of object: ObjectID, in draft: Draft, on version: StoreVersion
  ) throws(AnnalsError) -> AnnalsError? {
    guard let basedOn, policy == nil, basedOn.number < version.head.number else { return nil }
    guard try !draft.base.holds(ObjectReference(object)), object.store == version.store else {
      return nil
    }
    let first = try version.number(after: basedOn)
    let deletion = try version.lastChange(of: object, after: first) { $0.kind == .delete }
    return deletion.map {
      refusal(basedOn, [PropertyConflict($0, nil, named: draft.base, with: $0)])
    }
  }

  func refusal(_ basedOn: Token, _ conflicts: [PropertyConflict]) -> AnnalsError {
    .conflict(
      "the write was decided on the state at transaction \(basedOn.number), and what it changes "
        + "has changed since; nothing was recorded", conflicts)
  }

  /// Throws `.conflict` if a property that the transaction sets, or an object that it deletes, was
  /// changed after the state that it is based on. O(length of history since).
  func check(
    after draft: Draft, on version: StoreVersion
  ) throws(AnnalsError) {
    guard policy == nil || draft.changedEntities.isEmpty else {
      throw AnnalsError(
        .invalidArgument,
        "a write with a merge policy cannot change the schema; nothing was recorded. Change it in "
          + "a write of its own")
    }
    guard let basedOn, policy == nil, basedOn.number < version.head.number else { return }
    let first = try version.number(after: basedOn)
    let search = ConflictSearch(draft)
    let conflicts = try search.conflicts(in: version, after: first)
    guard conflicts.isEmpty else { throw refusal(basedOn, conflicts) }
  }
}

extension StoreVersion {
  /// Throws `.conflict` if the store is not at this position, also if the position is pruned by
  /// now, and the errors of a token that does not belong to its history.
  fileprivate func requireHead(_ expected: Token) throws(AnnalsError) {
    do throws(AnnalsError) {
      if try number(at: expected) == head.number { return }
    } catch {
      // Whoever pruned it has gone on from there.
      guard error.code == .pruned else { throw error }
    }
    throw .conflict(
      "the store was expected to be at transaction \(expected.number), but it has gone on to "
        + "\(head.number); nothing was recorded. Read what came since and try again")
  }
}

/// Searches history for changes that the transaction makes too.
private struct ConflictSearch {
  private let draft: Draft
  private let touched: Set<ObjectReference>
  private let assigned: Set<AssignedProperty>
  /// The most conflicts that are reported.
  private static let limit = 20

  /// What a change of the past and the transaction have in common.
  private struct Overlap: Hashable {
    let object: ObjectID
    /// Nil if the whole object is meant.
    let property: PropertyNumber?
  }

  init(_ draft: Draft) {
    self.draft = draft
    touched = Set(draft.touched.list)
    assigned = draft.assigned ?? []
  }

  /// The conflicts with the transactions after this number, each with the last of them.
  func conflicts(
    in version: StoreVersion, after number: Int64
  ) throws(AnnalsError) -> [PropertyConflict] {
    guard !touched.isEmpty else { return [] }
    let later = History(
      version: version, after: number, through: version.head.number, condition: .always)
    var found: [PropertyConflict] = []
    var seen: Set<Overlap> = []
    try AnnalsError.translating {
      // Newest first, so that the reported transaction is the last that changed the property.
      try later.reversed().forEachChange { change in
        let row = ObjectReference(entity: change.entry.entity, row: change.entry.row)
        guard found.count < ConflictSearch.limit, touched.contains(row) else { return }
        for property in try overlap(with: change)
        where seen.insert(Overlap(object: change.objectID, property: property)).inserted {
          found.append(
            PropertyConflict(change, property, named: draft.base, with: change))
        }
      }
    }
    return found
  }

  /// The properties that both changed; includes nil if one of them inserted or deleted the object.
  private func overlap(with change: Change) throws(AnnalsError) -> [PropertyNumber?] {
    let entry = change.entry
    let before = draft.base
    let after = draft.reader.state
    let derived = draft.schema.entity(numbered: entry.entity)?.derivedAttributes ?? []
    let isOfOthers = entry.propertyRange.contains {
      !derived.contains(change.page.batch.properties[$0].property)
    }
    // What followed from changes of others is none by itself.
    if change.kind == .update, !isOfOthers { return [] }
    return try AnnalsError.translating {
      let existed = try before.contains(entry.entity, entry.row)
      let exists = try after.contains(entry.entity, entry.row)
      let object = ObjectReference(entity: entry.entity, row: entry.row)
      guard existed, exists, change.kind == .update else {
        var isTouched = existed != exists || assigned.contains { $0.object == object }
        if !isTouched { isTouched = try isChanged(entry, in: before, after) }
        return isTouched ? [nil] : []
      }
      var both: [PropertyNumber?] = []
      for position in entry.propertyRange {
        let property = change.page.batch.properties[position].property
        if derived.contains(property) { continue }
        if assigned.contains(AssignedProperty(object: object, property: property)) {
          both.append(property)
        } else if try !before.hasSameValue(entry.entity, entry.row, property, as: after) {
          both.append(property)
        }
      }
      return both
    }
  }

  /// Whether the transaction changes any property of an object.
  private func isChanged(
    _ entry: ChangeEntry, in before: State, _ after: State
  ) throws(StateFault) -> Bool {
    let properties = after.schema.entity(numbered: entry.entity)?.readableProperties ?? []
    for property in properties
    where try !before.hasSameValue(entry.entity, entry.row, property.number, as: after) {
      return true
    }
    return false
  }
}
