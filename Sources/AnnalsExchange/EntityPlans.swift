import Annals
import AnnalsModel

/// The plans of the entities in the lines, by the bytes of their names.
///
/// Adding an entity or attribute costs the same however many there are.
struct EntityPlans {
  private var byName: [ContiguousArray<UInt8>: EntityPlan] = [:]
  private var byNumber: [EntityNumber: EntityPlan] = [:]
  private var last: (name: ContiguousArray<UInt8>, plan: EntityPlan)?
  /// The indices of the schema's entities by name, as of when this index was made.
  private var places: NameIndex?
  private var searches = 0
  /// The schema of the store that the lines come from; nil if they have none.
  private let exported: Schema?
  /// How many names are searched for one by one before an index of all names is made.
  private static let mostSearches = 16

  /// No plans yet. `exported` is the schema of the lines, if they have one.
  init(exported: Schema? = nil) {
    self.exported = exported
  }

  /// The plan of the entity of this name; nil if the schema has none.
  mutating func plan(named name: ContiguousArray<UInt8>, in schema: Schema) -> EntityPlan? {
    if let last, last.name == name { return last.plan }
    guard let plan = byName[name] ?? find(String(decoding: name, as: UTF8.self), in: schema) else {
      return nil
    }
    byName[name] = plan
    last = (name, plan)
    return plan
  }

  /// The plan of the entity of this number; nil if the schema has none.
  mutating func plan(numbered number: EntityNumber, in schema: Schema) -> EntityPlan? {
    if let plan = byNumber[number] { return plan }
    let plan = schema.entity(numbered: number).map { EntityPlan($0, exported: exported($0)) }
    byNumber[number] = plan
    return plan
  }

  /// The entity of the same name in the lines.
  private func exported(_ entity: Entity) -> Entity? {
    guard let exported else { return nil }
    // Most lines go where they come from, or into a new store: the numbers are the same.
    if let found = exported.entity(numbered: entity.number), !found.isRemoved,
      found.name.hasSameBytes(as: entity.name)
    {
      return found
    }
    return exported.entity(named: entity.name)
  }

  /// Adds an entity that was added to the schema.
  mutating func add(_ entity: Entity) -> EntityPlan {
    let plan = EntityPlan(entity)
    byName[ContiguousArray(entity.name.utf8)] = plan
    byNumber[entity.number] = plan
    return plan
  }

  private mutating func find(_ name: String, in schema: Schema) -> EntityPlan? {
    searches += 1
    guard searches > EntityPlans.mostSearches else {
      return schema.entity(named: name).flatMap { plan(numbered: $0.number, in: schema) }
    }
    if places == nil {
      places = NameIndex(schema.entities.lazy.map { $0.isRemoved ? "" : $0.name })
    }
    guard !name.isEmpty, let place = places?[name], schema.entities.indices.contains(place) else {
      return nil
    }
    return plan(numbered: schema.entities[place].number, in: schema)
  }
}
