import AnnalsFormat
import AnnalsModel

/// The names of entities, properties, authors and openings that a walk has met so far, by number.
///
/// They come from records and directories in the order of the file, so a walk that begins in the
/// middle knows fewer. Numbers are not checked here. Memory and time are proportional to the
/// definitions read, whatever their numbers.
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

  /// The schema as of the last record learnt. Costs a sort of its entities.
  package var schema: Schema {
    Schema(entities: definitions.values.map(\.entity).sorted { $0.number < $1.number })
  }

  /// An opening by its number; nil if none was met.
  package func opening(_ number: OpeningNumber) -> Opening? {
    number == 0 || Int64(number) > Int64(openings.count) ? nil : openings[Int(number) - 1]
  }

  /// The definition of an entity; nil if none was met.
  package func entity(_ number: EntityNumber) -> Entity? { definitions[number]?.entity }

  /// Learns the names, openings and definitions of a transaction.
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

  /// Replaces the schema and adds the names and openings of a checkpoint, or of a known position.
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
      // Without a second reference in the dictionary, the lists are changed in place.
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
