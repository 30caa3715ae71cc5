import Annals

/// What `put` may do beyond setting values. What may well be a typing mistake needs an option.
struct PutPermissions {
  /// Whether it may add an entity to a store that has others, or an attribute with almost the name
  /// of another.
  var newNames = false
  /// Whether it may widen an attribute to `any`.
  var widening = false

  /// Refuses an unknown entity.
  func check(_ object: ObjectArgument, _ entity: Entity?, in schema: Schema) throws {
    let names = schema.entities.filter { !$0.isRemoved }.map(\.name)
    guard entity == nil, !names.isEmpty else { return }
    let near = NearName.hint(object.entity, among: names)
    guard case .key = object else {
      throw CommandFailure("there is no entity \(object.entity)\(near)")
    }
    guard newNames else {
      let end = near.isEmpty ? "." : ""
      throw CommandFailure("there is no entity \(object.entity)\(near)\(end) To add it: --new")
    }
  }

  /// Refuses a new attribute whose name is probably a mistyped one. Short names, and names that
  /// differ in digits only, are accepted.
  func checkAttribute(_ name: String, of entity: Entity) throws {
    guard !newNames, entity.propertyNumber(named: name) == nil, name.count > 3 else { return }
    func letters(_ text: String) -> String { text.filter { !$0.isNumber } }
    let others = entity.propertyNames.filter { $0.count > 3 && letters($0) != letters(name) }
    guard let near = NearName.nearest(to: name, among: others) else { return }
    throw CommandFailure(
      "\(entity.name) has no property \(name); did you mean \(near)? To add it: --new")
  }

  /// Refuses to insert an object without a key, or with nothing but properties to clear.
  func checkInsertion(of object: ObjectArgument, _ assignments: [Assignment]) throws {
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
  func checkKey(
    _ key: Attribute, of object: ObjectArgument, _ assignments: [Assignment]
  ) throws {
    for assignment in assignments where assignment.name.hasSameBytes(as: key.name) {
      guard assignment.content.isEmptyText else { continue }
      throw CommandFailure(
        "\(object.entity).\(key.name) is the key, which cannot be made empty")
    }
  }

  /// Refuses a value that would widen an attribute to `any`.
  func checkWidening(_ attribute: Attribute, of entity: Entity, for value: Value) throws {
    guard !widening else { return }
    let text = String(value.plainText.prefix(60))
    // For a text attribute, NAME=TEXT is what was meant.
    let other = attribute.type == .string ? "\(attribute.name)=\(text) sets the text. " : ""
    throw CommandFailure(
      "\(entity.name).\(attribute.name) is of type \(attribute.type), and `\(text)` is of type "
        + "\(value.tag). \(other)To make it an attribute of any type, which programs that know it "
        + "as \(attribute.type) cannot read: --widen")
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
