import Annals
import AnnalsModel
import AnnalsTestSupport

extension ModelRun {
  /// Changes the schema at random: adds, widens, renames or removes.
  func change() throws {
    let entities = newest.entities
    guard let entity = entities.randomElement(using: &random) else { return }
    nameCount += 1
    let name = "new\(nameCount)"
    switch random.number(0...11) {
    case 10: try addIndex(name, to: entity)
    case 11: try random.chance(50) ? addBoxIndex(name, to: entity) : addIndex(name, to: entity)
    case 0: try add(Entity(name, attributes: [Attribute("key", .string, isUnique: true)]), entity)
    case 1, 2: try add(newAttribute(name), to: entity)
    case 3:
      let target = entities.randomElement(using: &random) ?? entity
      try changeSchema("add relationship \(name) to \(entity.name)") { store in
        try store.require(
          Schema(
            entities: [
              Entity(
                entity.name,
                relationships: [
                  Relationship(
                    name, to: target.name, isToMany: self.random.chance(50), onDelete: .keep)
                ]
              ), Entity(target.name),
            ].uniqued()))
      }
    case 4, 5: try widen(entity)
    case 6:
      try changeSchema("rename \(entity.name) to \(name)") {
        try $0.edit(.renameEntity(entity.name, to: name))
      }
    case 7:
      guard let old = liveProperties(of: entity).randomElement(using: &random) else { return }
      try changeSchema("rename \(entity.name).\(old) to \(name)") {
        try $0.edit(.renameProperty(entity: entity.name, old, to: name))
      }
    case 8:
      let properties = liveProperties(of: entity)
      guard properties.count > 4, let old = properties.randomElement(using: &random),
        entity.attribute(named: old)?.isUnique != true || random.chance(20)
      else { return }
      try changeSchema("remove \(entity.name).\(old)") {
        try $0.edit(.removeProperty(entity: entity.name, old))
      }
    default: try remove(entity)
    }
  }

  /// Makes a change of the schema and takes over what came of it; `fill` mends the values that the
  /// change writes.
  func changeSchema(
    _ text: String = "schema", fill: (inout NaiveState) -> Void = { _ in },
    _ body: (Store) throws -> Void
  ) throws {
    steps.append(text)
    try store.refresh()
    try body(store)
    let schema = store.schema
    guard schema != newest.schema else { return }
    var state = newest
    fill(&state)
    state.schema = schema
    state.dropRemoved()
    states.append(state)
    times.append(store.snapshot().moment)
    steps.append("  transaction \(head)")
    try state.compare(with: store.snapshot())
  }

  private func liveProperties(of entity: Entity) -> [String] {
    entity.attributes.filter { !$0.isRemoved }.map(\.name)
      + entity.relationships.filter { !$0.isRemoved }.map(\.name)
  }

  private func newAttribute(_ name: String) -> Attribute {
    let type = AttributeType.allCases.randomElement(using: &random) ?? .any
    guard random.chance(50) else { return Attribute(name, type) }
    var value = values.value(of: type)
    // A default is part of the schema, and short.
    while value.largeBytes != nil { value = values.value(of: type) }
    return Attribute(name, type, isOptional: random.chance(30), default: value)
  }

  private func add(_ attribute: Attribute, to entity: Entity) throws {
    try changeSchema("add \(attribute) to \(entity.name)") {
      try $0.require(Schema(entities: [Entity(entity.name, attributes: [attribute])]))
    }
  }

  /// An ordered index of one to three attributes.
  private func addIndex(_ name: String, to entity: Entity) throws {
    let attributes = entity.attributes.filter { !$0.isRemoved }.shuffled(using: &random)
      .prefix(random.number(1...3))
    let elements = attributes.map {
      IndexElement($0.name, isDescending: random.chance(50), nullsFirst: random.chance(50))
    }
    guard !elements.isEmpty else { return }
    try changeSchema("index \(entity.name) by \(elements)") {
      try $0.require(
        Schema(entities: [
          Entity(
            entity.name, attributes: Array(attributes),
            indexes: [IndexDescription(name, elements)])
        ]))
    }
  }

  /// A box index of two to four attributes, now and then of those objects alone whose first number
  /// is above 0.
  private func addBoxIndex(_ name: String, to entity: Entity) throws {
    let attributes = entity.attributes.filter { !$0.isRemoved && IndexKind.box.covers($0.type) }
      .shuffled(using: &random).prefix(random.number(2...4))
    guard attributes.count > 1 else { return }
    var index = IndexDescription(name, box: attributes.map(\.name))
    if attributes[0].type == .int64 {
      index = IndexDescription(
        name, box: attributes.map(\.name),
        where: .compare(PropertyPath(attributes[0].name), .greater, .int(0)))
    }
    try changeSchema("box index \(entity.name) by \(attributes.map(\.name))") {
      try $0.require(
        Schema(entities: [Entity(entity.name, attributes: Array(attributes), indexes: [index])]))
    }
    try compareBoxes()
  }

  private func add(_ entity: Entity, _ other: Entity) throws {
    var entity = entity
    entity.relationships = [
      Relationship("other", to: other.name, onDelete: .keep),
      Relationship(
        "others", to: other.name, isToMany: true, isOrdered: random.chance(50), onDelete: .keep),
    ]
    entity.attributes.append(newAttribute("value"))
    try changeSchema("add \(entity.name)") {
      try $0.require(Schema(entities: [entity, Entity(other.name)]))
    }
  }

  private func widen(_ entity: Entity) throws {
    guard
      var attribute = entity.attributes.filter({ !$0.isRemoved }).randomElement(using: &random)
    else { return }
    let stored = attribute
    if random.chance(50) {
      attribute.type = AttributeType.allCases.last { stored.type.widens(to: $0) } ?? .any
      if random.chance(50) {
        attribute.type =
          AttributeType.allCases.first {
            $0 != stored.type && stored.type.widens(to: $0)
          } ?? .any
      }
    } else {
      attribute.isOptional = true
    }
    let number = stored.number
    let fill: (inout NaiveState) -> Void = { state in
      guard attribute.isOptional, !stored.isOptional, let value = stored.defaultValue else {
        return
      }
      for object in state.objects(of: entity.number) where state.rows[object]?[number] == nil {
        state.set(object, number, to: value)
      }
    }
    // What a box index is over stays a number or a date.
    let isRefused =
      !IndexKind.box.covers(attribute.type)
      && entity.indexes.contains { $0.isBox && $0.elements.contains { $0.property == number } }
    do {
      try changeSchema(
        "widen \(entity.name).\(stored.name) to \(attribute.type) \(attribute.isOptional)",
        fill: fill
      ) {
        try $0.require(Schema(entities: [Entity(entity.name, attributes: [attribute])]))
      }
      try demand(!isRefused, "an attribute of a box index was widened to \(attribute.type)")
    } catch let error as AnnalsError {
      try demand(isRefused && error.code == .invalidSchema, "widening failed: \(error)")
    }
  }

  private func remove(_ entity: Entity) throws {
    guard newest.entities.count > 2 else { return }
    let isInUse = newest.entities.contains { other in
      other.number != entity.number
        && other.relationships.contains { !$0.isRemoved && $0.destination == entity.number }
    }
    do {
      try changeSchema("remove \(entity.name)") { try $0.edit(.removeEntity(entity.name)) }
      try demand(!isInUse, "an entity was removed that is in use")
    } catch let error as AnnalsError {
      try demand(isInUse && error.code == .invalidSchema, "removing failed: \(error)")
    }
  }
}

extension [Entity] {
  /// The entities without those that share their name with an earlier one.
  fileprivate func uniqued() -> [Entity] {
    var names: Set<String> = []
    return filter { names.insert($0.name).inserted }
  }
}
