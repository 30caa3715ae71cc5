import AnnalsModel
import AnnalsState

// Unique keys that both sides have given: found once all is merged, and settled by merging again.

extension ThreeWayMerge {
  /// Decides of the unique keys that the merged state has twice. Returns whether anything was
  /// decided, so that it must be merged again; what cannot be settled is refused later.
  mutating func settleKeys() throws(AnnalsError) -> Bool {
    do throws(StateFault) {
      var hasSettled = false
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
        // Two keys that the write has given are its own affair.
        guard isStored.0 != isStored.1 else { continue }
        let (mine, holder) = isStored.0 ? (another, one) : (one, another)
        if try settle(shape, of: mine, heldBy: holder) { hasSettled = true }
      }
      return hasSettled
    } catch {
      throw AnnalsError(error)
    }
  }

  /// Whether an object has the key in a state that it is stored with.
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

  private mutating func settle(
    _ shape: IndexShape, of object: ObjectReference, heldBy holder: ObjectReference
  ) throws(StateFault) -> Bool {
    let isStored = try stored.contains(object.entity, object.row)
    let wasThere = try base.contains(object.entity, object.row)
    if !isStored, !wasThere {
      // Where the closure could see the other, it has broken the rule itself.
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
