/// What a transaction defines of one entity: the whole of it, or what changed of one known before.
///
/// FORMAT.md, "Schema". A partial one costs what changed, however many properties the entity has.
package struct EntityChange: Hashable, Sendable {
  /// The definition. If the change is partial, its lists have only what is new or changed; all else
  /// is as it is after the change.
  package var definition: Entity
  /// Whether the lists of the definition are added to those known before.
  package var isPartial = false
  /// The numbers of the indexes that are gone, rising; only in a partial change.
  package var droppedIndexes: [PropertyNumber] = []

  /// The whole definition.
  package init(_ definition: Entity) {
    self.definition = definition
  }

  /// Entities of so many properties and indexes are always defined whole: that costs little, and
  /// where damage takes one definition, the next has all names.
  package static let greatestWhole = 32

  /// What leads from one definition of an entity to another: partial if the entity has many
  /// properties and none that was known is gone. O(properties).
  package init(from old: Entity, to new: Entity, whole limit: Int = EntityChange.greatestWhole) {
    definition = new
    guard new.attributes.count + new.relationships.count + new.indexes.count > limit,
      let attributes = new.attributes.changes(from: old.attributes),
      let relationships = new.relationships.changes(from: old.relationships),
      attributes.gone.isEmpty, relationships.gone.isEmpty,
      let indexes = new.indexes.changes(from: old.indexes)
    else { return }
    isPartial = true
    definition.attributes = attributes.changed
    definition.relationships = relationships.changed
    definition.indexes = indexes.changed
    droppedIndexes = indexes.gone
  }

  /// Whether indexes and unique rules are the same after the change: it only adds properties. The
  /// entity is as it was before.
  package func leavesRules(of before: Entity) -> Bool {
    isPartial && definition.indexes.isEmpty && droppedIndexes.isEmpty
      && definition.attributes.allSatisfy {
        !$0.isUnique && $0.number >= before.nextPropertyNumber
      }
      && definition.relationships.allSatisfy {
        !$0.isIndexed && $0.number >= before.nextPropertyNumber
      }
  }

  /// Whether it defines a relationship that makes the file one with rules of references.
  package var hasRelationshipRules: Bool {
    definition.relationships.contains(where: \.hasStoredRule)
  }

  /// Whether it makes the file one with decimals or days: by an attribute's type, default or rules,
  /// or by what an index compares with.
  package var hasDecimalOrDay: Bool {
    let tests = definition.indexes.lazy.flatMap(\.tests)
    if tests.contains(where: { $0.value.tag.isDecimalOrDay }) { return true }
    return definition.attributes.contains { attribute in
      let rules = attribute.validation
      let values = [attribute.defaultValue, rules.minimum, rules.maximum].compactMap { $0 }
      return attribute.type == .decimal || attribute.type == .day
        || (values + rules.oneOf).contains { $0.tag.isDecimalOrDay }
    }
  }

  /// The number of the entity.
  package var number: EntityNumber { definition.number }

  /// Why the change does not fit the entity as it was before; nil if it does. O(changes · log
  /// properties).
  package func misfit(_ before: Entity?) -> String? {
    guard isPartial else { return nil }
    guard let before else { return "a change of entity \(number), which was never defined" }
    if definition.nextPropertyNumber < before.nextPropertyNumber {
      return "a change of entity \(number) that takes numbers back"
    }
    let known = [before.attributes.has, before.relationships.has, before.indexes.has]
    let listed = [
      definition.attributes.map(\.number), definition.relationships.map(\.number),
      definition.indexes.map(\.number),
    ]
    for (list, numbers) in listed.enumerated() {
      for number in numbers where known.indices.contains(where: { $0 != list && known[$0](number) })
      {
        return "number \(number) of entity \(self.number) given twice"
      }
    }
    for number in droppedIndexes where !before.indexes.has(number) {
      return "entity \(self.number) has no index \(number) to drop"
    }
    return nil
  }
}

extension Entity {
  /// Whether the property with this number was removed. O(log properties).
  package func isRemoved(_ number: PropertyNumber) -> Bool {
    attributes.place(numbered: number).map { attributes[$0].isRemoved }
      ?? relationships.place(numbered: number).map { relationships[$0].isRemoved } ?? false
  }

  /// Applies a change of this entity. O(what the change lists) while nobody else holds the lists.
  package mutating func apply(_ change: EntityChange) {
    let new = change.definition
    guard change.isPartial else {
      self = new
      return
    }
    name = new.name
    displayName = new.displayName
    isRemoved = new.isRemoved
    nextPropertyNumber = new.nextPropertyNumber
    madeEdits = new.madeEdits
    extensions = new.extensions
    attributes.put(new.attributes)
    relationships.put(new.relationships)
    indexes.put(new.indexes)
    if !change.droppedIndexes.isEmpty {
      indexes.removeAll { change.droppedIndexes.contains($0.number) }
    }
  }
}

extension Schema {
  /// Applies the changes of a transaction. O(what they list) while nobody else holds the schema.
  package mutating func apply(_ changes: [EntityChange]) {
    for change in changes {
      DefinitionProbe.count(1)
      let place = entities.rank { $0.number < change.number }
      if place < entities.count, entities[place].number == change.number {
        entities[place].apply(change)
      } else {
        entities.insert(change.definition, at: place)
      }
    }
  }

  /// The changes of these entities that lead from an earlier schema to this.
  package func changes(
    from old: Schema, of numbers: [EntityNumber], whole limit: Int = EntityChange.greatestWhole
  ) -> [EntityChange] {
    numbers.compactMap { number in
      guard let new = entity(numbered: number) else { return nil }
      return old.entity(numbered: number).map { EntityChange(from: $0, to: new, whole: limit) }
        ?? EntityChange(new)
    }
  }
}

/// A definition within an entity, which has a number there.
protocol NumberedDefinition: Equatable {
  var number: PropertyNumber { get }
  var name: String { get }
}

extension Attribute: NumberedDefinition {}
extension Relationship: NumberedDefinition {}
extension IndexDescription: NumberedDefinition {}

extension Array where Element: NumberedDefinition {
  /// The elements that are new or changed since an earlier list, and the numbers that are gone; nil
  /// if the numbers do not rise.
  fileprivate func changes(from old: [Element]) -> (changed: [Element], gone: [PropertyNumber])? {
    DefinitionProbe.count(count)
    var changed: [Element] = []
    var gone: [PropertyNumber] = []
    var rest = old[...]
    var last: PropertyNumber = 0
    for element in self {
      guard element.number > last else { return nil }
      last = element.number
      while let first = rest.first, first.number < element.number {
        gone.append(first.number)
        rest.removeFirst()
      }
      if let first = rest.first, first.number == element.number {
        rest.removeFirst()
        // Equal names may still be other bytes.
        if first == element, first.name.hasSameBytes(as: element.name) { continue }
      }
      changed.append(element)
    }
    gone += rest.map(\.number)
    return (changed, gone)
  }

  /// Puts each element in the place of that of its number, or adds it.
  fileprivate mutating func put(_ elements: [Element]) {
    for element in elements {
      let place = place(of: element.number)
      if place < count, self[place].number == element.number {
        self[place] = element
      } else {
        insert(element, at: place)
      }
    }
  }

  fileprivate func has(_ number: PropertyNumber) -> Bool { place(numbered: number) != nil }

  /// The index of the element with this number, if numbers rise. O(log n).
  func place(numbered number: PropertyNumber) -> Int? {
    let place = place(of: number)
    return place < count && self[place].number == number ? place : nil
  }

  fileprivate func place(of number: PropertyNumber) -> Int {
    // What is new comes last.
    if let last, last.number < number { return count }
    return rank { $0.number < number }
  }
}
