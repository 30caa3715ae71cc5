// Checks of values against a property's rules. The rules are those of the schema at the time of
// writing; values stored earlier under looser rules stay as they are.

extension Attribute {
  /// The rule that `value` breaks; nil if it may be stored. O(length of the value).
  ///
  /// `isUnique` says whether a unique index covers the attribute.
  package func violation(of value: Value, isUnique: Bool = false) -> ValidationRule? {
    if value.isNull { return isOptional ? nil : .required }
    return typeViolation(of: value)
      ?? (self.isUnique || isUnique ? uniqueLengthViolation(of: value) : nil)
      ?? (validation.isEmpty ? nil : validation.violation(of: value))
  }

  /// The rule of the attribute's type that `value`, which is not null, breaks.
  private func typeViolation(of value: Value) -> ValidationRule? {
    guard type.admits(value.tag) else { return .type(type) }
    switch value {
    case .int(let number):
      guard let range = type.range, !range.contains(number) else { return nil }
      return .range(range)
    case .double(let number): return number.isFinite ? nil : .finite
    case .json(let text): return JSONText.firstError(in: text).map { .json(offset: $0) }
    case .url(let text): return text.isEmpty ? .url : nil
    default: return nil
    }
  }

  private func uniqueLengthViolation(of value: Value) -> ValidationRule? {
    let limit = SchemaLimits.uniqueValueLength
    return (value.byteCount ?? 0) > limit ? .uniqueLength(limit) : nil
  }
}

extension AttributeType {
  /// Whether a column of the type can hold values of this kind, other than null. All other rules
  /// are checked when the transaction ends.
  package func admits(_ tag: ValueTag) -> Bool {
    if let expected = self.tag { return tag == expected }
    return tag != .object && tag != .objects && tag != .erased
  }

  /// The range of integers of the type; nil for types not narrower than Int64.
  package var range: ClosedRange<Int64>? {
    switch self {
    case .int16: Int64(Int16.min)...Int64(Int16.max)
    case .int32: Int64(Int32.min)...Int64(Int32.max)
    default: nil
    }
  }
}

extension Validation {
  /// The rule that `value` breaks; it is neither null nor of the wrong type.
  package func violation(of value: Value) -> ValidationRule? {
    if let minimum, value.isOrdered(before: minimum) { return .minimum(minimum) }
    if let maximum, maximum.isOrdered(before: value) { return .maximum(maximum) }
    if minimumLength != nil || maximumLength != nil, let length = value.ruleLength {
      if let minimumLength, length < minimumLength { return .minimumLength(minimumLength) }
      if let maximumLength, length > maximumLength { return .maximumLength(maximumLength) }
    }
    // A value that is still in the file was checked when it was written.
    if case .large = value { return nil }
    return oneOf.isEmpty || oneOf.contains(value) ? nil : .oneOf(oneOf)
  }
}

extension Relationship {
  /// Whether the relationship can hold the value: null, one object, or a list if it is to-many.
  package func admits(_ value: Value) -> Bool {
    switch value {
    case .null: true
    case .object: !isToMany
    case .objects: isToMany
    default: false
    }
  }

  /// The objects in stored form: of an ordered relationship as given; of an unordered one by row,
  /// each once, so that their order makes no difference.
  package func canonical(_ objects: [ObjectReference]) -> [ObjectReference] {
    isOrdered ? objects : objects.sortedAndUnique()
  }
}

extension [ObjectReference] {
  /// The references in rising order, each once.
  package func sortedAndUnique() -> [ObjectReference] {
    var result: [ObjectReference] = []
    result.reserveCapacity(count)
    for reference in sorted() where reference != result.last { result.append(reference) }
    return result
  }
}

extension Value {
  /// Whether this number or date precedes one of the same kind; false for other kinds.
  fileprivate func isOrdered(before other: Value) -> Bool {
    switch (self, other) {
    case (.int(let x), .int(let y)): x < y
    case (.double(let x), .double(let y)): x < y
    case (.date(let x), .date(let y)): x < y
    case (.decimal(let x), .decimal(let y)): x < y
    case (.day(let x), .day(let y)): x < y
    default: false
    }
  }

  /// The length that rules count: Unicode scalars of a text, bytes of data. Nil for other kinds,
  /// and for text that has not been read.
  fileprivate var ruleLength: Int64? {
    switch self {
    case .string(let x), .url(let x), .json(let x): Int64(x.unicodeScalars.count)
    case .data(let x): Int64(x.count)
    case .large(let x): x.tag == .data ? Int64(clamping: x.length) : nil
    default: nil
    }
  }

  /// The length in bytes of a string, url, data or json; nil for other kinds.
  package var byteCount: Int? {
    switch self {
    case .string(let x), .url(let x), .json(let x): x.utf8.count
    case .data(let x): x.count
    case .large(let x): Int(clamping: x.length)
    default: nil
    }
  }
}

/// The limits of a schema. FORMAT.md, "Limits", lists the same numbers.
package enum SchemaLimits {
  /// The most bytes of a name.
  package static let nameLength = 255
  /// The most entities, including removed ones.
  package static let entities = 65_535
  /// The most properties and indexes of an entity, including removed ones.
  package static let properties = 65_535
  /// The most allowed values in a validation.
  package static let allowedValues = 65_535
  /// The most bytes of a value under a uniqueness rule: longer ones are stored outside the columns,
  /// where an index cannot compare them.
  package static let uniqueValueLength = 4_096
}
