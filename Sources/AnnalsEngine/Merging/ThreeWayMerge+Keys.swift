import AnnalsModel
import AnnalsState

// Unique keys that both sides have given: found after a merge, and resolved by merging again.

extension ThreeWayMerge {
  /// Resolves unique keys that occur twice in the merged state. Returns whether anything was
  /// decided, so that the merge must run again. What cannot be resolved is refused later as a
  /// violation.
  mutating func resolveKeys() throws(AnnalsError) -> Bool {
    try AnnalsError.translating {
      var hasResolved = false
      for violation in try merged.checkUniqueness() {
        guard let other = violation.otherRow,
          let shape = merged.schema.entity(numbered: violation.entity)?.indexShapes
            .first(where: { $0.number == violation.rule })
        else { continue }
        let one = ObjectReference(entity: violation.entity, row: violation.row)
        let another = ObjectReference(entity: violation.entity, row: other)
        let isStored = (
          try hasStoredKey(shape, one, in: merged), try hasStoredKey(shape, another, in: merged)
        )
        // Two equal keys that both come from the write violate uniqueness; that is reported later.
        guard isStored.0 != isStored.1 else { continue }
        let (mine, holder) = isStored.0 ? (another, one) : (one, another)
        if try resolve(shape, of: mine, heldBy: holder) { hasResolved = true }
      }
      return hasResolved
    }
  }

  /// Whether an object has its stored key in `state` too.
  private func hasStoredKey(
    _ shape: IndexShape, _ object: ObjectReference, in state: State
  ) throws(StateFault) -> Bool {
    guard try stored.contains(object.entity, object.row),
      try state.contains(object.entity, object.row)
    else { return false }
    for column in shape.columns
    where try !stored.hasSameValue(object.entity, object.row, column.property, as: state) {
      return false
    }
    return true
  }

  private mutating func resolve(
    _ shape: IndexShape, of object: ObjectReference, heldBy holder: ObjectReference
  ) throws(StateFault) -> Bool {
    let isStored = try stored.contains(object.entity, object.row)
    let wasThere = try base.contains(object.entity, object.row)
    if !isStored, !wasThere {
      // If the closure could see the other object, the write itself has broken the rule.
      if try hasStoredKey(shape, holder, in: own) { return false }
      return policy != .error && keys.unite(object, with: holder, by: shape.number)
    }
    switch policy {
    case .error, .ownWins, .overwrite: return false
    case .rollBack: return keys.drop(object)
    case .storedWins:
      return isStored
        ? keys.keep(shape.columns.map(\.property), of: object) : keys.drop(object)
    }
  }
}
