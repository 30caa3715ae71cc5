import Annals
import AnnalsExchange
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

extension Asking {
  /// The schema at a moment, and how it grew up to then.
  package func schema() throws -> SchemaDocument {
    let store = try opened()
    let version = store.version
    let number = try store.number(parameters["at"])
    let schema = version.view.schema(at: number)
    var document = SchemaDocument(
      version, at: try store.moment(number), [.text, .json],
      command: command("schema").option("at", parameters["at"]))
    let snapshot = try store.snapshot(at: number)
    document.entities = schema.liveEntities.map { entity in
      SchemaDocument.EntityEntry(
        entity, in: schema, count: snapshot.reader.state.count(of: entity.number))
    }
    let changes = version.view.schemaHistory.filter { $0.number <= number }
    let numbers = changes.map(\.number).filter { $0 > version.view.base }
    for number in numbers.prefix(SchemaDocument.mostGrowth) {
      try cancellation.check()
      let transaction = try version.header(of: number)
      document.growth.append(
        SchemaDocument.Growth(
          header: ShownHeader(transaction, changes: 0, cut: ValueShowing.usualCut),
          lines: Array(SchemaText.lines(of: transaction).prefix(500))))
    }
    document.growthMore = numbers.count - document.growth.count
    return document
  }
}

extension SchemaDocument {
  /// As many changes of the schema are listed.
  fileprivate static let mostGrowth = 500

  /// The forms of the whole schema.
  package struct Forms: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let text = Forms(rawValue: 1)
    package static let json = Forms(rawValue: 2)
  }

  /// The schema at a moment in these forms, and the migrations made up to then; without entities
  /// and growth.
  package init(
    _ version: StoreVersion, at moment: ShownMoment, _ forms: Forms, command: CommandWords
  ) {
    let schema = version.glossary().schema(asOf: moment.number)
    self.init(
      moment: moment, entities: [], growth: [], growthMore: 0,
      migrations: version.migrations.filter { $0.number <= moment.number }.map {
        Migration(name: $0.name, number: $0.number)
      }, text: forms.contains(.text) ? schema.description : "",
      json: forms.contains(.json) ? SchemaJSON.text(schema) : "", command: command.text)
  }
}

extension SchemaDocument.EntityEntry {
  fileprivate init(_ entity: Entity, in schema: Schema, count: Int) {
    self.init(
      name: entity.name, number: Int64(entity.number), displayName: entity.displayName,
      count: count,
      attributes: entity.attributes.filter { !$0.isRemoved }.map { attribute in
        SchemaDocument.AttributeEntry(
          name: attribute.name, type: "\(attribute.type)", isRequired: !attribute.isOptional,
          isUnique: attribute.isUnique, isIndexed: entity.isIndexed(attribute),
          isPreserved: attribute.isPreservedAfterDeletion,
          default: attribute.defaultValue?.plainText.clipped(to: 200),
          rules: attribute.texts.map { $0.clipped(to: 400) },
          derived: attribute.derivation.map { _ in
            schema.description(of: attribute, in: entity).clipped(to: 400)
          })
      },
      relationships: entity.relationships.filter { !$0.isRemoved }.map { relationship in
        SchemaDocument.RelationshipEntry(
          name: relationship.name,
          destination: schema.entity(numbered: relationship.destination)?.name ?? "",
          isToMany: relationship.isToMany, isOrdered: relationship.isOrdered,
          isRequired: relationship.isRequired,
          deleteRule: relationship.deleteRule.map { "\($0)" },
          inverse: relationship.inverseName, rules: relationship.texts)
      },
      indexes: entity.indexes.map { index in
        let keys = index.elements.map { element in
          (element.isDescending ? "-" : "") + (entity.propertyName(element.property) ?? "?")
        }
        let condition = entity.condition(of: index).map { " where \($0)" } ?? ""
        return "\(index.isUnique ? "unique " : "")\(index.name): \(keys.joined(separator: ","))"
          + condition
      })
  }
}
