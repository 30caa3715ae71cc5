import AnnalsModel
import AnnalsState

extension State {
  /// Whether a property of an object has the same value in another state.
  package func hasSameValue(
    _ entity: EntityNumber, _ row: Int64, _ property: PropertyNumber, as other: State
  ) throws(StateFault) -> Bool {
    try withCell(entity, row, property) { a, arenaA throws(StateFault) in
      try other.withCell(entity, row, property) { b, arenaB throws(StateFault) in
        ValueCell.areEqual(a, in: arenaA, b, in: arenaB)
      }
    }
  }
}
