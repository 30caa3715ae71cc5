import Annals
import AnnalsExchange
import AnnalsInspector

/// What `put` and `import` may do to a schema beyond setting values. What may well be a typing
/// mistake needs an option.
struct PutPermissions {
  /// Whether they may add an entity to a store that has others, or an attribute: `put` one with
  /// almost the name of another, `import` any.
  var newNames = false
  /// Whether they may widen an attribute to `any`.
  var widening = false

  /// Refuses an entity that the schema does not have.
  func refuseUnknownEntity(_ object: ObjectArgument, _ entity: Entity?, in schema: Schema) throws {
    let names = schema.liveEntities.map(\.name)
    guard entity == nil, !names.isEmpty else { return }
    let near = NearName.hint(object.entity, among: names)
    guard case .key = object else {
      throw CommandFailure("there is no entity \(object.entity)\(near)")
    }
    if let reason = refusal(ofEntity: object.entity, in: schema) { throw CommandFailure(reason) }
  }

  /// Why an entity of this name is not added; nil if it may be.
  private func refusal(ofEntity name: String, in schema: Schema) -> String? {
    if newNames { return nil }
    let near = NearName.hint(name, among: schema.liveEntities.map(\.name))
    return "there is no entity \(name)\(near)\(near.isEmpty ? "." : "") To add it: --new"
  }

  /// What an import may add to the schema of a store that has one.
  var growth: SchemaGrowth {
    SchemaGrowth(
      entity: { refusal(ofEntity: $0, in: $1) },
      attribute: { name, entity in
        if newNames { return nil }
        let near = NearName.hint(name, among: entity.propertyNames)
        return "\(entity.name) has no property \(name)\(near)\(near.isEmpty ? "." : "") "
          + "To add it: --new"
      },
      widening: { refusal(ofWidening: $0, of: $1, for: $2) })
  }

  /// What the values of a `put` may do to the schema, beside names, which are checked before.
  var growthByPut: SchemaGrowth {
    SchemaGrowth(widening: { attribute, entity, value in
      // For a text attribute, NAME=TEXT is what was meant.
      let text = "\(attribute.name)=\(value.plainText.prefix(60)) sets the text. "
      return refusal(
        ofWidening: attribute, of: entity, for: value, attribute.type == .string ? text : "")
    })
  }

  /// Refuses a new attribute whose name is probably a mistyped one. Short names, and names that
  /// differ in digits only, are accepted.
  func refuseMistyped(_ name: String, of entity: Entity) throws {
    guard !newNames, entity.propertyNumber(named: name) == nil, name.count > 3 else { return }
    func letters(_ text: String) -> String { text.filter { !$0.isNumber } }
    let others = entity.propertyNames.filter { $0.count > 3 && letters($0) != letters(name) }
    guard let near = NearName.nearest(to: name, among: others) else { return }
    throw CommandFailure(
      "\(entity.name) has no property \(name); did you mean \(near)? To add it: --new")
  }

  /// Refuses to set or clear what the store computes.
  func refuseDerived(_ name: String, of entity: Entity, in schema: Schema) throws {
    guard let derivation = entity.attribute(named: name)?.derivation else { return }
    throw CommandFailure(
      "\(entity.name).\(name) is derived, \(schema.naming(derivation, of: entity)), and cannot be "
        + "set; change what it is computed from")
  }

  /// Refuses to insert an object without a key, or with nothing but properties to clear.
  func refuseEmptyInsertion(of object: ObjectArgument, _ assignments: [Assignment]) throws {
    if case .key(_, "") = object {
      throw CommandFailure(
        "the key of \(object.text) is empty; write \(object.entity)/KEY to make an object")
    }
    guard assignments.isEmpty || assignments.contains(where: { $0.content != .nothing }) else {
      throw CommandFailure(
        "there is no object \(object.text) to clear anything of; to make it, set something or "
          + "leave --unset out")
    }
  }

  /// Refuses to set the key of an object to an empty text.
  func refuseEmptyKey(
    _ key: Attribute, of object: ObjectArgument, _ assignments: [Assignment]
  ) throws {
    for assignment in assignments where assignment.name.hasSameBytes(as: key.name) {
      guard assignment.content.isEmptyText else { continue }
      throw CommandFailure(
        "\(object.entity).\(key.name) is the key, which cannot be made empty")
    }
  }

  /// Refuses to insert an object under one key and to set its key to another. `key` is nil for the
  /// first object of an entity.
  func refuseTwoKeys(
    _ key: Attribute?, of object: ObjectArgument, _ assignments: [Assignment]
  ) throws {
    guard case .key(_, let text) = object else { return }
    let (name, type) = (key?.name ?? "id", key?.type ?? .string)
    for assignment in assignments where assignment.name.hasSameBytes(as: name) {
      guard case .text(let other) = assignment.content,
        type.value(fromText: other) != type.value(fromText: text)
      else { continue }
      throw CommandFailure(
        "the key of \(object.text) is `\(text)`; leave out \(name)=\(other)")
    }
  }

  /// Why an attribute is not widened; nil if it may be. `other` says what else to do.
  private func refusal(
    ofWidening attribute: Attribute, of entity: Entity, for value: Value, _ other: String = ""
  ) -> String? {
    if widening { return nil }
    return "\(entity.name).\(attribute.name) is of type \(attribute.type), and "
      + "`\(value.plainText.prefix(60))` is of type \(value.tag). \(other)To make it an attribute "
      + "of any type, which programs that know it as \(attribute.type) cannot read: --widen"
  }
}

extension Assignment.Content {
  /// Whether this is the empty text, in either form.
  fileprivate var isEmptyText: Bool {
    switch self {
    case .text(let text): text.isEmpty
    case .json(let text): text.trimmingPrefix(while: \.isWhitespace).hasPrefix("\"\"")
    case .nothing: false
    }
  }
}

extension Entity {
  /// The names of its attributes and relationships.
  var propertyNames: [String] {
    attributes.filter { !$0.isRemoved }.map(\.name)
      + relationships.filter { !$0.isRemoved }.map(\.name)
  }
}
