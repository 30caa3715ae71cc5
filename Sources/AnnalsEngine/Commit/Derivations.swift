import AnnalsModel

/// The derived attributes of a schema, each after those that it reads, and what they read.
///
/// Made in O(attributes); the writer keeps the newest schema's.
package final class Derivations: Sendable {
  /// One derived attribute.
  package struct Node: Sendable {
    let entity: Entity
    let attribute: Attribute
    let derivation: Derivation
    /// The properties of the object itself that it reads: of a list, the relationship alone.
    let own: [PropertyNumber]
    /// The relationship of an inverse or list, and its entity; nil if it reads the object alone.
    let source: (entity: EntityNumber, relationship: PropertyNumber, isInverse: Bool)?
    /// The property of each of its objects; nil for a count.
    let value: PropertyNumber?
    /// The nodes that read it.
    fileprivate(set) var readers: [Int] = []

    /// What messages call it.
    var name: String { "\(entity.name).\(attribute.name)" }
  }

  /// The nodes that look at the objects of one entity, by place.
  struct Readers: Sendable {
    /// Those of the objects themselves.
    var own: [Int] = []
    /// Those of the objects that have these in a list.
    var lists: [Int] = []
    /// Those of the objects that these refer to.
    var inverses: [Int] = []
  }

  /// The derived attributes in the order in which they are computed.
  package let nodes: [Node]
  private let readers: [EntityNumber: Readers]
  /// The entities' derived attributes.
  private let properties: [EntityNumber: Set<PropertyNumber>]

  /// Those of this schema; impossible ones are left out.
  package init(_ schema: Schema) {
    var nodes: [Node] = []
    var places: [DerivedProperty: Int] = [:]
    var readers: [EntityNumber: Readers] = [:]
    var properties: [EntityNumber: Set<PropertyNumber>] = [:]
    for property in schema.hasDerivations ? schema.derivedProperties.ordered : [] {
      guard let entity = schema.entity(numbered: property.entity),
        let attribute = entity.attribute(numbered: property.property),
        let derivation = attribute.derivation
      else { continue }
      let source = schema.source(of: derivation, in: entity)
      let isInverse = derivation.sourceEntity != 0
      let inputs = derivation.inputs.map(\.number)
      let place = nodes.count
      nodes.append(
        Node(
          entity: entity, attribute: attribute, derivation: derivation,
          own: source == nil ? inputs : isInverse ? [] : [derivation.source],
          source: source.map { ($0.owner.number, derivation.source, isInverse) },
          value: source == nil ? nil : inputs.first))
      places[property] = place
      properties[entity.number, default: []].insert(attribute.number)
      readers[entity.number, default: Readers()].own.append(place)
      guard let source else {
        note(place, reading: inputs, of: entity.number)
        continue
      }
      note(place, reading: inputs, of: source.objects.number)
      if isInverse {
        readers[source.owner.number, default: Readers()].inverses.append(place)
      } else {
        readers[source.objects.number, default: Readers()].lists.append(place)
      }
    }
    func note(_ reader: Int, reading inputs: [PropertyNumber], of entity: EntityNumber) {
      for input in inputs {
        if let place = places[DerivedProperty(entity, input)] {
          nodes[place].readers.append(reader)
        }
      }
    }
    self.nodes = nodes
    self.readers = readers
    self.properties = properties
  }

  /// Whether there are none.
  var isEmpty: Bool { nodes.isEmpty }

  /// The nodes that look at the objects of an entity; nil for none.
  func readers(of entity: EntityNumber) -> Readers? { readers[entity] }

  /// Whether a property is derived.
  func has(_ property: PropertyNumber, of entity: EntityNumber) -> Bool {
    properties[entity]?.contains(property) ?? false
  }

  /// The derived attributes of an entity.
  func properties(of entity: EntityNumber) -> Set<PropertyNumber> { properties[entity] ?? [] }
}
