// Checks of a schema by itself, before it is merged into a store's.

extension Schema {
  /// Everything that is wrong with this schema: names, defaults, rules, indexes, destinations.
  ///
  /// The entities of `store`, the schema that it will be merged into, are known destinations.
  package func conflicts(besides store: Schema = Schema()) -> [SchemaConflict] {
    var result: [SchemaConflict] = []
    let live = entities.filter { !$0.isRemoved }
    DefinitionProbe.count(entities.count + store.entities.count)
    // Arrays: the first use of a lazy collection's type searches all conformances of the process.
    let stored = NameIndex(store.liveEntities.map(\.name))
    let names = NameIndex(live.map(\.name))
    for (position, entity) in live.enumerated() {
      if let reason = entity.name.entityNameProblem {
        result.append(SchemaConflict(.invalidName, entity.name, nil, reason))
      }
      if let first = names[entity.name], first < position {
        result.append(
          SchemaConflict(.duplicateName, entity.name, nil, "there are two entities of this name"))
      }
      result += entity.conflicts { name in
        names[name] != nil || stored[name] != nil
      } destinationName: { relationship in
        self.destinationName(of: relationship)
      }
    }
    return result + inverseConflicts(besides: store)
  }

  /// What is wrong with the names of inverses: each is a property of its destination.
  private func inverseConflicts(besides store: Schema) -> [SchemaConflict] {
    var result: [SchemaConflict] = []
    var taken: Set<[ContiguousArray<UInt8>]> = []
    for entity in entities where !entity.isRemoved {
      for relationship in entity.relationships where !relationship.isRemoved {
        guard let name = relationship.inverseName else { continue }
        let destination = destinationName(of: relationship)
        let isProperty = [self, store].contains { schema in
          schema.entity(named: destination)?.propertyNumber(named: name) != nil
        }
        let place = [ContiguousArray(destination.utf8), ContiguousArray(name.utf8)]
        let reason: String? =
          if let problem = name.nameProblem {
            "the inverse `\(name)`: \(problem)"
          } else if isProperty {
            "\(destination) has a property `\(name)`; name the inverse otherwise"
          } else if !taken.insert(place).inserted {
            "\(destination) has another inverse `\(name)`; name this one otherwise"
          } else {
            nil
          }
        if let reason {
          result.append(
            SchemaConflict(.duplicateName, entity.name, relationship.name, reason))
        }
      }
    }
    return result
  }

  /// The name of the relationship's destination, which may be given by name or by number.
  package func destinationName(of relationship: Relationship) -> String {
    guard relationship.destinationName.isEmpty else { return relationship.destinationName }
    return entity(numbered: relationship.destination)?.name ?? ""
  }
}

extension Entity {
  /// The name of the element's property, which may be given by name or by number.
  package func propertyName(of element: IndexElement) -> String {
    guard element.propertyName.isEmpty else { return element.propertyName }
    return propertyName(element.property) ?? ""
  }

  fileprivate func conflicts(
    isEntity: (String) -> Bool, destinationName: (Relationship) -> String
  ) -> [SchemaConflict] {
    let places = EntityNames(self)
    let attributes = attributes.filter { !$0.isRemoved }
    let relationships = relationships.filter { !$0.isRemoved }
    var result = nameConflicts(attributes.map(\.name) + relationships.map(\.name), "properties")
    var uniqueNames = NameIndex([])
    for index in indexes where index.isUnique {
      for element in index.elements { uniqueNames.insert(propertyName(of: element), at: 0) }
    }
    for attribute in attributes {
      result += attribute.conflicts(
        of: name, isInUniqueIndex: uniqueNames[attribute.name] != nil)
    }
    for relationship in relationships {
      if relationship.destinationName.isEmpty, relationship.destination == 0 {
        let reason =
          "it does not say to which entity it leads: make it a Reference<…>? or [Reference<…>], or "
          + "an ObjectID? or [ObjectID] whose property is given `to:`"
        result.append(SchemaConflict(.incompatibleRelationship, name, relationship.name, reason))
        continue
      }
      if relationship.isToMany, !relationship.isOptional {
        let reason = "a to-many relationship cannot be required; it may lead to no object"
        result.append(SchemaConflict(.incompatibleRelationship, name, relationship.name, reason))
      }
      if relationship.isRequired, relationship.deleteRule == .nullify {
        let reason =
          "a required relationship cannot be cleared: its delete rule is deny, cascade or keep"
        result.append(SchemaConflict(.incompatibleRelationship, name, relationship.name, reason))
      }
      if let reason = relationship.countProblem {
        result.append(SchemaConflict(.incompatibleRelationship, name, relationship.name, reason))
      }
      let destination = destinationName(relationship)
      if !isEntity(destination) {
        result.append(
          SchemaConflict(
            .unknownName, name, relationship.name, "there is no entity \"\(destination)\""))
      }
    }
    result += nameConflicts(indexes.map(\.name), "indexes")
    for index in indexes { result += conflicts(of: index, places) }
    if let displayName, places.attributes[displayName] == nil {
      result.append(
        SchemaConflict(.unknownName, name, displayName, "the display name is not an attribute"))
    }
    return result
  }

  private func nameConflicts(_ names: [String], _ what: String) -> [SchemaConflict] {
    var result: [SchemaConflict] = []
    let places = NameIndex(names)
    for (position, propertyName) in names.enumerated() {
      if let reason = propertyName.nameProblem {
        result.append(SchemaConflict(.invalidName, name, propertyName, reason))
      }
      if let first = places[propertyName], first < position {
        let reason = "there are two \(what) of this name"
        result.append(SchemaConflict(.duplicateName, name, propertyName, reason))
      }
    }
    return result
  }

  private func conflicts(
    of index: IndexDescription, _ places: EntityNames
  ) -> [SchemaConflict] {
    var result: [SchemaConflict] = []
    func report(_ kind: SchemaConflict.Kind, _ reason: String) {
      result.append(SchemaConflict(kind, name, index.name, reason))
    }
    if index.elements.isEmpty { report(.invalidIndex, "an index needs at least one property") }
    if index.collation != 0 { report(.invalidIndex, "there is no collation \(index.collation)") }
    let names = index.elements.map { propertyName(of: $0) }
    let firsts = NameIndex(names)
    for (position, element) in names.enumerated() {
      if let first = firsts[element], first < position {
        report(.invalidIndex, "\"\(element)\" stands in it twice")
      }
      if let place = places.relationships[element] {
        if relationships[place].isToMany {
          report(.invalidIndex, "\"\(element)\" is to-many")
        }
      } else if places.attributes[element] == nil {
        report(.unknownName, "there is no property \"\(element)\"")
      }
    }
    if let problem = index.kindProblem { report(.invalidIndex, problem) }
    for element in names {
      let type = places.attributes[element].map { attributes[$0].type }
      if type == nil, places.relationships[element] == nil { continue }
      if let misfit = index.misfit(of: type) {
        report(.invalidIndex, "\"\(element)\" is \(misfit)")
      }
    }
    if let problem = index.conditionProblem { report(.invalidIndex, problem) }
    for test in index.tests {
      let name = propertyName(of: test)
      guard let place = places.attributes[name] else {
        report(.unknownName, "there is no attribute \"\(name)\"")
        continue
      }
      if let problem = test.problem {
        report(.invalidIndex, "\"\(name)\": \(problem)")
      } else if !attributes[place].type.isComparable(with: test.value) {
        let reason = "does not compare with \(test.value.conditionText)"
        report(.invalidIndex, "\"\(name)\" is of type \(attributes[place].type): it \(reason)")
      }
    }
    return result
  }
}

extension Attribute {
  /// What is wrong with the default and the rules.
  func conflicts(of entity: String, isInUniqueIndex: Bool = false) -> [SchemaConflict] {
    var result: [SchemaConflict] = []
    for reason in validation.problems(for: type) {
      result.append(SchemaConflict(.invalidValidation, entity, name, reason))
    }
    if let value = defaultValue, !value.isNull {
      if case .large = value {
        result.append(SchemaConflict(.invalidDefault, entity, name, "the default is not a value"))
      } else if let rule = violation(of: value, isUnique: isInUniqueIndex) {
        let reason = "the default is refused: \(rule.sentence(about: value))"
        result.append(SchemaConflict(.invalidDefault, entity, name, reason))
      } else if (value.byteCount ?? 0) > SchemaLimits.uniqueValueLength {
        let reason = "a default is at most \(SchemaLimits.uniqueValueLength) bytes long"
        result.append(SchemaConflict(.invalidDefault, entity, name, reason))
      }
    }
    return result
  }
}

extension Validation {
  /// What is wrong with the rules themselves.
  fileprivate func problems(for type: AttributeType) -> [String] {
    var result: [String] = []
    var plain = Attribute("", type)
    plain.isUnique = false
    for value in [minimum, maximum].compactMap({ $0 }) {
      if ![.int, .double, .date, .decimal, .day].contains(type.tag) {
        result.append("a minimum or maximum suits numbers, dates and days only")
      } else if value.isNull || plain.violation(of: value) != nil {
        result.append("the bound \(value.shortDescription) is not of type \(type)")
      }
    }
    if let minimum, let maximum, Validation(maximum: maximum).violation(of: minimum) != nil {
      result.append("the minimum is greater than the maximum")
    }
    if minimumLength != nil || maximumLength != nil {
      if type.tag?.isBytes != true { result.append("a length suits text and data only") }
      if (minimumLength ?? 0) < 0 || (maximumLength ?? 0) < 0 {
        result.append("a length cannot be negative")
      }
      if let minimumLength, let maximumLength, minimumLength > maximumLength {
        result.append("the minimum length is greater than the maximum length")
      }
    }
    guard oneOf.count <= SchemaLimits.allowedValues else {
      return result + ["it lists \(oneOf.count) values; the most is \(SchemaLimits.allowedValues)"]
    }
    for value in oneOf where value.isNull || plain.violation(of: value) != nil {
      result.append("the allowed value \(value.shortDescription) is not of type \(type)")
    }
    return result
  }
}

extension String {
  /// What makes this invalid as the name of an attribute, relationship or index; nil if nothing
  /// does.
  package var nameProblem: String? {
    if isEmpty { return "a name cannot be empty" }
    if utf8.count > SchemaLimits.nameLength {
      return "a name is at most \(SchemaLimits.nameLength) bytes long"
    }
    if utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
      return "a name cannot have control characters"
    }
    return nil
  }

  /// What makes this invalid as the name of an entity; nil if nothing does.
  package var entityNameProblem: String? {
    // `Entity/KEY` and `Entity#ROW` name objects in commands and in output.
    if utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "#") }) {
      return "the name of an entity cannot have \"/\" or \"#\""
    }
    return nameProblem
  }
}
