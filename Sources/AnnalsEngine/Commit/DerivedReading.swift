import AnnalsModel
import AnnalsState

/// Computes the values of one derived attribute in a state. Holds tables of it.
struct DerivedReading {
  private let node: Derivations.Node
  private let state: State
  private let largeValues: any LargeValueSource
  private let functions: DerivedFunctions
  private let store: RawUUID
  private let several: BoundDerivation?
  /// The program's function; nil if it has none of the stored version.
  private let function: DerivedFunction?
  /// Whether values of functions that the program lacks stay as they are.
  private let keepsGiven: Bool

  init(
    _ node: Derivations.Node, in state: State, _ functions: DerivedFunctions,
    _ largeValues: any LargeValueSource, _ store: RawUUID, keepsGiven: Bool
  ) throws(AnnalsError) {
    (self.node, self.state, self.functions) = (node, state, functions)
    (self.largeValues, self.store, self.keepsGiven) = (largeValues, store, keepsGiven)
    several = try AnnalsError.translating {
      try BoundDerivation(node.derivation, of: node.entity, in: state)
    }
    let known = functions.function(of: node.attribute.name, in: node.entity.name)
    function = known?.version == node.derivation.version ? known : nil
  }

  /// Whether the values can be computed.
  var isPossible: Bool { node.derivation.kind != .function || function != nil }

  /// The value for an object; nil if it does not exist, or keeps what it has.
  ///
  /// Throws `.invalidChange` for a function that the program lacks.
  func value(of row: Int64) throws(AnnalsError) -> Value? {
    if let several {
      do throws(StateFault) { return try several.value(of: row) } catch { throw beyond(error, row) }
    }
    guard try state.holds(ObjectReference(entity: node.entity.number, row: row)) else {
      return nil
    }
    var inputs: [Value] = []
    for property in node.own {
      let value = try input(property, row)
      if value.isErased { return .erased }
      inputs.append(value)
    }
    if node.derivation.kind == .function, function == nil {
      if keepsGiven { return nil }
      throw lacksFunction(row)
    }
    if let function { return try fitting(try function.value(inputs, store), row) }
    guard let text = inputs.first?.text else { return .null }
    return .string(Value.normalized(text, removingDiacritics: functions.removingDiacritics))
  }

  /// A property that a function of the object's own reads, as readers see it.
  private func input(_ property: PropertyNumber, _ row: Int64) throws(AnnalsError) -> Value {
    let object = ObjectReference(entity: node.entity.number, row: row)
    let value = try state.value(of: object, property)
    switch value {
    case .null:
      let attribute = node.entity.attribute(numbered: property)
      return attribute?.isOptional == false ? attribute?.defaultValue ?? .null : .null
    case .large(let large):
      return Value(bytes: try largeValues.bytes(of: large), tag: large.tag)
    default: return value
    }
  }

  /// What a function returns as the attribute stores it: a text as JSON, if that is its type.
  /// Throws `.invalidChange` for a value of another type.
  private func fitting(_ value: Value, _ row: Int64) throws(AnnalsError) -> Value {
    if node.attribute.type == .json, case .string(let text) = value { return .json(text) }
    if value.isNull || node.attribute.type.admits(value.tag) { return value }
    throw .invalidChange([
      ValidationViolation(
        entity: node.entity.name, object: ObjectReference(entity: node.entity.number, row: row),
        property: node.attribute.name, rule: .type(node.attribute.type), value: value)
    ])
  }

  /// The error for a value that is beyond its type, which names the object; others as they are.
  private func beyond(_ fault: StateFault, _ row: Int64) -> AnnalsError {
    guard case .query(.overflow, let reason) = fault else { return AnnalsError(fault) }
    let object = ObjectReference(entity: node.entity.number, row: row)
    let name = state.schema.nameText(of: object, key: state.keyText(of: object))
    return AnnalsError(
      .tooLarge,
      "\(name).\(node.attribute.name) cannot be computed: \(reason). Nothing was recorded")
  }

  /// The error for an object whose value another program must compute.
  private func lacksFunction(_ row: Int64) -> AnnalsError {
    let object = ObjectReference(entity: node.entity.number, row: row)
    let name = state.schema.nameText(of: object, key: state.keyText(of: object))
    let known = functions.function(of: node.attribute.name, in: node.entity.name)
    let own = known.map { "; this one has version \($0.version)" } ?? ""
    return AnnalsError(
      .invalidChange,
      "\(name).\(node.attribute.name) is computed by the program's function, version "
        + "\(node.derivation.version), from what was to change; nothing was recorded. Write with a "
        + "program that has it\(own)")
  }
}

extension Value {
  /// The text of a string; nil for other kinds.
  fileprivate var text: String? {
    if case .string(let text) = self { text } else { nil }
  }
}
