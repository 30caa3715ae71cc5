import AnnalsModel
import AnnalsState

/// Merges a draft into the newest state so that delete rules hold there.
///
/// A deletion and all that follows from it by rules stand or fall together. Where the other side
/// has changed what would go, or has made something new refer to it, the policy decides about the
/// deletion: `.ownWins` and `.overwrite` delete that, too; `.storedWins` and `.rollBack` keep the
/// deleted object and all that would have gone with it; `.error` refuses the write. A reference of
/// the write to what others have deleted is the same from the other side.
struct GraphMerge {
  private let basis: MergeBasis
  private let version: StoreVersion
  private let rules: DeleteRules
  /// The conflicts, which the policy resolves or, with `.error`, refuses.
  private(set) var conflicts: [MergeConflict] = []
  /// What the rules did, and the states before: the write's, and the newest with its changes.
  private(set) var effects: [(list: [DeletionEffect], before: State)] = []
  /// The objects that the write deletes and that are kept.
  private var kept: Set<ObjectReference> = []

  init(_ basis: MergeBasis, _ version: StoreVersion, _ rules: DeleteRules) {
    self.basis = basis
    self.version = version
    self.rules = rules
  }

  /// The draft as one of the newest state. Merges anew each time that a deletion turns out to be
  /// kept. O(what is touched) for each.
  mutating func run(_ draft: Draft) throws(AnnalsError) -> Draft {
    while true {
      var own = draft
      try own.revive(kept.sorted(), as: basis.base)
      let before = own.reader.state
      // What refers to a deleted object in the newest state denies it, below.
      let effects = try own.apply(rules, denies: false)
      var (result, found) = try own.merged(into: version, from: basis)
      guard !rules.isEmpty else {
        conflicts = found
        return result
      }
      try resolveLost(in: &result, &found)
      let united = result.reader.state
      let late = try result.apply(rules)
      try found.append(contentsOf: lateConflicts(late, besides: found))
      keep(found)
      let more = try deletionsToKeep(of: draft, in: result, effects, late)
      if more.isEmpty {
        self.effects = [(effects, before), (late, united)]
        return result
      }
      kept.formUnion(more)
    }
  }

  /// The deletions by the write that the policy does not let happen, since they, or what follows
  /// from them, meet changes of others.
  private func deletionsToKeep(
    of draft: Draft, in result: Draft, _ effects: [DeletionEffect], _ late: [DeletionEffect]
  ) throws(AnnalsError) -> Set<ObjectReference> {
    guard basis.policy == .storedWins || basis.policy == .rollBack else { return [] }
    var causes: [ObjectReference: ObjectReference] = [:]
    for effect in late where effect.cleared == nil { causes[effect.object] = effect.cause }
    for effect in effects where effect.cleared == nil { causes[effect.object] = effect.cause }
    var roots: Set<ObjectReference> = []
    for effect in effects where effect.cleared == nil {
      if try result.exists(effect.object) { roots.insert(root(of: effect.object, causes)) }
    }
    for effect in late { roots.insert(root(of: effect.cause, causes)) }
    for object in draft.deletions where !kept.contains(object) {
      if try !draft.exists(object), try result.exists(object) { roots.insert(object) }
    }
    return roots.subtracting(kept)
  }

  /// The object whose deletion by the write was the first cause of this one's.
  private func root(
    of object: ObjectReference, _ causes: [ObjectReference: ObjectReference]
  ) -> ObjectReference {
    var root = object
    var seen: Set<ObjectReference> = []
    while seen.insert(root).inserted, let cause = causes[root] { root = cause }
    return root
  }

  /// Adds the conflicts that no round before has found.
  private mutating func keep(_ found: [MergeConflict]) {
    struct Place: Hashable {
      let object: ObjectReference
      let property: PropertyNumber?
    }
    var known = Set(conflicts.map { Place(object: $0.object, property: $0.property) })
    for conflict in found where conflicts.count < ThreeWayMerge.mostConflicts {
      let place = Place(object: conflict.object, property: conflict.property)
      if known.insert(place).inserted { conflicts.append(conflict) }
    }
  }

  /// The conflicts of what rules do to the changes of others. An object whose reference they left
  /// alone is in one already, about what they changed.
  private func lateConflicts(
    _ effects: [DeletionEffect], besides found: [MergeConflict]
  ) throws(AnnalsError) -> [MergeConflict] {
    let told = Set(found.map(\.object))
    var result: [MergeConflict] = []
    for effect in effects {
      let conflict = try conflict(effect)
      if conflict.base == conflict.stored, told.contains(conflict.object) { continue }
      result.append(conflict)
    }
    return result
  }

  /// What others have changed that follows a deletion by the write.
  private func conflict(_ effect: DeletionEffect) throws(AnnalsError) -> MergeConflict {
    let object = effect.object
    let property = effect.cleared ?? relationship(from: object.entity, to: effect.cause)
    return MergeConflict(
      object: object, property: property, base: try basis.base.valueIfThere(object, property),
      stored: try version.state.valueIfThere(object, property), own: nil, insertedAs: nil)
  }

  private func relationship(
    from entity: EntityNumber, to target: ObjectReference
  ) -> PropertyNumber? {
    rules[target.entity].first { $0.entity == entity && $0.rule == .cascade }?.relationship.number
  }
}

// References of the write to what others have deleted.
extension GraphMerge {
  /// Revives what others have deleted and the write refers to, or drops the references, as the
  /// policy says, by relationships with a rule; adds the conflicts. What is revived is looked at,
  /// too: it may refer to more that is gone.
  private func resolveLost(
    in draft: inout Draft, _ found: inout [MergeConflict]
  ) throws(AnnalsError) {
    var place = 0
    while place < draft.touched.list.count {
      let object = draft.touched.list[place]
      place += 1
      for relationship in rules.relationships(of: object.entity) {
        let lost = try lostTargets(of: object, relationship.number, in: draft)
        if lost.isEmpty {
          try dropMissing(relationship, of: object, in: &draft)
          continue
        }
        let property = relationship.number
        let stored = try version.state.valueIfThere(object, property)
        found.append(
          MergeConflict(
            object: object, property: property,
            base: try basis.base.valueIfThere(object, property), stored: stored,
            own: try draft.value(object, property), insertedAs: nil))
        if basis.policy.keepsOwnSide {
          try draft.revive(lost, as: basis.base)
        } else {
          try draft.dropLost(relationship, of: object, stored: stored)
        }
      }
    }
  }

  /// Takes references to what is nowhere, not even in the base, out of an object that was revived.
  /// Such a base is that of a draft that waited: it has the objects that the draft refers to as
  /// they were, and of what these refer to only what they would go with.
  private func dropMissing(
    _ relationship: Relationship, of object: ObjectReference, in draft: inout Draft
  ) throws(AnnalsError) {
    guard try draft.exists(object), try !version.state.holds(object), try basis.base.holds(object)
    else { return }
    for target in try draft.value(object, relationship.number).targets {
      if try draft.exists(target) { continue }
      if try basis.base.holds(target) { continue }
      return try draft.dropLost(relationship, of: object, stored: nil)
    }
  }

  /// What an object refers to that others have deleted.
  private func lostTargets(
    of object: ObjectReference, _ property: PropertyNumber, in draft: Draft
  ) throws(AnnalsError) -> [ObjectReference] {
    var lost: [ObjectReference] = []
    guard try draft.exists(object) else { return [] }
    for target in try draft.value(object, property).targets {
      if try !draft.exists(target), try !version.state.holds(target), try basis.base.holds(target) {
        lost.append(target)
      }
    }
    return lost
  }
}

extension Draft {
  /// Whether an object exists in the working state.
  func exists(_ object: ObjectReference) throws(AnnalsError) -> Bool {
    try reader.state.holds(object)
  }

  /// Inserts objects that are gone under their own ids, with the values that they have in another
  /// state.
  fileprivate mutating func revive(
    _ objects: [ObjectReference], as state: State
  ) throws(AnnalsError) {
    for object in objects {
      guard try !exists(object) else { continue }
      try revive(object, with: try Draft.values(of: object, in: state))
    }
  }

  /// Takes references to objects that others have deleted out of an object: as its rule says, or
  /// as it was stored before.
  fileprivate mutating func dropLost(
    _ relationship: Relationship, of object: ObjectReference, stored: Value?
  ) throws(AnnalsError) {
    if relationship.isToMany || relationship.deleteRule == .nullify {
      try dropDangling(relationship.number, of: object)
    } else if let stored {
      try set(object, relationship.number, to: stored)
    } else {
      try delete(object)
    }
  }
}
