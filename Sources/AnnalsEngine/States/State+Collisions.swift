import AnnalsModel
import AnnalsState

// Two objects with one unique key: no transaction may leave that.

extension State {
  /// The objects that share a unique key with another. Brings the indexes up to date.
  package mutating func collisions() throws(StateFault) -> [UniqueViolation] {
    try checkUniqueness().filter { violation in
      violation.otherRow != nil && schema.entity(numbered: violation.entity)?.isRemoved == false
    }
  }

  /// Deletes the objects that share a unique key with another.
  package mutating func dropCollisions() throws(StateFault) {
    while let collision = try collisions().first {
      try deleteRow(collision.entity, collision.row)
    }
  }

  /// Throws `.damaged` if two objects share a unique key. Called before the history that could
  /// explain it is dropped.
  package func requireDistinctKeys(asOf number: Int64) throws(AnnalsError) {
    try AnnalsError.translating {
      var state = self
      guard let collision = try state.collisions().first else { return }
      throw AnnalsError(
        .damaged,
        "the state as of transaction \(number) is wrong: \(text(of: collision, "have")), which is "
          + "unique. Nothing was written. Change one of them, or verify the store to see "
          + "what else is wrong")
    }
  }

  /// For example `Note#3 and #1 have the same id`; `verb` replaces "have".
  package func text(of collision: UniqueViolation, _ verb: String) -> String {
    let entity = schema.entity(numbered: collision.entity)
    let rules =
      (entity?.attributes.map { ($0.number, $0.name) } ?? [])
      + (entity?.indexes.map { ($0.number, $0.name) } ?? [])
    let rule = rules.first { $0.0 == collision.rule }?.1 ?? "\(collision.rule)"
    return "\(entity?.name ?? "entity \(collision.entity) ")#\(collision.row) and "
      + "#\(collision.otherRow ?? 0) \(verb) the same \(rule)"
  }
}
