import AnnalsModel

/// The names of a schema's properties, and the defaults that nulls read as, by number. Made once
/// for a schema, since history looks them up for each change.
package final class PropertyNames: Sendable {
  /// The range of an entity's names in `names`.
  private struct Run: Sendable {
    var entity: EntityNumber
    /// The index of property 0, and the number of properties.
    var first: Int
    var count: Int
  }

  private let runs: ContiguousArray<Run>
  /// The names of each entity's properties with low numbers, at their numbers.
  private let names: ContiguousArray<String?>
  /// The other names, by entity and number.
  private let others: [UInt64: String]
  /// The default that a null reads as, for required attributes with one; by entity and number.
  private let defaults: [UInt64: Value]

  /// Numbers up to this are stored densely.
  private static let denseLimit: PropertyNumber = 1024

  /// The names of a schema, and those of entities that only `other` defines.
  init(_ schema: Schema, otherwise other: Schema) {
    var entities = schema.entities
    let known = Set(entities.lazy.map(\.number))
    entities += other.entities.filter { !known.contains($0.number) }
    entities.sort { $0.number < $1.number }
    var runs: ContiguousArray<Run> = []
    var names: ContiguousArray<String?> = []
    var others: [UInt64: String] = [:]
    var defaults: [UInt64: Value] = [:]
    for entity in entities {
      let first = names.count
      for property in entity.namedNumbers {
        guard property.number <= PropertyNames.denseLimit else {
          others[PropertyNames.key(entity.number, property.number)] = property.name
          continue
        }
        while names.count <= first + Int(property.number) { names.append(nil) }
        names[first + Int(property.number)] = property.name
      }
      runs.append(Run(entity: entity.number, first: first, count: names.count - first))
      for attribute in entity.attributes where !attribute.isOptional && !attribute.isRemoved {
        guard let value = attribute.defaultValue else { continue }
        defaults[PropertyNames.key(entity.number, attribute.number)] = value
      }
    }
    self.runs = runs
    self.names = names
    self.others = others
    self.defaults = defaults
  }

  /// The name of a property; nil if neither schema has it.
  @inline(__always)
  func name(of property: PropertyNumber, in entity: EntityNumber) -> String? {
    // Numbers are dense in most stores, so the first look-up finds the name.
    let guess = Int(entity) - 1
    if guess >= 0, guess < runs.count {
      let run = runs[guess]
      if run.entity == entity, Int(property) < run.count { return names[run.first + Int(property)] }
    }
    return searchedName(of: property, in: entity)
  }

  @inline(never)
  private func searchedName(of property: PropertyNumber, in entity: EntityNumber) -> String? {
    if let run = runs.first(where: { $0.entity == entity }), Int(property) < run.count {
      return names[run.first + Int(property)]
    }
    return others[PropertyNames.key(entity, property)]
  }

  /// What a null reads as: the default, for a required attribute that has one.
  @inline(__always)
  func unwritten(_ property: PropertyNumber, in entity: EntityNumber) -> Value {
    defaults.isEmpty ? .null : defaults[PropertyNames.key(entity, property)] ?? .null
  }

  /// Whether no null reads as a default.
  var hasNoDefaults: Bool { defaults.isEmpty }

  private static func key(_ entity: EntityNumber, _ property: PropertyNumber) -> UInt64 {
    UInt64(entity) << 32 | UInt64(property)
  }
}

extension Entity {
  /// The properties' numbers, with their names.
  fileprivate var namedNumbers: [(number: PropertyNumber, name: String)] {
    attributes.map { ($0.number, $0.name) } + relationships.map { ($0.number, $0.name) }
  }
}
