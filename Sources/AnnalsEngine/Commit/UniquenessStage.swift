import AnnalsModel
import AnnalsState

// A stage of the commit (`CommitStages.swift`): no unique key occurs twice.

extension Draft {
  /// Brings the indexes up to date, and adds a violation for each unique key that would occur
  /// twice.
  mutating func checkUniqueness() throws(StateFault) {
    let found = try collisions()
    if found.isEmpty { return }
    let state = reader.state
    violations += found.map { ValidationViolation($0, in: state) }
  }

  /// Brings the indexes up to date, and returns the unique keys that would occur twice.
  mutating func collisions() throws(StateFault) -> [UniqueViolation] {
    var found = try reader.state.checkUniqueness()
    if !changedEntities.isEmpty {
      found += try collisionsOfNewRules(atMost: Draft.mostCollisions)
    }
    return found
  }

  /// The most collisions by new unique rules that are told.
  private static let mostCollisions = 1_000

  /// The objects there are with equal values, under several keys, by unique rules that the
  /// draft adds. O(objects) where it adds one over numbers.
  private func collisionsOfNewRules(
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
