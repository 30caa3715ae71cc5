import Annals
import AnnalsModel

/// What to change in the schema of a store so that it holds what an exported one does.
struct SchemaMatch {
  /// The exported schema.
  let exported: Schema
  /// Definitions to adopt with their numbers, without their removals.
  private var adopted: [EntityChange] = []
  /// Those of which something else has the name of what they remove, so that it goes at once.
  private var replaced: [Entity] = []
  /// Definitions with their removals, for the end of the transaction.
  private(set) var removals: [Entity] = []
  /// Renames by name.
  private var edits: [SchemaEdit] = []
  /// Removals that are not made by name, for people.
  private(set) var kept: [String] = []
  private var byName: [Entity] = []
  private var conflicts: [SchemaConflict] = []
  /// How many entities are new among those adopted.
  private var added = 0

  /// One change of an entity, and its definition before.
  struct Step {
    var change: EntityChange
    var before: Entity?
  }

  /// The match of what a line changes, after which the exporting store has the schema `exported`.
  init(
    _ steps: [Step], _ exported: Schema, in transaction: WriteTransaction, isLineage: Bool
  ) throws(AnnalsError) {
    self.exported = exported
    let schema = transaction.schema
    for step in steps {
      switch isLineage ? try origin(of: step, in: transaction) : .other {
      case .same: break
      case .earlier: adopt(step)
      case .nothing:
        adopt(step)
        added += 1
      case .other: match(step, in: schema)
      }
    }
    guard !isSound(in: schema) else { return }
    (adopted, replaced, removals, edits, kept) = ([], [], [], [], [])
    (byName, conflicts) = ([], [])
    for step in steps { match(step, in: schema) }
  }

  /// Makes the changes in the transaction, apart from `removals`.
  func apply(to transaction: WriteTransaction) throws(AnnalsError) {
    let numbers = adopted.map(\.number) + replaced.map(\.number)
    let live = numbers.compactMap { exported.entity(numbered: $0) }.filter { !$0.isRemoved }
    let all = conflicts + exported.stating(live).conflicts(besides: transaction.schema)
    guard all.isEmpty else { throw .invalidSchema(all) }
    transaction.draft.redefine(adopted)
    transaction.draft.define(replaced)
    if byName.isEmpty { return }
    do throws(SchemaError) {
      // Made now, whether or not the store has made the same before.
      let change = try transaction.schema.adding(
        Schema(), edits: edits, timesDeclared: { _ in .max / 2 })
      transaction.draft.define(change.changed)
    } catch {
      throw .invalidSchema(error)
    }
    try transaction.require(exported.stating(byName).asLoose(as: transaction.schema))
  }

  // MARK: - By number

  /// What the store has under an entity's number.
  private enum Origin {
    /// What the lines have.
    case same
    /// What the lines had before; the change is one that a store makes.
    case earlier
    /// Nothing; the number is the next.
    case nothing
    case other
  }

  private func origin(
    of step: Step, in transaction: WriteTransaction
  ) throws(AnnalsError) -> Origin {
    let schema = transaction.schema
    let number = step.change.number
    guard let exported = exported.entity(numbered: number), exported.numbersRise else {
      return .other
    }
    guard let stored = schema.entity(numbered: number) else {
      let next = schema.entities.count + added + 1
      return !step.change.isPartial && Int(number) == next ? .nothing : .other
    }
    if stored.isSame(as: exported) { return .same }
    guard let before = step.before, stored.isSame(as: before),
      try transaction.canRedefine(stored, as: exported)
    else { return .other }
    return .earlier
  }

  private mutating func adopt(_ step: Step) {
    guard let entity = exported.entity(numbered: step.change.number) else { return }
    guard let before = step.before, before.loses(in: entity) else {
      return adopted.append(step.change)
    }
    // What goes can be named by the changes on the line, unless something else has its name now.
    var now = entity
    if !before.isRemoved, exported.entity(named: entity.name) == nil { now.isRemoved = false }
    for place in now.attributes.indices where now.attributes[place].isRemoved {
      let (name, number) = (now.attributes[place].name, now.attributes[place].number)
      guard entity.propertyNumber(named: name) == nil else { continue }
      let old = before.attribute(numbered: number)
      now.attributes[place].isRemoved = old?.isRemoved ?? true
    }
    for place in now.relationships.indices where now.relationships[place].isRemoved {
      let (name, number) = (now.relationships[place].name, now.relationships[place].number)
      guard entity.propertyNumber(named: name) == nil else { continue }
      let old = before.relationships.first { $0.number == number }
      now.relationships[place].isRemoved = old?.isRemoved ?? true
    }
    if before.loses(in: now) {
      replaced.append(now)
    } else {
      adopted.append(EntityChange(now))
    }
    removals.append(entity)
  }

  /// Whether names and destinations of what is adopted mean in the store what they mean in the
  /// lines.
  private func isSound(in schema: Schema) -> Bool {
    let adopted = self.adopted + replaced.map(EntityChange.init)
    let own = Set(adopted.map(\.number))
    func isSame(_ number: EntityNumber) -> Bool {
      guard let stored = schema.entity(numbered: number),
        let exported = exported.entity(numbered: number)
      else { return false }
      return stored.name.hasSameBytes(as: exported.name) && stored.isRemoved == exported.isRemoved
    }
    return adopted.allSatisfy { change in
      if !change.definition.isRemoved, let holder = schema.entity(named: change.definition.name),
        holder.number != change.number, isSame(holder.number) || !own.contains(holder.number)
      {
        return false
      }
      return change.definition.relationships.allSatisfy { relationship in
        relationship.isRemoved || own.contains(relationship.destination)
          || isSame(relationship.destination)
      }
    }
  }

  // MARK: - By name

  /// Notes the change by name: renames, what is needed, and removals that are not made.
  private mutating func match(_ step: Step, in schema: Schema) {
    let (change, before) = (step.change, step.before)
    guard let entity = exported.entity(numbered: change.number) else { return }
    if let before, !before.isRemoved, entity.isRemoved {
      if schema.entity(named: before.name) != nil { keep(before.name) }
    }
    if entity.isRemoved { return }
    byName.append(entity)
    var stored = schema.entity(named: entity.name)
    if let before, !before.isRemoved, !before.name.hasSameBytes(as: entity.name),
      let former = schema.entity(named: before.name)
    {
      if stored == nil {
        edits.append(.renameEntity(before.name, to: entity.name))
        stored = former
      } else {
        refuseRename(before.name, nil, to: entity.name)
      }
    }
    guard let stored else { return }
    refuseDefaults(of: entity, in: stored)
    guard let before else { return }
    let old = before.namesByNumber
    let new = entity.namesByNumber
    for (number, name) in old.sorted(by: { $0.key < $1.key }) {
      guard let now = new[number] else {
        if stored.propertyNumber(named: name) != nil, entity.propertyNumber(named: name) == nil {
          keep("\(entity.name).\(name)")
        }
        continue
      }
      guard !now.hasSameBytes(as: name), stored.propertyNumber(named: name) != nil else { continue }
      if stored.propertyNumber(named: now) == nil {
        edits.append(.renameProperty(entity: entity.name, name, to: now))
      } else {
        refuseRename(entity.name, name, to: now)
      }
    }
  }

  private mutating func keep(_ name: String) {
    kept.append("\(name) was removed where the lines come from; it stays here")
  }

  private mutating func refuseRename(_ entity: String, _ property: String?, to name: String) {
    conflicts.append(
      SchemaConflict(
        .ambiguousRename, entity, property,
        "the lines rename it to \"\(name)\", and the store has both"))
  }

  /// A null stored in a required attribute reads as its default, so two defaults are two values.
  private mutating func refuseDefaults(of entity: Entity, in stored: Entity) {
    let names = NameIndex(stored.attributes.lazy.map { $0.isRemoved ? "" : $0.name })
    for attribute in entity.attributes where !attribute.isRemoved && !attribute.isOptional {
      guard let place = names[attribute.name], !stored.attributes[place].isOptional,
        let own = stored.attributes[place].defaultValue, let other = attribute.defaultValue,
        own != other
      else { continue }
      conflicts.append(
        SchemaConflict(
          .invalidDefault, entity.name, attribute.name,
          "the store has the default \(own.conditionText), the lines have \(other.conditionText)"))
    }
  }
}

extension Entity {
  /// Whether the numbers in each list rise, as a store has them.
  fileprivate var numbersRise: Bool {
    func rise(_ numbers: some Sequence<PropertyNumber>) -> Bool {
      var last: PropertyNumber = 0
      return numbers.allSatisfy { number in
        defer { last = number }
        return number > last
      }
    }
    return rise(attributes.lazy.map(\.number)) && rise(relationships.lazy.map(\.number))
      && rise(indexes.lazy.map(\.number))
  }

  /// Whether something of this definition is removed in a later one.
  fileprivate func loses(in later: Entity) -> Bool {
    let live = Set(properties.lazy.filter { !$0.isRemoved }.map(\.number))
    return !isRemoved && later.isRemoved
      || later.properties.contains { $0.isRemoved && live.contains($0.number) }
  }

  /// The names of the properties that are not removed, by number.
  fileprivate var namesByNumber: [PropertyNumber: String] {
    let live = properties.lazy.filter { !$0.isRemoved }.map { ($0.number, $0.name) }
    return Dictionary(live) { _, last in last }
  }
}

extension Schema {
  /// These entities of this schema as a program states them: by name, without numbers, and without
  /// what is removed.
  package func stating(_ entities: [Entity]) -> Schema {
    Schema(
      entities: entities.map { entity in
        var result = entity
        result.number = 0
        result.nextPropertyNumber = 1
        result.madeEdits = []
        result.attributes = entity.attributes.filter { !$0.isRemoved }
        for place in result.attributes.indices {
          result.attributes[place].number = 0
          let named = result.attributes[place].derivation.map { naming($0, of: entity) }
          result.attributes[place].derivation = named
        }
        result.relationships = entity.relationships.filter { !$0.isRemoved }
        for place in result.relationships.indices {
          let relationship = result.relationships[place]
          result.relationships[place].destinationName =
            self.entity(numbered: relationship.destination)?.name ?? relationship.destinationName
          result.relationships[place].destination = 0
          result.relationships[place].number = 0
        }
        for index in result.indexes.indices { result.indexes[index].state(by: entity) }
        return result
      })
  }
}

extension Schema {
  /// This schema as a program states it, with relationships optional where the store has them so,
  /// and without delete rules, limits and derivations for those that it has: lines do not narrow.
  func asLoose(as store: Schema) -> Schema {
    var result = self
    for place in result.entities.indices {
      guard let stored = store.entity(named: result.entities[place].name) else { continue }
      for index in result.entities[place].attributes.indices
      where stored.attribute(named: result.entities[place].attributes[index].name) != nil {
        result.entities[place].attributes[index].derivation = nil
      }
      for index in result.entities[place].relationships.indices {
        let name = result.entities[place].relationships[index].name
        guard let known = stored.relationship(named: name) else { continue }
        result.entities[place].relationships[index].deleteRule = nil
        result.entities[place].relationships[index].minimumCount = nil
        result.entities[place].relationships[index].maximumCount = nil
        if known.isOptional { result.entities[place].relationships[index].isOptional = true }
      }
    }
    return result
  }
}

extension IndexDescription {
  /// Makes it one that names its properties, which are those of the entity.
  fileprivate mutating func state(by entity: Entity) {
    number = 0
    updateReferences { name, number, _ in
      name = entity.propertyName(number) ?? name
      number = 0
    }
  }
}
