import AnnalsModel
import AnnalsState

// What a unique rule gives to one object, and another has too: no transaction may leave that.

extension State {
  /// The objects that have what a unique rule gives to another; brings the indexes up to date.
  package mutating func collisions() throws(StateFault) -> [UniqueViolation] {
    try checkUniqueness().filter { violation in
      violation.otherRow != nil && schema.entity(numbered: violation.entity)?.isRemoved == false
    }
  }

  /// Deletes the objects whose keys others have.
  package mutating func dropCollisions() throws(StateFault) {
    while let collision = try collisions().first {
      try deleteRow(collision.entity, collision.row)
    }
  }

  /// Throws `.damaged` if two objects have one unique key: the state would be the only one left to
  /// say so.
  package func requireDistinctKeys(asOf number: Int64) throws(AnnalsError) {
    try AnnalsError.narrowing {
      var state = self
      guard let collision = try state.collisions().first else { return }
      throw AnnalsError(
        .damaged,
        "the state as of transaction \(number) is wrong: \(text(of: collision, "have")), which is "
          + "unique. Nothing was written. Change one of them, or verify the store to see "
          + "what else is wrong")
    }
  }

  /// `Note#3 and #1 have the same id`, with another verb if that is wanted.
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
