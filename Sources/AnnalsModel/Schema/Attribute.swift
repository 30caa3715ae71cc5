/// The type of an attribute.
///
/// Stored in files: never renumber. The numbers are those of `ValueTag` where a type has one kind
/// of its own. FORMAT.md, "Kinds and values", lists them.
public enum AttributeType: UInt8, Hashable, Sendable, CaseIterable {
  case bool = 1
  /// A whole number from -32,768 to 32,767.
  case int16 = 14
  /// A whole number from -2,147,483,648 to 2,147,483,647.
  case int32 = 15
  case int64 = 2
  case double = 3
  case string = 4
  case date = 5
  case uuid = 6
  case url = 7
  case data = 8
  /// Validated JSON text, compared by bytes.
  case json = 9
  /// A value of any of the other types.
  case any = 13
  /// An exact decimal number of at most 38 digits, ordered by value: for money, and for what is
  /// measured in decimals. Sums are exact. `Decimal` of Foundation in records.
  case decimal = 16
  /// A day of the calendar, without time or zone, of the years -9999 to 9999. `CalendarDay` in
  /// records.
  case day = 17

  /// The tag that values of this type carry; nil for `any`.
  package var tag: ValueTag? {
    switch self {
    case .int16, .int32: .int
    case .any: nil
    default: ValueTag(rawValue: rawValue)
    }
  }

  /// Whether every value of this type is a value of `other`, so that opening a store may widen to
  /// it.
  package func widens(to other: AttributeType) -> Bool {
    switch (self, other) {
    case (_, .any), (.int16, .int32), (.int16, .int64), (.int32, .int64): true
    default: self == other
    }
  }
}

/// A property that holds a value.
public struct Attribute: Hashable, Sendable {
  /// The stable number within the entity, from 1; 0 until a store assigns it.
  public var number: PropertyNumber = 0
  /// The name; it may change, the number may not.
  public var name: String
  /// The type of its values.
  public var type: AttributeType
  /// Whether the value may be nil.
  public var isOptional: Bool
  /// The default: the value of a new object if none is given, and of older objects when the
  /// attribute is added as a required one.
  public var defaultValue: Value?
  /// Whether no two objects of the entity may have the same value. Nil never collides.
  public var isUnique: Bool
  /// Whether the value is kept in the tombstone of a deleted object.
  public var isPreservedAfterDeletion: Bool
  /// The rules that a value must pass.
  public var validation: Validation
  /// How the value is computed; nil if programs set it, and in a declaration that leaves it as it
  /// is in the store.
  public var derivation: Derivation? {
    get { if case .some(let derivation) = boxedDerivation { derivation } else { nil } }
    set { boxedDerivation = newValue.map(BoxedDerivation.some) ?? .none }
  }
  private var boxedDerivation = BoxedDerivation.none
  /// Whether the attribute was removed, with its values; the definition stays, as history names it.
  public var isRemoved = false
  /// The items of the definition's extension area; see `Entity.extensions`.
  package var extensions: ContiguousArray<UInt8> = []

  /// Creates an attribute; optional unless specified otherwise.
  ///
  /// `derived` is how the store computes its value: then nobody else can set it. Without it, an
  /// attribute that the store derives stays derived; `.removed` ends that.
  public init(
    _ name: String, _ type: AttributeType, isOptional: Bool = true,
    default defaultValue: Value? = nil,
    isUnique: Bool = false, isPreservedAfterDeletion: Bool = false,
    validation: Validation = Validation(), derived derivation: Derivation? = nil
  ) {
    self.name = name
    self.type = type
    self.isOptional = isOptional
    self.defaultValue = defaultValue
    self.isUnique = isUnique
    self.isPreservedAfterDeletion = isPreservedAfterDeletion
    self.validation = validation
    self.derivation = derivation
  }

  /// A derivation in one word: attributes are copied often, and few are derived.
  private indirect enum BoxedDerivation: Hashable, Sendable {
    case none
    case some(Derivation)
  }
}

extension Attribute {
  /// Whether programs may set it to this value: the attribute is not derived, and the value null or
  /// of its type.
  fileprivate func admits(_ value: Value) -> Bool {
    if case .some = boxedDerivation { return false }
    return value.isNull || type.admits(value.tag)
  }
}

extension Entity {
  /// The number of an attribute, given by its index, if programs may set it to this value. Copies
  /// no definition.
  package func number(ofAttributeAt place: Int, admitting value: Value) -> PropertyNumber? {
    attributes.withUnsafeBufferPointer { $0[place].admits(value) ? $0[place].number : nil }
  }
}

/// The rules that an attribute's value must meet. Nil always meets them if the attribute is
/// optional.
public struct Validation: Hashable, Sendable {
  /// The least value allowed: for numbers, dates and days.
  public var minimum: Value?
  /// The greatest value allowed: for numbers, dates and days.
  public var maximum: Value?
  /// The least length allowed: UTF-8 bytes of data, characters (Unicode scalars) of text.
  public var minimumLength: Int64?
  /// The greatest length allowed, counted as `minimumLength`.
  public var maximumLength: Int64?
  /// The only values allowed; empty allows all.
  public var oneOf: [Value]
  /// The flags and contents of rules that only later versions know; kept unchanged.
  package var laterFlags: UInt8 = 0
  package var laterRules: ContiguousArray<UInt8> = []

  /// Creates a validation; without any rule by default.
  public init(
    minimum: Value? = nil, maximum: Value? = nil, minimumLength: Int64? = nil,
    maximumLength: Int64? = nil, oneOf: [Value] = []
  ) {
    self.minimum = minimum
    self.maximum = maximum
    self.minimumLength = minimumLength
    self.maximumLength = maximumLength
    self.oneOf = oneOf
  }

  /// Whether it has no rules.
  public var isEmpty: Bool {
    minimum == nil && maximum == nil && minimumLength == nil && maximumLength == nil
      && oneOf.isEmpty && laterFlags == 0
  }
}
