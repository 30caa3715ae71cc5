import AnnalsModel
import AnnalsState

// A stage of the commit (`CommitPipeline`): no unique key occurs twice.

extension StoreWriter {
  /// Brings the transaction's indexes up to date; returns the unique keys that would occur twice.
  ///
  /// Before the pipeline has the state, too: indexes that nobody else has are changed in place.
  func collisions(
    of transaction: WriteTransaction
  ) throws(StateFault) -> [ValidationViolation] {
    var found = try transaction.reader.state.checkUniqueness()
    if !transaction.changedEntities.isEmpty {
      found += try transaction.collisionsOfNewRules(atMost: StoreWriter.mostCollisions)
    }
    if found.isEmpty { return [] }
    let state = transaction.reader.state
    return found.map { ValidationViolation($0, in: state) }
  }

  /// The most collisions by new unique rules that are told.
  private static let mostCollisions = 1_000
}

extension WriteTransaction {
  /// The objects there are with equal values, under several keys, by unique rules that the
  /// transaction adds. O(objects) where it adds one over numbers.
  fileprivate func collisionsOfNewRules(
    atMost limit: Int
  ) throws(StateFault) -> [UniqueViolation] {
    let state = reader.state
    var found: [UniqueViolation] = []
    for number in changedEntities.sorted() {
      guard let entity = state.schema.entity(numbered: number), !entity.isRemoved else { continue }
      let known = base.schema.entity(numbered: number)?.uniqueRulesOfNumbers ?? []
      for rule in entity.uniqueRulesOfNumbers where !known.contains(rule) {
        var rows = state.rows(of: number)
        while found.count < limit, let row = try rows.next() {
          guard let other = try state.rowOfEqualKey(to: row, of: number, rule), other < row else {
            continue
          }
          found.append(
            UniqueViolation(entity: number, rule: rule.number, row: row, otherRow: other))
        }
      }
    }
    return found
  }
}
