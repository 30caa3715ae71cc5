import AnnalsEngine
import AnnalsFormat
import AnnalsModel
import AnnalsState

/// How the store computes a property of a record: `Property("eventCount",
/// \.eventCount).derived(.count(\.events))`.
public struct RecordDerivation<R: Record, V: AttributeValue>: Sendable {
  /// By names; evaluated late, since two entities may refer to each other.
  let derivation: @Sendable () -> Derivation
  /// What it is of no objects; nil for null.
  var valueOfNone: Value?

  private init(_ valueOfNone: Value? = nil, _ derivation: @escaping @Sendable () -> Derivation) {
    self.derivation = derivation
    self.valueOfNone = valueOfNone
  }

  private static func over<S: Record, P>(
    _ list: any KeyPath<R, [Reference<S>]> & Sendable,
    _ value: any KeyPath<S, P> & Sendable,
    _ valueOfNone: Value? = nil, _ make: @escaping @Sendable (String, String) -> Derivation
  ) -> Self {
    Self(valueOfNone) {
      make(R.entity.propertyName(of: list), S.entity.propertyName(of: value))
    }
  }

  private static func over<S: Record, P>(
    _ inverse: any KeyPath<R.Type, Inverse<S, R>> & Sendable,
    _ value: any KeyPath<S, P> & Sendable,
    _ valueOfNone: Value? = nil, _ make: @escaping @Sendable (String, String) -> Derivation
  ) -> Self {
    Self(valueOfNone) {
      make(R.self[keyPath: inverse].pathName, S.entity.propertyName(of: value))
    }
  }
}

extension RecordDerivation where V.Required: BinaryInteger {
  /// How many objects a to-many relationship has. Deleted ones do not count; one that it has twice
  /// counts twice.
  public static func count<S: Record>(
    _ list: any KeyPath<R, [Reference<S>]> & Sendable
  ) -> RecordDerivation {
    RecordDerivation(.int(0)) { .count(R.entity.propertyName(of: list)) }
  }

  /// How many objects a to-many relationship of ids has.
  public static func count(
    _ list: any KeyPath<R, [ObjectID]> & Sendable
  ) -> RecordDerivation {
    RecordDerivation(.int(0)) { .count(R.entity.propertyName(of: list)) }
  }

  /// How many objects refer to this one.
  public static func count<S: Record>(
    _ inverse: any KeyPath<R.Type, Inverse<S, R>> & Sendable
  ) -> RecordDerivation {
    RecordDerivation(.int(0)) { .count(R.self[keyPath: inverse].pathName) }
  }

  /// The sum of a property of the objects in a to-many relationship; 0 for none.
  ///
  /// A commit throws `.tooLarge` if it is beyond the integers of 64 bits.
  public static func sum<S: Record, P: AttributeValue>(
    _ list: any KeyPath<R, [Reference<S>]> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where P.Required: BinaryInteger {
    over(list, value, .int(0)) { .sum($0, of: $1) }
  }

  /// The sum of a property of the objects that refer to this one; 0 for none.
  public static func sum<S: Record, P: AttributeValue>(
    _ inverse: any KeyPath<R.Type, Inverse<S, R>> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where P.Required: BinaryInteger {
    over(inverse, value, .int(0)) { .sum($0, of: $1) }
  }
}

extension RecordDerivation where V.Required: BinaryFloatingPoint {
  /// The sum of a property of the objects in a to-many relationship; 0 for none.
  public static func sum<S: Record, P: AttributeValue>(
    _ list: any KeyPath<R, [Reference<S>]> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where P.Required: BinaryFloatingPoint {
    over(list, value, .double(0)) { .sum($0, of: $1) }
  }

  /// The sum of a property of the objects that refer to this one; 0 for none.
  public static func sum<S: Record, P: AttributeValue>(
    _ inverse: any KeyPath<R.Type, Inverse<S, R>> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where P.Required: BinaryFloatingPoint {
    over(inverse, value, .double(0)) { .sum($0, of: $1) }
  }
}

extension RecordDerivation where V == Double? {
  /// The mean of a property of the objects in a to-many relationship; nil for none, so the property
  /// is an optional.
  public static func average<S: Record, P: AttributeValue>(
    _ list: any KeyPath<R, [Reference<S>]> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where P.Required: Numeric {
    over(list, value) { .average($0, of: $1) }
  }

  /// The mean of a property of the objects that refer to this one; nil for none.
  public static func average<S: Record, P: AttributeValue>(
    _ inverse: any KeyPath<R.Type, Inverse<S, R>> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where P.Required: Numeric {
    over(inverse, value) { .average($0, of: $1) }
  }
}

extension RecordDerivation {
  /// The least value of a property of the objects in a to-many relationship, of numbers or dates;
  /// nil for none, so the property is an optional.
  public static func min<S: Record, P: AttributeValue>(
    _ list: any KeyPath<R, [Reference<S>]> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where V == P.Required?, P.Required: Comparable {
    over(list, value) { .minimum($0, of: $1) }
  }

  /// The least value of a property of the objects that refer to this one; nil for none.
  public static func min<S: Record, P: AttributeValue>(
    _ inverse: any KeyPath<R.Type, Inverse<S, R>> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where V == P.Required?, P.Required: Comparable {
    over(inverse, value) { .minimum($0, of: $1) }
  }

  /// The greatest value of a property of the objects in a to-many relationship; nil for none.
  public static func max<S: Record, P: AttributeValue>(
    _ list: any KeyPath<R, [Reference<S>]> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where V == P.Required?, P.Required: Comparable {
    over(list, value) { .maximum($0, of: $1) }
  }

  /// The greatest value of a property of the objects that refer to this one; nil for none.
  public static func max<S: Record, P: AttributeValue>(
    _ inverse: any KeyPath<R.Type, Inverse<S, R>> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where V == P.Required?, P.Required: Comparable {
    over(inverse, value) { .maximum($0, of: $1) }
  }
}

extension RecordDerivation where V.Required == String {
  /// A text without case and accents: "Äste" as "aste". An index of it serves searches that ignore
  /// both, by `normalizedForSearch` of what is searched; if it is unique, so are the texts without
  /// them.
  public static func normalized(
    _ text: any KeyPath<R, V> & Sendable
  ) -> RecordDerivation {
    RecordDerivation { .normalized(R.entity.propertyName(of: text)) }
  }
}

extension String {
  /// The text without case and accents, as `.derived(.normalized(\.title))` stores it.
  public var normalizedForSearch: String {
    Value.normalized(self, removingDiacritics: String.removingDiacritics)
  }
}

extension Property where R: Record, V: AttributeValue {
  /// Has the store compute the property: `.derived(.count(\.events))`.
  ///
  /// The value is computed when a transaction ends, and recorded with it like any other: it can be
  /// indexed, sorted and searched by, and past states have it. A record that is inserted must have
  /// some value, which is ignored; an update that changes it is refused with `.invalidChange`.
  /// Opening a store with objects computes it for all of them.
  ///
  /// Without it, a property that the store derives stays derived; `notDerived()` ends that. Traps
  /// for a relationship.
  public func derived(_ derivation: RecordDerivation<R, V>) -> Property {
    deriving(derivation.derivation, nil, derivation.valueOfNone)
  }

  /// Has a function compute the property from other properties of the record:
  ///
  ///     Property("name", \.name).derived(version: 1, from: \.first, \.last) { "\($0) \($1)" }
  ///
  /// The function must depend on its arguments alone. Raise the version when it changes: opening
  /// the store then computes all objects anew. Whoever lacks the function, or has it in a lower
  /// version, cannot change what it reads. Traps for a version below 1, and for a relationship.
  public func derived<each P: AttributeValue>(
    version: Int, from inputs: repeat any KeyPath<R, each P> & Sendable,
    by function: @escaping @Sendable (repeat each P) -> V
  ) -> Property {
    guard version > 0 else { stop("the version of the function of \(definition.name) is below 1") }
    let known = (repeat each inputs)
    let names: @Sendable () -> [String] = {
      var names: [String] = []
      for input in repeat each known { names.append(R.entity.propertyName(of: input)) }
      return names
    }
    let value = DerivedFunction(version: Int64(version)) {
      (values, store) throws(AnnalsError) in
      var inputs = FunctionInputs(values, store)
      let read = (repeat inputs.next((each P).self))
      guard inputs.areWhole else {
        if inputs.lacksOne { return .null }
        throw AnnalsError(
          .unreadableRecord,
          "the function of a derived property of \(R.entity.name) takes other types than the store "
            + "has")
      }
      return Value.whole(function(repeat (each read).unsafelyUnwrapped))
    }
    return deriving({ .function(version: Int64(version), from: names()) }, value, nil)
  }

  /// Declares that the store no longer computes the property. It keeps its values, and can be set.
  public func notDerived() -> Property { deriving({ .removed }, nil, nil) }

  private func deriving(
    _ derivation: @escaping @Sendable () -> Derivation, _ function: DerivedFunction?,
    _ valueOfNone: Value?
  ) -> Property {
    guard definition.relationship == nil else {
      stop("\(definition.name) is derived, and is a relationship")
    }
    var copy = self
    copy.definition.derivation = derivation
    copy.definition.function = function
    let isBare = !definition.attribute.isOptional && definition.attribute.defaultValue == nil
    if isBare { copy.definition.attribute.defaultValue = valueOfNone }
    return copy
  }
}

/// The arguments of a function, one after the other.
private struct FunctionInputs {
  private var values: ArraySlice<Value>
  private let store: RawUUID
  /// Whether all were read so far.
  private(set) var areWhole = true
  /// Whether one that must have a value has none.
  private(set) var lacksOne = false

  init(_ values: [Value], _ store: RawUUID) {
    self.values = values[...]
    self.store = store
  }

  mutating func next<P: AttributeValue>(_ type: P.Type) -> P? {
    let value = values.popFirst() ?? .null
    var result: P?
    if P._isRelationship {
      result = P._read(
        value.targets.map { ObjectID(store: store, entity: $0.entity, row: $0.row) })
    } else {
      result = value.decoded(as: type)
    }
    if result == nil {
      areWhole = false
      if value.isNull { lacksOne = true }
    }
    return result
  }
}
