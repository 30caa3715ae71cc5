import AnnalsEngine
import AnnalsModel

// What a record type says of a property that the store computes.

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
