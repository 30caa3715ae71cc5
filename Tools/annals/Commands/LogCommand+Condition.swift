import Annals

extension LogCommand {
  /// The condition of the options. Bounds that are not dates narrow the range of numbers.
  func condition(
    _ console: Console, _ store: Store, _ lower: inout Int64, _ upper: inout Int64
  ) throws -> HistoryCondition {
    var condition = HistoryCondition.always
    if let since {
      if let moment = try console.token(since).start {
        condition = condition && .init(.since(moment))
      } else {
        lower = max(lower, try console.number(before: since, in: store))
      }
    }
    if let until {
      if let moment = try console.token(until).end {
        condition = condition && .init(.until(moment))
      } else {
        upper = min(upper, try console.number(until, in: store))
      }
    }
    try add(author.map { HistoryCondition(.author($0)) }, to: &condition)
    try add(context.map { HistoryCondition(.context($0)) }, to: &condition)
    for name in entity where !store.version.glossary().knowsEntity(name) {
      throw unknown(entity: name, store)
    }
    for name in property where !store.version.glossary().knowsProperty(name) {
      throw unknown(property: name, store)
    }
    try add(entity.map { .touches($0) }, to: &condition)
    try add(property.map { .touches(property: $0) }, to: &condition)
    try add(type.map { .kind($0) }, to: &condition)
    let objects = try object.flatMap { try ObjectArgument($0).findAll(inHistoryOf: store) }
    try add(object.isEmpty ? [] : [.touches(objects.map { $0.id(in: store) })], to: &condition)
    return condition
  }

  /// Adds a condition that one of several choices holds.
  private func add(_ choices: [HistoryCondition], to condition: inout HistoryCondition) throws {
    guard let first = choices.first else { return }
    condition = condition && choices.dropFirst().reduce(first) { $0 || $1 }
  }

  private func unknown(property name: String, _ store: Store) -> CommandFailure {
    var text = "no entity has a property \(name), or had one; annals schema FILE lists them"
    for dot in name.utf8.indices where name.utf8[dot] == UInt8(ascii: ".") {
      let (entity, rest) = (String(name[..<dot]), String(name[name.utf8.index(after: dot)...]))
      if store.schema.entity(named: entity)?.propertyNumber(named: rest) != nil {
        text += ". Write --entity \(entity) --property \(rest)"
      }
    }
    let names = store.schema.entities.flatMap { entity in
      entity.attributes.filter { !$0.isRemoved }.map(\.name)
        + entity.relationships.filter { !$0.isRemoved }.map(\.name)
    }
    return CommandFailure(text + NearName.hint(name, among: names))
  }

  private func unknown(entity name: String, _ store: Store) -> CommandFailure {
    let names = store.schema.entities.filter { !$0.isRemoved }.map(\.name)
    let near = NearName.hint(name, among: names)
    let known = names.isEmpty ? "it is empty" : "it has " + names.joined(separator: ", ")
    return CommandFailure("the store has no entity \(name)\(near.isEmpty ? "; \(known)" : near)")
  }
}

extension Glossary {
  /// Whether an entity has or had this name.
  func knowsEntity(_ name: String) -> Bool {
    !schemas.entities(everNamed: name).isEmpty
  }

  /// Whether a property of any entity has or had this name.
  func knowsProperty(_ name: String) -> Bool {
    !schemas.properties(everNamed: name) { _ in true }.isEmpty
  }
}
