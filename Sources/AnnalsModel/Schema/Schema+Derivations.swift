// Derivations by numbers and by names, and what makes them possible.

/// A derived attribute, by numbers.
package struct DerivedProperty: Hashable, Comparable, Sendable {
  package let entity: EntityNumber
  package let property: PropertyNumber

  package init(_ entity: EntityNumber, _ property: PropertyNumber) {
    self.entity = entity
    self.property = property
  }

  package static func < (a: DerivedProperty, b: DerivedProperty) -> Bool {
    (a.entity, a.property) < (b.entity, b.property)
  }
}

extension Schema {
  /// Whether an attribute is derived. O(attributes).
  package var hasDerivations: Bool { entities.contains(where: \.hasDerivations) }

  /// The relationship of whose objects a derivation of an entity is a function, and the entity of
  /// these objects; nil if there is none, or if it was removed.
  package func source(
    of derivation: Derivation, in entity: Entity
  ) -> (owner: Entity, relationship: Relationship, objects: Entity)? {
    guard derivation.aggregate != nil else { return nil }
    let isOwn = derivation.sourceEntity == 0
    guard let owner = isOwn ? entity : self.entity(numbered: derivation.sourceEntity),
      !owner.isRemoved,
      let relationship = owner.relationships.first(where: { $0.number == derivation.source }),
      !relationship.isRemoved
    else { return nil }
    if isOwn {
      guard relationship.isToMany, let objects = self.entity(numbered: relationship.destination)
      else { return nil }
      return objects.isRemoved ? nil : (owner, relationship, objects)
    }
    return relationship.destination == entity.number ? (owner, relationship, owner) : nil
  }

  /// The derivation by names, for people and for lines; what has no name keeps its number.
  package func naming(_ derivation: Derivation, of entity: Entity) -> Derivation {
    var result = derivation
    var readFrom: Entity? = entity
    if derivation.aggregate != nil, derivation.source > 0 {
      let isOwn = derivation.sourceEntity == 0
      let owner = isOwn ? entity : self.entity(numbered: derivation.sourceEntity)
      let relationship = owner?.relationships.first { $0.number == derivation.source }
      if let owner, let relationship {
        result.sourceName =
          isOwn
          ? relationship.name
          : relationship.inverseName ?? Schema.inverseName(of: relationship.name, in: owner.name)
        readFrom = isOwn ? self.entity(numbered: relationship.destination) : owner
      }
    }
    for place in result.inputs.indices where result.inputs[place].number > 0 {
      result.inputs[place].name =
        readFrom?.propertyName(result.inputs[place].number) ?? result.inputs[place].name
    }
    return result
  }

  /// The derivation of an entity by numbers alone, from names, or from numbers where there is no
  /// name; or why there is none, as the end of a sentence about the attribute.
  package func numbering(
    _ derivation: Derivation, of entity: Entity
  ) -> (derivation: Derivation, problem: String?) {
    var result = derivation
    var readFrom = entity
    if derivation.aggregate != nil {
      let name = derivation.sourceName
      if name.isEmpty {
        guard let source = source(of: derivation, in: entity) else {
          return (result, "it is the \(derivation.word) of a relationship that is not there")
        }
        readFrom = source.objects
      } else if let own = entity.relationship(named: name) {
        guard own.isToMany else {
          return (result, "\"\(name)\" is to-one; a derivation is of a to-many or an inverse")
        }
        (result.sourceEntity, result.source) = (0, own.number)
        readFrom = self.entity(numbered: own.destination) ?? Entity("")
      } else if let (owner, relationship) = inverse(named: name, of: entity.number) {
        (result.sourceEntity, result.source) = (owner.number, relationship.number)
        readFrom = owner
      } else {
        let names = entity.relationships.filter { $0.isToMany && !$0.isRemoved }.map(\.name)
        let hint = NearName.hint(name, among: names)
        return (result, "\(entity.name) has no to-many relationship or inverse \"\(name)\"\(hint)")
      }
      result.sourceName = ""
    }
    for place in result.inputs.indices {
      let name = result.inputs[place].name
      if name.isEmpty { continue }
      guard let number = readFrom.propertyNumber(named: name) else {
        let names = readFrom.attributes.filter { !$0.isRemoved }.map(\.name)
        let hint = NearName.hint(name, among: names)
        return (result, "\(readFrom.name) has no property \"\(name)\"\(hint)")
      }
      result.inputs[place] = Derivation.Input("", number: number)
    }
    return (result, nil)
  }

  /// Why an attribute cannot be derived so, by numbers, as the end of a sentence about it; nil if
  /// it can.
  package func problem(of derivation: Derivation, for attribute: Attribute, in entity: Entity)
    -> String?
  {
    guard let function = derivation.aggregate else {
      return entity.problem(of: derivation, for: attribute)
    }
    guard let source = source(of: derivation, in: entity) else {
      return "it is the \(derivation.word) of a relationship that is not there, or was removed"
    }
    var type: AttributeType? = .int64
    var name = source.relationship.name
    if function != .count {
      guard derivation.inputs.count == 1,
        let value = source.objects.attribute(numbered: derivation.inputs[0].number),
        !value.isRemoved
      else {
        return "it is the \(derivation.word) of an attribute of \(source.objects.name) that is "
          + "not there, or was removed"
      }
      type = function.resultType(of: value.type)
      name = "\(source.objects.name).\(value.name)"
      if type == nil {
        let kinds = function == .sum || function == .average ? "numbers" : "numbers or dates"
        return "it is the \(derivation.word) of \(kinds), and \(name) is of type \(value.type)"
      }
    } else if !derivation.inputs.isEmpty {
      return "a count is of objects, not of their values"
    }
    if let type, !type.fits(attribute.type, isWhole: function == .count || function == .sum) {
      return "the \(derivation.word) of \(name) is of type \(type), not \(attribute.type)"
    }
    let isNullable = function != .count && function != .sum
    return isNullable && attribute.isBare
      ? "the \(derivation.word) of no objects is null; declare it optional, or with a default" : nil
  }

  /// The derived attributes that are not removed. O(attributes).
  private var derivations: [(entity: Entity, attribute: Attribute, derivation: Derivation)] {
    entities.filter { !$0.isRemoved && $0.hasDerivations }.flatMap { entity in
      entity.attributes.compactMap { attribute in
        attribute.isRemoved ? nil : attribute.derivation.map { (entity, attribute, $0) }
      }
    }
  }

  /// What a derivation of an entity reads.
  private func inputs(of derivation: Derivation, in entity: Entity) -> [DerivedProperty] {
    let owner = source(of: derivation, in: entity)?.objects.number ?? entity.number
    return derivation.inputs.map { DerivedProperty(owner, $0.number) }
  }

  /// The derived attributes, each after those that it reads; and those that read one another in a
  /// circle. What is impossible is left out. O(attributes).
  package var derivedProperties: (ordered: [DerivedProperty], cyclic: [DerivedProperty]) {
    var reads: [DerivedProperty: [DerivedProperty]] = [:]
    for (entity, attribute, derivation) in derivations
    where problem(of: derivation, for: attribute, in: entity) == nil {
      reads[DerivedProperty(entity.number, attribute.number)] = inputs(of: derivation, in: entity)
    }
    var waiting: [DerivedProperty: Int] = [:]
    var readers: [DerivedProperty: [DerivedProperty]] = [:]
    for (property, inputs) in reads {
      let derived = inputs.filter { reads[$0] != nil }
      waiting[property] = derived.count
      for input in derived { readers[input, default: []].append(property) }
    }
    // In an order that depends on numbers alone.
    var ready = waiting.filter { $0.value == 0 }.map(\.key).sorted()
    var place = 0
    while place < ready.count {
      var freed: [DerivedProperty] = []
      for reader in readers[ready[place]] ?? [] {
        waiting[reader, default: 0] -= 1
        if waiting[reader] == 0 { freed.append(reader) }
      }
      ready += freed.sorted()
      place += 1
    }
    return (ready, waiting.filter { $0.value > 0 }.map(\.key).sorted())
  }

  /// The name of an attribute that is derived from this one; nil if there is none. O(attributes).
  package func derivedName(from property: PropertyNumber, of number: EntityNumber) -> String? {
    let wanted = DerivedProperty(number, property)
    return derivations.first { inputs(of: $0.derivation, in: $0.entity).contains(wanted) }
      .map { "\($0.entity.name).\($0.attribute.name)" }
  }

  /// What is impossible about the derived attributes: names the attribute, and a circle.
  package var derivationConflicts: [SchemaConflict] {
    var result = derivations.compactMap { entity, attribute, derivation in
      problem(of: derivation, for: attribute, in: entity).map {
        SchemaConflict(.invalidDerivation, entity.name, attribute.name, $0)
      }
    }
    if let first = derivedProperties.cyclic.first, let entity = entity(numbered: first.entity) {
      result.append(
        SchemaConflict(
          .invalidDerivation, entity.name, entity.propertyName(first.property),
          "it is derived from itself: " + circleText(from: first)))
    }
    return result
  }

  /// The way from a derived attribute in a circle, or behind one, around it: `A.x, B.y, A.x`.
  private func circleText(from first: DerivedProperty) -> String {
    let cyclic = Set(derivedProperties.cyclic)
    var path: [DerivedProperty] = []
    var next: DerivedProperty? = first
    while let property = next, !path.contains(property) {
      path.append(property)
      next = nil
      guard let entity = entity(numbered: property.entity),
        let derivation = entity.attribute(numbered: property.property)?.derivation
      else { break }
      next = inputs(of: derivation, in: entity).first(where: cyclic.contains)
    }
    let start = next.flatMap { path.firstIndex(of: $0) } ?? 0
    return (path[start...] + (next.map { [$0] } ?? [])).map { property in
      let entity = entity(numbered: property.entity)
      return "\(entity?.name ?? "").\(entity?.propertyName(property.property) ?? "")"
    }.joined(separator: ", ")
  }
}

extension Entity {
  /// Whether an attribute is derived. O(attributes).
  package var hasDerivations: Bool {
    attributes.contains { $0.derivation != nil && !$0.isRemoved }
  }

  /// The numbers of the derived attributes; empty, without allocating, where there are none.
  package var derivedAttributes: [PropertyNumber] {
    hasDerivations
      ? attributes.filter { $0.derivation != nil && !$0.isRemoved }.map(\.number) : []
  }

  /// Why an attribute cannot be derived so from properties of its own object; nil if it can.
  fileprivate func problem(of derivation: Derivation, for attribute: Attribute) -> String? {
    if derivation.inputs.isEmpty { return "it is derived from no property" }
    for input in derivation.inputs where input.number == attribute.number {
      return "it is derived from itself: \(name).\(attribute.name)"
    }
    if derivation.kind == .normalized {
      guard derivation.inputs.count == 1,
        let text = self.attribute(numbered: derivation.inputs[0].number), !text.isRemoved
      else { return "it is the normalized form of an attribute that is not there, or was removed" }
      guard text.type == .string else {
        return "a text is normalized, and \(name).\(text.name) is of type \(text.type)"
      }
      guard attribute.type == .string || attribute.type == .any else {
        return "a normalized text is of type string, not \(attribute.type)"
      }
      return text.isOptional && attribute.isBare
        ? "\(name).\(text.name) may be null; declare it optional, too, or with a default" : nil
    }
    if derivation.version < 1 { return "the versions of a function begin with 1" }
    let numbers = Set(properties.lazy.filter { !$0.isRemoved }.map(\.number))
    return derivation.inputs.allSatisfy { numbers.contains($0.number) }
      ? nil : "its function reads a property that is not there, or was removed"
  }
}

extension Attribute {
  /// Whether every object needs a value of its own.
  fileprivate var isBare: Bool { !isOptional && (defaultValue?.isNull ?? true) }
}

extension AttributeType {
  /// Whether values of this type can be those of a derived attribute of another; whole numbers of
  /// any size if `isWhole`, since the rules of that type are checked.
  fileprivate func fits(_ other: AttributeType, isWhole: Bool) -> Bool {
    widens(to: other) || isWhole && self == .int64 && other.widens(to: .int64)
  }
}

extension Aggregate.Function {
  /// The type of its result over values of a type; nil if it takes no such values.
  package func resultType(of type: AttributeType) -> AttributeType? {
    let isWhole = type.tag == .int
    let isNumber = isWhole || type == .double || type == .decimal
    return switch self {
    case .count: .int64
    case .sum: isWhole ? .int64 : isNumber ? type : nil
    case .average: isWhole ? .double : isNumber ? type : nil
    case .minimum, .maximum: isNumber || type == .date || type == .day ? type : nil
    }
  }
}

extension EntityChange {
  /// Whether it defines a derived attribute.
  package var hasDerivations: Bool { definition.hasDerivations }
}
