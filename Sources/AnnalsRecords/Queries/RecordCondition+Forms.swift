import AnnalsModel

// Conditions without an operator.

extension RecordCondition {
  /// The property equals one of the values; nil counts if it is among them.
  public static func isIn<V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, _ values: [V]
  ) -> RecordCondition {
    let property = R.entity.definition(of: keyPath)
    return RecordCondition(
      .isIn(PropertyPath(property.name), values.map { property.single($0) }),
      stores: values.reduce(into: []) { $0.formUnion($1._objects.map(\.store)) })
  }

  /// The relationship leads to one of the objects.
  public static func isIn<V: ToOneReference>(
    _ keyPath: KeyPath<R, V>, _ objects: [Object<V.Destination>]
  ) -> RecordCondition {
    let property = R.entity.definition(of: keyPath)
    return RecordCondition(
      .isIn(PropertyPath(property.name), objects.map { property.single(Reference($0)) }),
      stores: Set(objects.map(\.objectID.store)))
  }

  /// The property lies in the range, which includes both ends; false for nil.
  public static func between<V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, _ range: ClosedRange<V.Required>
  ) -> RecordCondition where V.Required: OrderedValue {
    between(keyPath, range.lowerBound, range.upperBound)
  }

  /// The property is at least `low` and at most `high`; false for nil.
  public static func between<V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, _ low: V.Required, _ high: V.Required
  ) -> RecordCondition where V.Required: OrderedValue {
    let property = R.entity.definition(of: keyPath)
    return RecordCondition(
      .isBetween(PropertyPath(property.name), property.single(low), property.single(high)))
  }

  /// The text equals this one, with options; `==` has none.
  public static func equals<V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, _ text: String, _ options: Condition.TextOptions
  ) -> RecordCondition where V.Required == String { .text(keyPath, .equals, text, options) }

  /// The text begins with this one; false for nil.
  public static func begins<V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, with text: String, _ options: Condition.TextOptions = []
  ) -> RecordCondition where V.Required == String { .text(keyPath, .begins, text, options) }

  /// The text ends with this one; false for nil.
  public static func ends<V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, with text: String, _ options: Condition.TextOptions = []
  ) -> RecordCondition where V.Required == String { .text(keyPath, .ends, text, options) }

  /// The text contains this one; false for nil.
  public static func contains<V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, _ text: String, _ options: Condition.TextOptions = []
  ) -> RecordCondition where V.Required == String { .text(keyPath, .contains, text, options) }

  /// The whole text matches a pattern: `*` matches any text, `?` one Unicode scalar, and `\` makes
  /// the next character match itself. False for nil.
  public static func like<V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, _ pattern: String, _ options: Condition.TextOptions = []
  ) -> RecordCondition where V.Required == String { .text(keyPath, .like, pattern, options) }

  /// The object that the relationship leads to meets the condition: `.through(\.place, \.name ==
  /// "Kyoto")`. If there is none, each of its properties counts as nil.
  public static func through<V: ToOneReference>(
    _ keyPath: KeyPath<R, V>, _ condition: RecordCondition<V.Destination>
  ) -> RecordCondition {
    let name = R.entity.propertyName(of: keyPath)
    return RecordCondition(
      condition.condition.mapPaths { PropertyPath([name] + $0.names) }, stores: condition.stores)
  }

  static func compare<V: AttributeValue>(
    _ keyPath: PartialKeyPath<R>, _ comparison: Condition.Comparison, _ value: V
  ) -> RecordCondition {
    let property = R.entity.definition(of: keyPath)
    return RecordCondition(
      .compare(PropertyPath(property.name), comparison, property.single(value)),
      stores: Set(value._objects.map(\.store)))
  }

  private static func text(
    _ keyPath: PartialKeyPath<R>, _ match: Condition.TextMatch, _ text: String,
    _ options: Condition.TextOptions
  ) -> RecordCondition {
    RecordCondition(
      .text(PropertyPath(R.entity.propertyName(of: keyPath)), match, text, options))
  }
}

extension PropertyDefinition {
  /// A value as the property stores it: one object instead of a list, and JSON as JSON.
  package func single<V: AttributeValue>(_ value: V) -> Value {
    let whole = Value.whole(value)
    if let relationship, !relationship.isToMany, case .objects(let list) = whole {
      return list.first.map { .object($0) } ?? .null
    }
    if attribute.type == .json, case .string(let text) = whole { return .json(text) }
    return whole
  }
}
