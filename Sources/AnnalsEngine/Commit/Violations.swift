import AnnalsModel
import AnnalsState

extension [ValidationViolation] {
  /// Without those that repeat others or follow from them: for example that a required value is
  /// missing because it was refused.
  func besides(_ others: [ValidationViolation]) -> [ValidationViolation] {
    guard !others.isEmpty else { return self }
    return filter { violation in
      !others.contains {
        $0.object == violation.object && $0.property.hasSameBytes(as: violation.property)
          && (violation.rule == .required || $0.rule == violation.rule)
      }
    }
  }
}

extension ValidationViolation {
  /// Describes a violation of uniqueness.
  init(_ found: UniqueViolation, in state: State) {
    let entity = state.schema.entity(numbered: found.entity) ?? Entity("#\(found.entity)")
    let rule = entity.uniqueRules.first { $0.number == found.rule }
    let properties = rule?.properties ?? []
    let names = properties.map { entity.propertyName($0) ?? "#\($0)" }.joined(separator: ", ")
    let value = properties.first.flatMap {
      try? state.value(found.entity, found.row, $0)
    }
    self.init(
      entity: entity.name, object: ObjectReference(entity: found.entity, row: found.row),
      property: names,
      rule: found.otherRow.map { .unique(ObjectReference(entity: found.entity, row: $0)) }
        ?? .uniqueLength(SchemaLimits.uniqueValueLength),
      value: value ?? .null)
  }
}
