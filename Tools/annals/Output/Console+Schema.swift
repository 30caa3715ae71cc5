import Annals

extension Console {
  /// Reports what was added to a schema that had entities, and which attributes were widened.
  func report(_ now: Schema, besides before: Schema) {
    guard !before.liveEntities.isEmpty else { return }
    var lines: [String] = []
    for entity in now.liveEntities {
      if let known = before.entity(numbered: entity.number) {
        lines += differences(of: entity, from: known)
      } else {
        lines.append("added the entity \(entity.name)")
      }
    }
    for line in lines.prefix(Console.longestReport) { report(line) }
    let more = lines.count - Console.longestReport
    if more > 0 { report("… \(Numerals.grouped(more)) more: annals schema lists them") }
  }

  /// The most lines about a schema.
  private static let longestReport = 20

  private func differences(of entity: Entity, from known: Entity) -> [String] {
    var lines: [String] = []
    for attribute in entity.attributes where !attribute.isRemoved {
      let name = "\(entity.name).\(attribute.name)"
      let before = known.attributes.first { $0.number == attribute.number }
      if let before, before.type != attribute.type {
        lines.append("\(name) is of type \(attribute.type) now; it was \(before.type)")
      } else if before == nil {
        let near = NearName.nearest(to: attribute.name, among: known.propertyNames)
        let other = near.map { "; there is \(entity.name).\($0) as well" } ?? ""
        lines.append("added the attribute \(name) (\(attribute.type))\(other)")
      }
    }
    for relationship in entity.relationships
    where !relationship.isRemoved && known.relationship(named: relationship.name) == nil {
      lines.append("added the relationship \(entity.name).\(relationship.name)")
    }
    return lines
  }
}
