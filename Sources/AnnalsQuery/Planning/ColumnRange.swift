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
  /// Uses a part only if its value is of the attribute's own kind, so that the order of the index
  /// is the order of the comparison.
  static func ranges(_ parts: [Condition], of entity: Entity) -> [PropertyNumber: ColumnRange] {
    var result: [PropertyNumber: ColumnRange] = [:]
    for (number, part) in parts.enumerated() {
      guard let path = part.path, path.names.count == 1 else { continue }
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
      guard let attribute = entity.attribute(named: path.names[0]), attribute.type != .any
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
    func end(_ value: Value, _ isIncluded: Bool) -> End? {
      attribute.type.holds(value) ? End(value: value, isIncluded: isIncluded) : nil
    }
    switch part.form {
    case .isNil:
      guard attribute.isOptional, low == nil, high == nil else { return false }
      isNil = true
      return true
    case .isBetween(_, let first, let last):
      return narrow(low: end(first, true), high: end(last, true), needsBoth: true)
    case .comparison(_, let comparison, let value):
      switch comparison {
      case .equal: return narrow(low: end(value, true), high: end(value, true), needsBoth: true)
      case .less: return narrow(low: nil, high: end(value, false))
      case .lessOrEqual: return narrow(low: nil, high: end(value, true))
      case .greater: return narrow(low: end(value, false), high: nil)
      case .greaterOrEqual: return narrow(low: end(value, true), high: nil)
      case .notEqual: return false
      }
    case .text(_, let test):
      guard test.match == .begins, test.options.isEmpty, attribute.type == .string else {
        return false
      }
      let high = test.text.leastBehindBeginnings.flatMap { end(.string($0), false) }
      return narrow(low: end(.string(test.text), true), high: high)
    case .constant, .isIn, .all, .any, .not: return false
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

extension Condition {
  /// The path of a single test.
  fileprivate var path: PropertyPath? {
    switch form {
    case .isNil(let path), .comparison(let path, _, _), .isIn(let path, _),
      .isBetween(let path, _, _), .text(let path, _):
      path
    case .constant, .all, .any, .not: nil
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

extension AttributeType {
  /// Whether a value is of this kind, so that keys of an index compare as values do.
  fileprivate func holds(_ value: Value) -> Bool {
    switch (self, value) {
    case (.bool, .bool), (.int16, .int), (.int32, .int), (.int64, .int), (.double, .double),
      (.string, .string), (.date, .date), (.uuid, .uuid):
      true
    default: false
    }
  }
}
