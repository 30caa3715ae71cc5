// A schema as text, for printing: what can be read and written, without numbers.

extension Schema: CustomStringConvertible {
  /// Each entity with its properties and indexes, one a line, without what was removed.
  public var description: String {
    var lines: [String] = []
    for entity in entities where !entity.isRemoved {
      lines.append(entity.name)
      for attribute in entity.attributes where !attribute.isRemoved {
        lines.append("  " + description(of: attribute, in: entity))
      }
      for relationship in entity.relationships where !relationship.isRemoved {
        lines.append("  " + description(of: relationship))
      }
      for index in entity.indexes {
        var line = "  \(index.isUnique ? "unique index" : "index") \(index.name)"
        if let condition = entity.condition(of: index), !index.name.contains(" where ") {
          line += " where \(condition)"
        }
        lines.append(line)
      }
    }
    return lines.joined(separator: "\n")
  }

  /// An attribute of the schema: `total: int64, derived sum(events.amount)`.
  public func description(of attribute: Attribute, in entity: Entity) -> String {
    guard let derivation = attribute.derivation else { return attribute.description }
    return "\(attribute.description), derived \(naming(derivation, of: entity))"
  }

  /// A relationship of the schema: `timeline: Timeline, on delete cascade`.
  public func description(of relationship: Relationship) -> String {
    // A definition of a program has names only.
    let target =
      relationship.destination == 0
      ? relationship.destinationName : entity(numbered: relationship.destination)?.name ?? ""
    let kind = relationship.isToMany ? (relationship.isOrdered ? "ordered " : "any ") : ""
    return (["\(relationship.name): \(kind)\(target)"] + relationship.texts)
      .joined(separator: ", ")
  }
}

extension Attribute: CustomStringConvertible {
  /// Name, type and rules: `pages: int64, required, default 1, from 0`.
  public var description: String {
    (["\(name): \(type)"] + texts).joined(separator: ", ")
  }
}
