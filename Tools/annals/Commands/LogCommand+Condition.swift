import Annals
import AnnalsInspector

extension LogCommand {
  /// The condition of the options. Bounds that are not dates narrow the range of numbers.
  func condition(
    _ console: Console, _ store: Store, _ lower: inout Int64, _ upper: inout Int64
  ) throws -> HistoryCondition {
    var condition = HistoryCondition.always
    try checkOrder(console, store)
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
      throw CommandFailure(unknownEntity: name, store)
    }
    let glossary = store.version.glossary()
    note("author", author, glossary, console)
    note("context", context, glossary, console)
    for name in property {
      guard glossary.knowsProperty(name) else { throw unknown(property: name, store) }
      guard entity.isEmpty || glossary.knowsProperty(name, ofAny: entity) else {
        throw unknown(property: name, of: entity, store)
      }
    }
    try add(entity.map { .touches($0) }, to: &condition)
    try add(property.map { .touches(property: $0) }, to: &condition)
    try add(type.map { .kind($0) }, to: &condition)
    let objects = try object.flatMap { try ObjectArgument($0).findAll(inHistoryOf: store) }
    try add(object.isEmpty ? [] : [.touches(objects.map { $0.id(in: store) })], to: &condition)
    return condition
  }

  /// Refuses `--since` and `--until` that leave no time between them.
  private func checkOrder(_ console: Console, _ store: Store) throws {
    guard let since, let until else { return }
    let (first, last) = (try console.token(since), try console.token(until))
    let isEmpty: Bool
    if let start = first.start, let end = last.end {
      isEmpty = start > end
    } else if first.start == nil, last.end == nil {
      let start = try console.number(before: since, in: store)
      isEmpty = try start >= console.number(until, in: store) && start > store.base.number
    } else {
      isEmpty = false
    }
    if isEmpty {
      throw CommandFailure("--since \(since) is later than --until \(until): exchange the two")
    }
  }

  /// Adds a condition that one of several choices holds.
  private func add(_ choices: [HistoryCondition], to condition: inout HistoryCondition) throws {
    guard let first = choices.first else { return }
    condition = condition && choices.dropFirst().reduce(first) { $0 || $1 }
  }

  /// Says which of these names the store has never met: no error, since they may come.
  private func note(
    _ what: String, _ names: [String], _ glossary: Glossary, _ console: Console
  ) {
    let known = glossary.nameTable
    for name in names where !known.contains(where: { $0.hasSameBytes(as: name) }) {
      let near = NearName.hint(name, among: known)
      console.report("note: no transaction has the \(what) \(ValueText.plain(name))\(near)")
    }
  }

  private func unknown(property name: String, _ store: Store) -> CommandFailure {
    var text = "no entity has a property \(name), or had one; annals schema FILE lists them"
    for dot in name.utf8.indices where name.utf8[dot] == UInt8(ascii: ".") {
      let (entity, rest) = (String(name[..<dot]), String(name[name.utf8.index(after: dot)...]))
      if store.schema.entity(named: entity)?.propertyNumber(named: rest) != nil {
        text += ". Write --entity \(entity) --property \(rest)"
      }
    }
    let names = store.schema.entities.flatMap(\.propertyNames)
    return CommandFailure(text + NearName.hint(name, among: names))
  }

  private func unknown(
    property name: String, of entities: [String], _ store: Store
  ) -> CommandFailure {
    let names = entities.flatMap { store.schema.entity(named: $0)?.propertyNames ?? [] }
    let near = NearName.hint(name, among: names)
    let list = entities.joined(separator: " or ")
    return CommandFailure(
      "\(list) has no property \(name), nor had one"
        + (near.isEmpty ? "; annals schema FILE lists them" : near))
  }
}

extension CommandFailure {
  /// No entity has or had this name.
  init(unknownEntity name: String, _ store: Store) {
    let names = store.schema.liveEntities.map(\.name)
    let near = NearName.hint(name, among: names)
    let known = names.isEmpty ? "it is empty" : "it has " + names.joined(separator: ", ")
    self.init("the store has no entity \(name)\(near.isEmpty ? "; \(known)" : near)")
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

  /// Whether a property of one of these entities has or had this name.
  func knowsProperty(_ name: String, ofAny entities: [String]) -> Bool {
    let numbers = Set(entities.flatMap { schemas.entities(everNamed: $0) })
    return !schemas.properties(everNamed: name) { numbers.contains($0) }.isEmpty
  }
}
