import AnnalsModel
import AnnalsState

/// What is known about the values at a path.
enum PropertyKind: CustomStringConvertible {
  case unknown
  case attribute(AttributeType)
  /// An object, of this entity if that is known.
  case object(Entity?)

  var description: String {
    switch self {
    case .unknown: "any"
    case .attribute(let type): "\(type)"
    case .object: "object"
    }
  }

  /// Whether a value may be text.
  var mayBeText: Bool {
    switch self {
    case .unknown: true
    case .object: false
    case .attribute(let type): [.string, .url, .json, .any].contains(type)
    }
  }
}

extension ConditionParser {
  /// Reads paths with commas between, as conditions have them: `title, place.name`.
  package static func parsePaths(
    _ text: String, over entity: Entity, in schema: Schema
  ) throws(ConditionTextError) -> [PropertyPath] {
    guard text.utf8.count <= longestText else {
      throw ConditionTextError(column: 1, reason: "paths are at most \(longestText) bytes")
    }
    var parser = ConditionParser(text, entity, schema, { _ in 0 })
    try parser.advance()
    var paths: [PropertyPath] = []
    repeat { paths.append(try parser.path().0) } while try parser.consume(",")
    guard parser.token.kind == .end else { throw parser.expected("a comma or the end") }
    return paths
  }

  /// Reads a path and finds what is there.
  mutating func path() throws(ConditionTextError) -> (PropertyPath, PropertyKind) {
    let column = token.column
    if try consume("SELF") { return ([], entity.map { .object($0) } ?? .unknown) }
    var names = [try name()]
    var columns = [column]
    while try consume(".") {
      columns.append(token.column)
      names.append(try name())
    }
    guard let entity else { return (PropertyPath(names), .unknown) }
    do throws(ConditionTextError) {
      return (PropertyPath(names), try kind(of: names, columns, from: entity))
    } catch {
      // Without backquotes an attribute's name may have dots, where no path says the same.
      let whole = names.joined(separator: ".")
      guard names.count > 1, let attribute = entity.attribute(named: whole) else { throw error }
      return (PropertyPath(whole), .attribute(attribute.type))
    }
  }

  private mutating func name() throws(ConditionTextError) -> String {
    switch token.kind {
    case .name(let name):
      try advance()
      return name
    case .word(let word):
      if ConditionWords.reserved.contains(word.uppercased()) {
        let isLater = ["MATCHES", "ANY", "ALL", "SOME", "NONE"].contains(word.uppercased())
        throw ConditionTextError(
          column: token.column,
          reason: isLater
            ? "\(word) is not supported"
            : "expected a property; one that is named \(word) stands in backquotes")
      }
      try advance()
      return word
    default: throw expected("a property")
    }
  }

  private func kind(
    of names: [String], _ columns: [Int], from entity: Entity
  ) throws(ConditionTextError) -> PropertyKind {
    var entity = entity
    for (place, name) in names.enumerated() {
      func fail(_ reason: String) -> ConditionTextError {
        ConditionTextError(column: columns[place], reason: reason)
      }
      let isLast = place == names.count - 1
      if let attribute = entity.attribute(named: name) {
        if isLast { return .attribute(attribute.type) }
        throw fail("\(name) of \(entity.name) is an attribute: no name can follow it")
      }
      guard let relationship = entity.relationship(named: name) else {
        if isLast, name.hasSameBytes(as: "id") { return .object(entity) }
        throw fail(entity.unknownName(name))
      }
      guard !relationship.isToMany, let next = schema.entity(numbered: relationship.destination)
      else { throw fail("\(name) of \(entity.name) is to-many: a path goes through to-one only") }
      entity = next
    }
    return .object(entity)
  }
}

extension Entity {
  /// An attribute that people tell objects by: that of the display name, else the first unique one,
  /// else the first text. Nil if there is none.
  var tellingAttribute: String? {
    let attributes = attributes.filter { !$0.isRemoved }
    return displayName ?? attributes.first { $0.isUnique }?.name
      ?? attributes.first { $0.type == .string }?.name
  }
}
