import Annals

/// Formats what a transaction did to an entity.
package enum SchemaText {
  /// What a transaction changed of the schema: each entity, and below it the differences.
  package static func lines(of transaction: Transaction) -> [String] {
    let changed = transaction.schemaChange
    guard !changed.isEmpty else { return [] }
    let schema = transaction.schema
    let before = transaction.page.glossary.schema(asOf: transaction.number - 1)
    return changed.flatMap { entity in
      ["schema of \(entity.name)"]
        + differences(of: entity, from: before.entity(numbered: entity.number), in: schema).map {
          "    \($0)"
        }
    }
  }

  /// The differences of an entity from its earlier definition, one a line; `before` is nil for a
  /// new one.
  package static func differences(
    of entity: Entity, from before: Entity?, in schema: Schema
  ) -> [String] {
    if entity.isRemoved, before?.isRemoved == false { return ["- the entity"] }
    var lines: [String] = []
    if let before, !before.name.hasSameBytes(as: entity.name) {
      lines.append("~ \(before.name) is \(entity.name) now")
    }
    for attribute in entity.attributes {
      let known = before?.attributes.first { $0.number == attribute.number }
      lines += differences(
        attribute.name, attribute.isRemoved, type: "\(attribute.type)",
        from: known.map { ($0.name, $0.isRemoved, "\($0.type)") },
        isSame: known == attribute)
    }
    for relationship in entity.relationships {
      let known = before?.relationships.first { $0.number == relationship.number }
      lines += differences(
        relationship.name, relationship.isRemoved, type: text(relationship, in: schema),
        from: known.map { ($0.name, $0.isRemoved, text($0, in: schema)) },
        isSame: known == relationship)
    }
    for index in entity.indexes
    where before?.indexes.contains(where: { $0.number == index.number }) != true {
      lines.append("+ index \(index.name): \(keys(of: index, in: entity))")
    }
    for index in before?.indexes ?? []
    where !entity.indexes.contains(where: { $0.number == index.number }) {
      lines.append("- index \(index.name)")
    }
    return lines
  }

  /// A property's line: added, removed, renamed, of another type, or with other rules.
  private static func differences(
    _ name: String, _ isRemoved: Bool, type: String,
    from before: (name: String, isRemoved: Bool, type: String)?, isSame: Bool
  ) -> [String] {
    guard let before, !before.isRemoved else { return isRemoved ? [] : ["+ \(name): \(type)"] }
    if isSame { return [] }
    if isRemoved { return ["- \(before.name)"] }
    if !before.name.hasSameBytes(as: name) { return ["~ \(before.name) is \(name) now"] }
    return before.type == type
      ? ["~ \(name): other rules"] : ["~ \(name): \(type), was \(before.type)"]
  }

  private static func text(_ relationship: Relationship, in schema: Schema) -> String {
    let name = schema.entity(numbered: relationship.destination)?.name ?? "object"
    let rules =
      relationship.texts.isEmpty
      ? "" : " (\(relationship.texts.joined(separator: ", ")))"
    return (relationship.isToMany ? "[\(name)]" : name) + rules
  }

  private static func keys(of index: IndexDescription, in entity: Entity) -> String {
    let keys = index.elements.map { element in
      (element.isDescending ? "-" : "") + (entity.propertyName(element.property) ?? "?")
    }
    return (index.isUnique ? "unique " : "") + index.kind.prefix
      + keys.joined(separator: ",")
  }
}
