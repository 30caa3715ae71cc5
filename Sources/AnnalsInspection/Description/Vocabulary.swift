import AnnalsFormat
import AnnalsModel

/// The names that a walk has learnt so far: what turns the numbers in records into words.
///
/// Learnt from records and directories in the order of the file, so a walk that begins in the
/// middle knows fewer. Wrong numbers are not its business: it takes what it is given. Memory and
/// the time to learn are those of what the file spells out, whatever the numbers.
package struct Vocabulary: Sendable {
  private struct Definition: Sendable {
    var entity: Entity
    var properties: [PropertyNumber: String] = [:]

    init(_ entity: Entity) { self.entity = entity }

    mutating func apply(_ change: EntityChange) {
      entity.apply(change)
      if !change.isPartial { properties = [:] }
      for attribute in change.definition.attributes {
        properties[attribute.number] = attribute.name
      }
      for relationship in change.definition.relationships {
        properties[relationship.number] = relationship.name
      }
    }
  }

  private var definitions: [EntityNumber: Definition] = [:]
  /// Interned names by number.
  package private(set) var names: [NameNumber: String] = [:]
  /// Openings; number 1 comes first.
  package private(set) var openings: [Opening] = []

  package init() {}

  /// The schema as of the last record taken. Costs a sort of its entities.
  package var schema: Schema {
    Schema(entities: definitions.values.map(\.entity).sorted { $0.number < $1.number })
  }

  /// An opening by its number; nil if none was met.
  package func opening(_ number: OpeningNumber) -> Opening? {
    number == 0 || Int64(number) > Int64(openings.count) ? nil : openings[Int(number) - 1]
  }

  /// The definition of an entity; nil if none was met.
  package func entity(_ number: EntityNumber) -> Entity? { definitions[number]?.entity }

  /// Takes what a transaction brings: names, an opening, definitions.
  package mutating func learn(_ record: TransactionRecord) {
    guard record.part == 0 else { return }
    for (index, name) in record.newNames.enumerated() {
      names[record.firstNewName &+ NameNumber(truncatingIfNeeded: index)] = name
    }
    for opening in record.openings where Int(opening.number) == openings.count + 1 {
      openings.append(opening)
    }
    learn(record.schemaChange)
  }

  /// Takes a schema instead of the one known, and the tables of a checkpoint or of a position of
  /// which all is known.
  package mutating func learn(_ schema: Schema, names: [String], openings: [Opening]) {
    definitions = [:]
    learn(schema.entities.map(EntityChange.init))
    for (index, name) in names.enumerated() {
      self.names[NameNumber(truncatingIfNeeded: index) &+ 1] = name
    }
    if openings.count > self.openings.count { self.openings = openings }
  }

  private mutating func learn(_ changes: [EntityChange]) {
    for change in changes {
      var definition = definitions[change.number] ?? Definition(change.definition)
      // The dictionary holds no second reference while the lists are changed in place.
      definitions[change.number] = nil
      definition.apply(change)
      definitions[change.number] = definition
    }
  }

  /// `3 "Safari"`, or the number alone; `none` for 0.
  package func nameText(_ number: NameNumber) -> String {
    if number == 0 { return "none" }
    guard let name = names[number] else { return "\(number)" }
    return "\(number) \(QuotedText.short(name))"
  }

  /// `Post`, or `entity 3`.
  package func entityText(_ number: EntityNumber) -> String {
    definitions[number]?.entity.name ?? "entity \(number)"
  }

  /// `title`, or `property 3`.
  package func propertyText(_ number: PropertyNumber, of entity: EntityNumber) -> String {
    definitions[entity]?.properties[number] ?? "property \(number)"
  }
}
