import AnnalsModel
import AnnalsState

/// What is known about the values at a path.
enum PropertyKind: CustomStringConvertible {
  case unknown
  case attribute(AttributeType)
  /// An object, of this entity if that is known.
  case object(Entity?)
  /// Objects of this entity, of a to-many relationship or an inverse.
  case objects(EntityNumber)

  var description: String {
    switch self {
    case .unknown: "any"
    case .attribute(let type): "\(type)"
    case .object: "object"
    case .objects: "objects"
    }
  }

  /// Whether a value may be text.
  var mayBeText: Bool {
    switch self {
    case .unknown: true
    case .object, .objects: false
    case .attribute(let type): [.string, .url, .json, .any].contains(type)
    }
  }
}

extension ConditionParser {
  /// Reads paths with commas between, as conditions have them: `title, place.name`.
  package static func parsePaths(
    _ text: String, over entity: Entity, in schema: Schema
  ) throws(ConditionTextError) -> [PropertyPath] {
    try parseList(text, of: "paths", over: entity, in: schema) {
      (parser) throws(ConditionTextError) in try parser.path().0
    }
  }

  /// Reads elements with commas between. `name` is what messages call them.
  static func parseList<Element>(
    _ text: String, of name: String, over entity: Entity, in schema: Schema,
    _ element: (inout ConditionParser) throws(ConditionTextError) -> Element
  ) throws(ConditionTextError) -> [Element] {
    guard text.utf8.count <= longestText else {
      throw ConditionTextError(column: 1, reason: "\(name) are at most \(longestText) bytes")
    }
    var parser = ConditionParser(text, entity, schema, { _ in 0 })
    try parser.advance()
    var elements: [Element] = []
    repeat { elements.append(try element(&parser)) } while try parser.consume(",")
    guard parser.token.kind == .end else { throw parser.expected("a comma or the end") }
    return elements
  }

  /// Reads a path and finds what is there.
  mutating func path(
    toMany place: ToManyPlace = .none
  ) throws(ConditionTextError) -> (PropertyPath, PropertyKind) {
    if try consume("SELF") { return ([], entity.map { .object($0) } ?? .unknown) }
    let written = try writtenNames()
    guard let entity else { return (PropertyPath(written.map(\.name)), .unknown) }
    return try resolve(written[...], from: entity, toMany: place)
  }

  /// Reads names with dots between.
  mutating func writtenNames() throws(ConditionTextError) -> [WrittenName] {
    var names: [WrittenName] = []
    repeat {
      let column = token.column
      names.append(WrittenName(name: try name(), column: column))
    } while try consume(".") && !isAt("@")
    return names
  }

  /// The path of these names, and what is there.
  func resolve(
    _ written: ArraySlice<WrittenName>, from entity: Entity, toMany place: ToManyPlace
  ) throws(ConditionTextError) -> (PropertyPath, PropertyKind) {
    let names = written.map(\.name)
    do throws(ConditionTextError) {
      return (PropertyPath(names), try kind(of: Array(written), from: entity, place))
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
        throw ConditionTextError(
          column: token.column,
          reason: ConditionParser.unsupported[word.uppercased()].map {
            "\(word) is not supported\($0)"
          } ?? "expected a property; one that is named \(word) stands in backquotes")
      }
      try advance()
      return word
    case .age(let text):
      throw ConditionTextError(
        column: token.column,
        reason: "expected a property; one that is named \(text) stands in backquotes")
    default: throw expected("a property")
    }
  }

  /// The words of NSPredicate's format that are not read, with what to write instead.
  private static let unsupported = [
    "MATCHES": "", "SOME": "; write ANY",
  ]

  private func kind(
    of written: [WrittenName], from entity: Entity, _ toMany: ToManyPlace
  ) throws(ConditionTextError) -> PropertyKind {
    var entity = entity
    for (place, (name, column)) in written.lazy.map({ ($0.name, $0.column) }).enumerated() {
      func fail(_ reason: String) -> ConditionTextError {
        ConditionTextError(column: column, reason: reason)
      }
      let isLast = place == written.count - 1
      if let attribute = entity.attribute(named: name) {
        if isLast { return .attribute(attribute.type) }
        throw fail("\(name) of \(entity.name) is an attribute: no name can follow it")
      }
      guard let relationship = entity.relationship(named: name) else {
        if let (source, _) = schema.inverse(named: name, of: entity.number) {
          if isLast, toMany != .none { return .objects(source.number) }
          let whole = PropertyPath(written.map(\.name))
          throw fail("\(name) of \(entity.name) is an inverse: \(toMany.instead(of: whole))")
        }
        if isLast, name.hasSameBytes(as: "id") { return .object(entity) }
        throw fail(entity.unknownName(name))
      }
      if relationship.isToMany, isLast, toMany != .none {
        return .objects(relationship.destination)
      }
      guard !relationship.isToMany, let next = schema.entity(numbered: relationship.destination)
      else {
        let whole = PropertyPath(written.map(\.name))
        throw fail("\(name) of \(entity.name) is to-many: \(toMany.instead(of: whole))")
      }
      entity = next
    }
    return .object(entity)
  }
}

/// A name on a path, as it was written.
struct WrittenName {
  let name: String
  /// The position of its first character, from 1.
  let column: Int
}

/// Where a path may have a to-many relationship.
enum ToManyPlace: Hashable {
  case none
  /// At its end, in a condition.
  case end
  /// Before a function, in a sort key or behind a function.
  case operand
  /// At its end, in a condition behind `ANY` and this path.
  case endBehind(PropertyPath)

  /// What to write instead of a path through a to-many relationship.
  fileprivate func instead(of path: PropertyPath) -> String {
    switch self {
    case .none, .operand: "a path goes through to-one only"
    case .end: "write ANY \(path)"
    case .endBehind(let outer): "write ANY \(outer) (ANY \(path) …)"
    }
  }
}

extension Entity {
  /// An attribute that has a greatest value; nil if there is none.
  var tellingNumber: String? {
    attributes.first {
      !$0.isRemoved && Aggregate.Function.maximum.resultType(of: $0.type) != nil
    }?.name
  }

  /// An attribute that people tell objects by: that of the display name, else the first unique one,
  /// else the first text. Nil if there is none.
  var tellingAttribute: String? {
    let attributes = attributes.filter { !$0.isRemoved }
    return displayName ?? attributes.first { $0.isUnique }?.name
      ?? attributes.first { $0.type == .string }?.name
  }
}
