import AnnalsFormat
import AnnalsModel
import AnnalsState

// What is checked of the values that the untyped form of writing is given, before anything changes.
// The typed form needs none of it: its properties have the right kinds.

extension WriteTransaction {
  /// The values by property number, rising; throws `.invalidChange` with all that cannot be stored.
  ///
  /// Whether a required attribute has a value is judged at the end of the transaction.
  func assignments(
    _ values: [String: Value], to entity: Entity, row: Int64?
  ) throws(AnnalsError) -> [(PropertyNumber, Value)] {
    var result: [(PropertyNumber, Value)] = []
    var violations: [ValidationViolation] = []
    for (name, value) in values {
      let rule: ValidationRule?
      var number: PropertyNumber = 0
      if let attribute = entity.attribute(named: name) {
        number = attribute.number
        rule = value.isNull ? nil : attribute.violation(of: value)
      } else if let relationship = entity.relationship(named: name) {
        number = relationship.number
        rule = relationship.violation(of: value, in: schema)
      } else {
        rule = .knownProperty
      }
      if let rule {
        violations.append(
          ValidationViolation(
            entity: entity.name,
            object: row.map { ObjectReference(entity: entity.number, row: $0) },
            property: name, rule: rule, value: value))
      } else {
        result.append((number, value))
      }
    }
    guard violations.isEmpty else {
      throw .invalidChange(violations.sorted { $0.property.precedesInBytes($1.property) })
    }
    return result.sorted { $0.0 < $1.0 }
  }
}

extension Value {
  /// The bytes, if there are more of them than a record holds itself; nil for other values.
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
