// What attributes consist of, and how they grow.

extension Attribute: Definition {
  package static let title = "attribute"

  package static let fields: [DefinitionField<Attribute>] = [
    .text("name", \.name),
    .number("number", \.number),
    .word("type", \.type, refusal: "is no type; types are \(AttributeType.names)")
      .needed("has no type")
      .grows { if $0.type.widens(to: $1.type) { $0.type = $1.type } },
    .flag("optional", \.isOptional, unless: true).said("required", early: true)
      .grows { if $1.isOptional { $0.isOptional = true } },
    .value("default", \.defaultValue, of: \.type).said("default")
      .grows { stored, needed in
        if stored.defaultValue == nil, needed.defaultValue?.isNull == false {
          stored.defaultValue = needed.defaultValue
        }
      },
    .flag("unique", \.isUnique).said("unique", early: true).declared(),
    .flag("preservedAfterDeletion", \.isPreservedAfterDeletion).said("kept in tombstones")
      .declared(),
    .value("minimum", \.validation.minimum, of: \.type).said("from")
      // The rules grow together, and after the type.
      .grows { $0.validation = $0.validation.grown(toHold: $1.validation, as: $0.type) },
    .value("maximum", \.validation.maximum, of: \.type).said("up to"),
    .whole("minimumLength", \.validation.minimumLength).said("length from"),
    .whole("maximumLength", \.validation.maximumLength).said("length up to"),
    .values("oneOf", \.validation.oneOf, of: \.type).said("one of"),
    .part("derived", \.derivation),
    .flag("removed", \.isRemoved),
  ]

  package init() { self.init("", .any) }
}

extension AttributeType {
  /// The names of all types, for messages.
  fileprivate static var names: String { allCases.map { "\($0)" }.joined(separator: ", ") }
}

extension Validation {
  /// The looser of both rules; a rule that only one has is kept.
  fileprivate func grown(toHold other: Validation, as type: AttributeType) -> Validation {
    var result = self
    for value in other.oneOf where !result.oneOf.contains(value) { result.oneOf.append(value) }
    // Rules for one kind do not apply to values of any kind.
    if type == .any {
      result.minimum = nil
      result.maximum = nil
      result.minimumLength = nil
      result.maximumLength = nil
      return result
    }
    result.minimum = looser(minimum, other.minimum) { bound, value in
      Validation(minimum: bound).violation(of: value) != nil
    }
    result.maximum = looser(maximum, other.maximum) { bound, value in
      Validation(maximum: bound).violation(of: value) != nil
    }
    result.minimumLength = looser(minimumLength, other.minimumLength) { $0 > $1 }
    result.maximumLength = looser(maximumLength, other.maximumLength) { $0 < $1 }
    return result
  }

  /// The one that is there, or the second if the first would refuse it.
  private func looser<T>(_ first: T?, _ second: T?, refuses: (T, T) -> Bool) -> T? {
    guard let first, let second else { return first ?? second }
    return refuses(first, second) ? second : first
  }
}
