import AnnalsModel

/// The range of one attribute's values that a condition's required parts leave; or that there is
/// none.
struct ColumnRange {
  struct End {
    var value: Value
    var isIncluded: Bool
  }

  var low: End?
  var high: End?
  var isNil = false
  /// The parts of the condition that the range expresses fully.
  var parts: Set<Int> = []

  /// The only value left; nil if there may be several.
  var single: Value? {
    if isNil { return .null }
    guard let low, let high, low.isIncluded, high.isIncluded, low.value == high.value else {
      return nil
    }
    // Values that compare as equal may have two keys.
    if case .double(let number) = low.value, number == 0 { return nil }
    return low.value
  }

  /// The ranges that the parts leave, by attribute of an entity.
  ///
  /// Uses a part only if its value is of the attribute's own kind, or a number that the attribute's
  /// kind has, so that the order of the index is the order of the comparison. In an attribute of
  /// any kind only what is equal to a value has one place; of a number, the parts in `ofOwnKind`
  /// mean values of its own kind alone.
  static func ranges(
    _ parts: [Condition], ofOwnKind: Set<Int> = [], of entity: Entity
  ) -> [PropertyNumber: ColumnRange] {
    var result: [PropertyNumber: ColumnRange] = [:]
    for (number, part) in parts.enumerated() {
      guard let path = part.path, path.names.count == 1, path.replacement == nil else { continue }
      if let relationship = entity.relationship(named: path.names[0]), !relationship.isToMany {
        // A reference to a deleted object is in the index and leads nowhere; so each object must be
        // tested.
        if case .comparison(_, .equal, .object(let object)) = part.form,
          result[relationship.number] == nil
        {
          let end = End(value: .object(object), isIncluded: true)
          result[relationship.number] = ColumnRange(low: end, high: end)
        }
        continue
      }
      guard let attribute = entity.attribute(named: path.names[0]),
        attribute.type != .any || part.hasOnePlace(ofOwnKind: ofOwnKind.contains(number))
      else { continue }
      var range = result[attribute.number] ?? ColumnRange()
      if range.absorb(part, attribute) {
        range.parts.insert(number)
        result[attribute.number] = range
      }
    }
    return result
  }

  /// Narrows the range by a part. Returns false if each object must be tested for the part instead.
  private mutating func absorb(_ part: Condition, _ attribute: Attribute) -> Bool {
    guard !isNil else { return false }
    func from(_ value: Value, _ isIncluded: Bool) -> End? {
      End(value, isIncluded, roundedTo: attribute.type, .up)
    }
    func to(_ value: Value, _ isIncluded: Bool) -> End? {
      End(value, isIncluded, roundedTo: attribute.type, .down)
    }
    switch part.form {
    case .isNil:
      guard attribute.isOptional, low == nil, high == nil else { return false }
      isNil = true
      return true
    case .isBetween(_, let first, let last):
      return narrow(low: from(first, true), high: to(last, true), needsBoth: true)
    case .comparison(_, let comparison, let value):
      switch comparison {
      case .equal: return narrow(low: from(value, true), high: to(value, true), needsBoth: true)
      case .less: return narrow(low: nil, high: to(value, false))
      case .lessOrEqual: return narrow(low: nil, high: to(value, true))
      case .greater: return narrow(low: from(value, false), high: nil)
      case .greaterOrEqual: return narrow(low: from(value, true), high: nil)
      case .notEqual: return false
      }
    case .text(_, let test):
      guard test.match == .begins, test.options.isEmpty, attribute.type == .string else {
        return false
      }
      let end = test.text.leastBehindBeginnings.flatMap { to(.string($0), false) }
      return narrow(low: from(.string(test.text), true), high: end)
    case .constant, .isIn, .contains, .some, .count, .all, .any, .not: return false
    }
  }

  private mutating func narrow(low: End?, high: End?, needsBoth: Bool = false) -> Bool {
    if needsBoth && (low == nil || high == nil) || low == nil && high == nil { return false }
    if low != nil && self.low != nil || high != nil && self.high != nil { return false }
    if let low { self.low = low }
    if let high { self.high = high }
    return true
  }
}

extension ColumnRange.End {
  /// The end of a range over an attribute of this type. Nil if the value is of another kind, or a
  /// number that cannot be brought to it exactly.
  ///
  /// A whole number is the same as a double. Of a number with a fraction, an attribute of whole
  /// numbers has the next one in the range.
  init?(
    _ value: Value, _ isIncluded: Bool, roundedTo type: AttributeType,
    _ rule: FloatingPointRoundingRule
  ) {
    // No number is equal to NaN, less or greater; in an index it stands at an end of all.
    if case .double(let number) = value, number.isNaN { return nil }
    if case .large = value { return nil }
    self.init(value: value, isIncluded: isIncluded)
    if type.tag == value.tag || type == .any { return }
    switch (type, value) {
    case (.decimal, .int(let number)): self.value = .decimal(RawDecimal(number))
    case (.decimal, .double(let number)):
      guard number.isFinite, let near = RawDecimal.notGreater(than: number) else { return nil }
      self.value = .decimal(near.number)
      // Where no decimal is equal, the end lies between this one and the next.
      if !near.isEqual { self.isIncluded = rule == .down }
    case (.double, .decimal(let number)):
      guard let exact = number.exactDouble else { return nil }
      self.value = .double(exact)
    case (.int16, .decimal(let number)), (.int32, .decimal(let number)),
      (.int64, .decimal(let number)):
      guard let whole = number.whole else { return nil }
      self.value = .int(whole)
    case (.double, .int(let number)):
      guard number.magnitude <= 1 << 53 else { return nil }
      self.value = .double(Double(number))
    case (.int16, .double(let number)), (.int32, .double(let number)),
      (.int64, .double(let number)):
      let whole = number.rounded(rule)
      guard whole.magnitude < 0x1p63 else { return nil }
      self.value = .int(Int64(whole))
      self.isIncluded = isIncluded || whole != number
    default: return nil
    }
  }
}

extension Condition {
  /// Whether all values of an attribute of any kind that meet the condition have one place in an
  /// index: those equal to one value, and no value.
  fileprivate func hasOnePlace(ofOwnKind: Bool) -> Bool {
    switch form {
    case .isNil: true
    case .comparison(_, .equal, .int), .comparison(_, .equal, .double),
      .comparison(_, .equal, .decimal):
      ofOwnKind
    case .comparison(_, .equal, .object), .comparison(_, .equal, .objects): false
    case .comparison(_, .equal, _): true
    default: false
    }
  }

  /// The conditions that must all be true.
  var conjuncts: [Condition] {
    if case .all(let parts) = form { return parts }
    return [self]
  }
}

extension String {
  /// The least text behind all that begin with this one, by bytes; nil if there is none.
  fileprivate var leastBehindBeginnings: String? {
    var scalars = Array(unicodeScalars)
    while let last = scalars.popLast() {
      // Behind the last before the surrogates comes the first behind them.
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      if let scalar = Unicode.Scalar(next) {
        scalars.append(scalar)
        return String(String.UnicodeScalarView(scalars))
      }
    }
    return nil
  }
}
