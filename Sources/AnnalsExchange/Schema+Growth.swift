import Annals
import AnnalsModel

extension Schema {
  /// What was added, renamed or widened since an earlier schema of the same store, a sentence each.
  package func growth(since before: Schema) -> [String] {
    liveEntities.flatMap { entity in
      guard let known = before.entity(numbered: entity.number) else {
        return ["added the entity \(entity.name)"]
      }
      return growth(of: entity, since: known)
    }
  }

  private func growth(of entity: Entity, since known: Entity) -> [String] {
    var lines: [String] = []
    if !entity.name.hasSameBytes(as: known.name) {
      lines.append("the entity \(known.name) is \(entity.name) now")
    }
    for attribute in entity.attributes where !attribute.isRemoved {
      let name = "\(entity.name).\(attribute.name)"
      guard let before = known.attribute(numbered: attribute.number) else {
        let near = NearName.nearest(to: attribute.name, among: known.readableProperties.map(\.name))
        let other = near.map { "; there is \(entity.name).\($0) as well" } ?? ""
        lines.append("added the attribute \(name) (\(attribute.type))\(other)")
        continue
      }
      lines += rename(of: name, attribute.name, since: before.name, in: entity)
      if before.type != attribute.type {
        lines.append("\(name) is of type \(attribute.type) now; it was \(before.type)")
      }
      if attribute.isOptional, !before.isOptional {
        lines.append("\(name) is optional now; it was required")
      }
      if attribute.isUnique, !before.isUnique { lines.append("\(name) is unique now") }
    }
    for relationship in entity.relationships where !relationship.isRemoved {
      let name = "\(entity.name).\(relationship.name)"
      if let before = known.relationships.first(where: { $0.number == relationship.number }) {
        lines += rename(of: name, relationship.name, since: before.name, in: entity)
        let (rules, former) = (relationship.rulesText, before.rulesText)
        if rules != former { lines.append("\(name) is \(rules) now; it was \(former)") }
      } else {
        lines.append("added the relationship \(name)")
      }
    }
    for index in entity.indexes where !known.indexes.contains(where: { $0.number == index.number })
    {
      lines.append("added the index \(entity.name).\(index.name)")
    }
    return lines
  }

  private func rename(
    of fullName: String, _ name: String, since former: String, in entity: Entity
  ) -> [String] {
    name.hasSameBytes(as: former) ? [] : ["\(entity.name).\(former) is \(fullName) now"]
  }
}

extension Relationship {
  /// Its rules in words.
  fileprivate var rulesText: String {
    texts.isEmpty ? "optional" : texts.joined(separator: ", ")
  }
}
