import AnnalsModel
import AnnalsState

// Conditions on the objects of to-many relationships and inverses: `tags CONTAINS Tag#5`,
// `ANY tags.name == "food"`, `ANY tags (name == "food" AND rank > 3)`, `tags.@count > 3`,
// `tags.@max.rank > 3`.

extension ConditionParser {
  /// Reads what follows `ANY`. Without an entity the first name is the relationship's, unless
  /// parentheses follow the path.
  mutating func anyTest() throws(ConditionTextError) -> Condition {
    let written = try writtenNames()
    guard let entity else {
      let isWhole = isAt("(")
      let path = PropertyPath(isWhole ? written.map(\.name) : [written[0].name])
      if isWhole { return .any(path, try parenthesized(over: nil)) }
      let inner = PropertyPath(written.dropFirst().map(\.name))
      return .any(path, try test(of: inner, .unknown))
    }
    let (end, target) = try firstToMany(of: written, from: entity)
    let path = PropertyPath(written[...end].map(\.name))
    let rest = written[(end + 1)...]
    if rest.isEmpty {
      if isAt("(") { return .any(path, try parenthesized(over: target)) }
      return .any(path, try test(of: [], .object(target)))
    }
    let (inner, kind) = try resolve(rest, from: target, toMany: .endBehind(path))
    return .any(path, try test(of: inner, kind))
  }

  /// Reads a condition in parentheses, over objects of another entity.
  private mutating func parenthesized(
    over target: Entity?
  ) throws(ConditionTextError) -> Condition {
    let outer = entity
    entity = target
    defer { entity = outer }
    try require("(")
    let condition = try condition()
    try require(")")
    return condition
  }

  /// The place of the first to-many relationship, and the entity that it leads to.
  private func firstToMany(
    of written: [WrittenName], from entity: Entity
  ) throws(ConditionTextError) -> (Int, Entity) {
    var entity = entity
    for (place, name) in written.enumerated() {
      func fail(_ reason: String) -> ConditionTextError {
        ConditionTextError(column: name.column, reason: reason)
      }
      guard let relationship = entity.relationship(named: name.name) else {
        if entity.attribute(named: name.name) == nil,
          let (source, _) = schema.inverse(named: name.name, of: entity.number)
        {
          return (place, source)
        }
        if entity.attribute(named: name.name) == nil { throw fail(entity.unknownName(name.name)) }
        throw fail(
          "\(name.name) of \(entity.name) is an attribute: ANY asks a to-many relationship")
      }
      guard let next = schema.entity(numbered: relationship.destination) else {
        throw fail("there is no entity that \(name.name) of \(entity.name) leads to")
      }
      if relationship.isToMany { return (place, next) }
      guard place < written.count - 1 else {
        throw fail("\(name.name) of \(entity.name) is to-one: ANY asks a to-many relationship")
      }
      entity = next
    }
    throw expected("a property")
  }

  /// Reads what stands behind the path to several objects and `@`: `count`, or another function, a
  /// dot and the path to a value of each.
  mutating func function(
    _ path: PropertyPath, _ kind: PropertyKind
  ) throws(ConditionTextError) -> (PropertyPath, PropertyKind) {
    let column = token.column
    guard let function = try functionName() else {
      throw expected("count, max, min, sum or avg")
    }
    var target: Entity?
    switch kind {
    case .objects(let number): target = schema.entity(numbered: number)
    case .unknown: break
    case .attribute, .object:
      throw ConditionTextError(
        column: column,
        reason: "\(path) is one value: \(function.pathName) asks for several objects")
    }
    if function == .count { return (.of(.count, over: path), .attribute(.int64)) }
    guard try consume(".") else {
      throw expected(
        "a property: \(path).\(function.pathName).\(target?.tellingNumber ?? "property")")
    }
    let outer = entity
    entity = target
    defer { entity = outer }
    let start = token.column
    let (values, valueKind) = try operand()
    let whole = PropertyPath.of(function, values, over: path)
    guard target != nil else { return (whole, .unknown) }
    guard case .attribute(let type) = valueKind, let result = function.resultType(of: type) else {
      let wanted = function == .sum || function == .average ? "numbers" : "numbers or dates"
      throw ConditionTextError(
        column: start,
        reason: "\(values) is of type \(valueKind): \(function.pathName) is of \(wanted)")
    }
    return (whole, .attribute(result))
  }

  private mutating func functionName() throws(ConditionTextError) -> Aggregate.Function? {
    for function in Aggregate.Function.allCases {
      if try consume(function.pathName.dropFirst().uppercased()) { return function }
    }
    return nil
  }

  /// Reads the path of a value to compare or to sort by, with or without a function.
  mutating func operand() throws(ConditionTextError) -> (PropertyPath, PropertyKind) {
    let column = token.column
    let (path, kind) = try path(toMany: .operand)
    if try consume("@") { return try function(path, kind) }
    if case .objects = kind {
      throw ConditionTextError(
        column: column,
        reason:
          "\(path) leads to several objects: write \(path).@count, or another function of them")
    }
    return (path, kind)
  }

  /// Reads `CONTAINS` and an object behind the path to several objects of an entity. Where that is
  /// not known, `CONTAINS` was read.
  mutating func membership(
    _ path: PropertyPath, to number: EntityNumber?
  ) throws(ConditionTextError) -> Condition {
    guard let number else {
      let column = token.column
      guard case .object(let object) = try value(.unknown) else {
        throw ConditionTextError(column: column, reason: "expected a text in quotes, or an object")
      }
      return .contains(path, object)
    }
    let target = schema.entity(numbered: number)
    let object = "\(target?.name ?? "Entity")#5"
    let property = target?.tellingAttribute ?? "property"
    guard try consume("CONTAINS") else {
      throw ConditionTextError(
        column: token.column,
        reason: "\(path) is to-many: write \(path) CONTAINS \(object), or ANY \(path).\(property)")
    }
    let column = token.column
    if isAt("[") {
      throw ConditionTextError(column: column, reason: "CONTAINS of an object takes no options")
    }
    guard case .object(let found) = try value(.unknown) else {
      throw ConditionTextError(
        column: column,
        reason: "expected an object, such as \(object); to compare a property of it, write "
          + "ANY \(path).\(property)")
    }
    guard found.entity == number else {
      let name = schema.entity(numbered: found.entity)?.name ?? "entity \(found.entity)"
      throw ConditionTextError(
        column: column,
        reason: "\(path) leads to \(target?.name ?? "another entity"), not to \(name)")
    }
    return .contains(path, found)
  }
}
