import AnnalsModel
import AnnalsState

/// What the references of a state lead to. Made in O(size of the relationships).
struct ReferenceChecks {
  /// How many name objects that do not exist, where no delete rule forbids that.
  private(set) var danglingCount = 0
  /// What no writer of this version leaves, but one that does not know the rules may: relationships
  /// that every object must have, and that some lack; references that dangle in spite of a rule;
  /// more or fewer references than the limits allow.
  private(set) var findings: [StoreFinding] = []

  /// Some objects with the same defect.
  private struct Defect {
    var count = 0
    var first: Int64 = 0

    mutating func note(_ row: Int64) {
      if count == 0 { first = row }
      count += 1
    }
  }

  /// Whether what was done in between is unknown, and so why a reference dangles.
  private let hasGaps: Bool

  init(_ state: State, hasGaps: Bool) throws(StateFault) {
    self.hasGaps = hasGaps
    for entity in state.schema.entities where !entity.isRemoved {
      for relationship in entity.relationships where !relationship.isRemoved {
        try check(relationship, of: entity, in: state)
      }
    }
  }

  private mutating func check(
    _ relationship: Relationship, of entity: Entity, in state: State
  ) throws(StateFault) {
    let hasRule = relationship.hasDeleteRule
    var (without, dangling, beyond) = (Defect(), Defect(), Defect())
    var rows = state.rows(of: entity.number)
    while let row = try rows.next() {
      let value = try state.value(entity.number, row, relationship.number)
      for target in value.targets where try !state.contains(target.entity, target.row) {
        if hasRule { dangling.note(row) } else { danglingCount += 1 }
      }
      if value.isNull, relationship.isRequired { without.note(row) }
      if relationship.hasCountLimit, !value.isErased,
        relationship.countViolation(value.targets.count) != nil
      {
        beyond.note(row)
      }
    }
    if without.count > 0 {
      tell(
        without, of: entity, in: state, ("has", "have"),
        "no \(relationship.name), which every one must have. Set it, or declare it optional")
    }
    if dangling.count > 0 {
      tell(
        dangling, of: entity, in: state, ("refers", "refer"),
        "by \(relationship.name) to deleted objects, which the delete rule "
          + "\(relationship.deleteRule?.rawValue ?? "") rules out. Set others, or clear it")
    }
    if beyond.count > 0 { tellLimits(beyond, relationship, of: entity, in: state) }
  }

  private mutating func tellLimits(
    _ beyond: Defect, _ relationship: Relationship, of entity: Entity, in state: State
  ) {
    let limits = [
      relationship.minimumCount.map { "at least \($0)" },
      relationship.maximumCount.map { "at most \($0)" },
    ]
    tell(
      beyond, of: entity, in: state, ("refers", "refer"),
      "by \(relationship.name) to more or fewer objects than the rule says, "
        + limits.compactMap { $0 }.joined(separator: " and ") + ". Add or remove some")
  }

  private mutating func tell(
    _ defect: Defect, of entity: Entity, in state: State, _ verb: (one: String, many: String),
    _ what: String
  ) {
    let object = ObjectReference(entity: entity.number, row: defect.first)
    let name = state.schema.nameText(of: object, key: state.keyText(of: object))
    let isOne = defect.count == 1
    findings.append(
      StoreFinding(
        severity: hasGaps ? .note : .warning,
        message: "\(defect.count) \(isOne ? "object" : "objects") of \(entity.name), the first is "
          + "\(name), \(isOne ? verb.one : verb.many) \(what)"))
  }
}
