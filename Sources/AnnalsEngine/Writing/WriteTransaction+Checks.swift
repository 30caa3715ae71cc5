import AnnalsFormat
import AnnalsModel
import AnnalsState

// Checks of the values given to the untyped form of writing: only values of the right kind can be
// stored. Rules are checked once, when the transaction ends (`ChangeValidation`).

extension WriteTransaction {
  /// The storable values, by rising property number. Values that cannot be stored are noted, and
  /// the transaction fails at its end with all violations.
  func assignments(
    _ values: [String: Value], to entity: Entity, row: Int64
  ) -> [(PropertyNumber, Value)] {
    var result: [(PropertyNumber, Value)] = []
    var found: [ValidationViolation] = []
    for (name, value) in values {
      let rule: ValidationRule?
      var number: PropertyNumber = 0
      if let attribute = entity.attribute(named: name) {
        number = attribute.number
        rule = value.isNull || attribute.type.admits(value.tag) ? nil : .type(attribute.type)
      } else if let relationship = entity.relationship(named: name) {
        number = relationship.number
        rule =
          relationship.admits(value) ? nil : .relationship(isToMany: relationship.isToMany)
      } else {
        rule = .knownProperty
      }
      if let rule {
        let key = entity.keyAttribute.flatMap { values[$0.name]?.keyText }
        found.append(
          ValidationViolation(
            entity: entity.name, key: key, object: ObjectReference(entity: entity.number, row: row),
            property: name, rule: rule, value: value))
      } else {
        result.append((number, value))
      }
    }
    violations += found.sorted { $0.property.precedesInBytes($1.property) }
    return result.sorted { $0.0 < $1.0 }
  }
}

extension Value {
  /// The bytes, if they are too many for a record; nil for other values.
  package var largeBytes: ContiguousArray<UInt8>? {
    switch self {
    case .string(let text), .url(let text), .json(let text):
      text.utf8.count > FormatLimits.largeValueThreshold ? ContiguousArray(text.utf8) : nil
    case .data(let bytes):
      bytes.count > FormatLimits.largeValueThreshold ? ContiguousArray(bytes) : nil
    default: nil
    }
  }
}
