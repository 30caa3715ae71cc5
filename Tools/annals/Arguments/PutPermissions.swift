import Annals

/// What `put` may do beyond setting values: what is as likely a mistake as meant has to be said.
struct PutPermissions {
  /// An entity that is not there yet, in a store that has others.
  var newEntity = false
  /// An attribute of one type becoming one of any.
  var widening = false

  /// Refuses an entity that is not there.
  func check(_ object: ObjectArgument, _ entity: Entity?, in schema: Schema) throws {
    let names = schema.entities.filter { !$0.isRemoved }.map(\.name)
    guard entity == nil, !names.isEmpty else { return }
    let near = NearName.hint(object.entity, among: names)
    guard case .key = object else {
      throw CommandFailure("there is no entity \(object.entity)\(near)")
    }
    guard newEntity else {
      let end = near.isEmpty ? "." : ""
      throw CommandFailure("there is no entity \(object.entity)\(near)\(end) To add it: --new")
    }
  }

  /// Refuses to make an object of nothing but properties to clear, or without a key.
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

  /// Refuses to make the key of an object empty.
  func checkKey(
    _ key: Attribute, of object: ObjectArgument, _ assignments: [Assignment]
  ) throws {
    for assignment in assignments where assignment.name.hasSameBytes(as: key.name) {
      guard assignment.content.isEmptyText else { continue }
      throw CommandFailure(
        "\(object.entity).\(key.name) is the key, which cannot be made empty")
    }
  }

  /// Refuses a value that would make an attribute one of any type.
  func checkWidening(_ attribute: Attribute, of entity: Entity, for value: Value) throws {
    guard !widening else { return }
    let text = String(value.plainText.prefix(60))
    // To a text, quotes are all that is missing.
    let other = attribute.type == .string ? "\(attribute.name)=\(text) sets the text. " : ""
    throw CommandFailure(
      "\(entity.name).\(attribute.name) is of type \(attribute.type), and `\(text)` is of type "
        + "\(value.tag). \(other)To make it an attribute of any type, which programs that know it "
        + "as \(attribute.type) cannot read: --widen")
  }
}

extension Assignment.Content {
  /// Whether this is the text without characters, however it is written.
  fileprivate var isEmptyText: Bool {
    switch self {
    case .text(let text): text.isEmpty
    case .json(let text): text.trimmingPrefix(while: \.isWhitespace).hasPrefix("\"\"")
    case .nothing: false
    }
  }
}

/// Names that are almost what was typed.
enum NearName {
  /// `; did you mean NAME?`, for the nearest name if one is near; else nothing.
  static func hint(_ typed: String, among names: [String]) -> String {
    nearest(to: typed, among: names).map { "; did you mean \($0)?" } ?? ""
  }

  /// The name that takes the fewest mistakes to become what was typed: letters left out, added,
  /// changed, or exchanged with their neighbours, a third of them at most. Case is no mistake.
  static func nearest(to typed: String, among names: [String]) -> String? {
    let target = Array(typed.lowercased().unicodeScalars)
    // Of two that are as near the first by name, so that the answer is always the same.
    let found =
      names.sorted { $0.precedesInBytes($1) }.lazy.compactMap { name in
        let candidate = Array(name.lowercased().unicodeScalars)
        let most = max(1, min(3, min(target.count, candidate.count) / 3))
        guard abs(candidate.count - target.count) <= most else { return nil }
        let mistakes = distance(candidate, target)
        return mistakes <= most ? (name: name, mistakes: mistakes) : nil
      } as [(name: String, mistakes: Int)]
    return found.min { $0.mistakes < $1.mistakes }?.name
  }

  /// How many letters were left out, added, changed, or exchanged with their neighbours.
  static func distance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      row.reserveCapacity(b.count + 1)
      for j in b.indices {
        var best = min(row[j] + 1, last[j + 1] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          best = min(best, beforeLast[j - 1] + 1)
        }
        row.append(best)
      }
      beforeLast = last
      last = row
    }
    return last[b.count]
  }
}

extension Entity {
  /// The names of its attributes and relationships.
  var propertyNames: [String] {
    attributes.filter { !$0.isRemoved }.map(\.name)
      + relationships.filter { !$0.isRemoved }.map(\.name)
  }
}
