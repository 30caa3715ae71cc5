import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

/// What an erasure erases besides what is asked for: derived values tell of what they are derived
/// from, in every transaction that changed them.
///
/// Goes by every derivation that the file's schemas ever had, and by every object that was ever
/// derived from what is erased. Costs nothing where nothing is derived from it; else the base, and
/// the history once for each link of derivations.
struct ErasureReach {
  /// A derivation that a schema of the file has or had.
  private struct Rule: Hashable {
    let derived: DerivedProperty
    let derivation: Derivation
    /// The entity of the objects that it reads.
    let objects: EntityNumber

    var isInverse: Bool { derivation.sourceEntity != 0 }
    /// What it reads of the derived object itself.
    var own: [PropertyNumber] {
      derivation.aggregate == nil
        ? derivation.inputs.map(\.number) : isInverse ? [] : [derivation.source]
    }
    /// What it reads of other objects.
    var others: [PropertyNumber] {
      guard derivation.aggregate != nil else { return [] }
      return derivation.inputs.map(\.number) + (isInverse ? [derivation.source] : [])
    }
  }

  private let version: StoreVersion
  private var rules: Set<Rule> = []
  /// What is erased; of objects that are erased as a whole, no property is named.
  private var found: [ObjectReference: Set<PropertyNumber>] = [:]

  init(_ version: StoreVersion) {
    self.version = version
    note(version.state.schema.entities, version.state.schema)
    // The first is the schema at the base.
    var schema = Schema()
    for step in version.view.schemaHistory {
      schema.apply(step.change)
      note(step.change.map(\.definition), schema)
    }
  }

  private mutating func note(_ entities: [Entity], _ schema: Schema) {
    for entity in entities {
      for attribute in entity.attributes {
        guard let derivation = attribute.derivation else { continue }
        let owner =
          derivation.sourceEntity == 0
          ? schema.entity(numbered: entity.number)
          : schema.entity(numbered: derivation.sourceEntity)
        let relationship = owner?.relationships.first { $0.number == derivation.source }
        let objects =
          derivation.aggregate == nil
          ? entity.number
          : derivation.sourceEntity == 0 ? relationship?.destination : derivation.sourceEntity
        rules.insert(
          Rule(
            derived: DerivedProperty(entity.number, attribute.number), derivation: derivation,
            objects: objects ?? 0))
      }
    }
  }

  /// The erasure with all that is derived from what it names.
  mutating func extended(_ erasure: Erasure) throws(AnnalsError) -> Erasure {
    if rules.isEmpty { return erasure }
    var new: [(object: ObjectReference, properties: Set<PropertyNumber>)] = []
    for target in erasure.targets {
      found[target.object] = Set(target.properties)
      new.append((target.object, Set(target.properties)))
    }
    while !new.isEmpty {
      var next: [(object: ObjectReference, properties: Set<PropertyNumber>)] = []
      var searches: [Rule: Set<ObjectReference>] = [:]
      for (object, properties) in new {
        for rule in rules {
          if rule.derived.entity == object.entity, rule.own.contains(where: properties.contains) {
            add(rule, of: object, to: &next)
          }
          guard rule.objects == object.entity, !rule.others.isEmpty else { continue }
          if properties.isEmpty || rule.others.contains(where: properties.contains) {
            searches[rule, default: []].insert(object)
          }
        }
      }
      try search(searches, &next)
      new = next
    }
    let targets = found.map { Erasure.Target($0.key, properties: Array($0.value)) }
    return Erasure(targets, reason: erasure.reason)
  }

  /// Adds a derived value, unless it is erased already.
  private mutating func add(
    _ rule: Rule, of object: ObjectReference,
    to next: inout [(object: ObjectReference, properties: Set<PropertyNumber>)]
  ) {
    let property = rule.derived.property
    if let known = found[object], known.isEmpty || known.contains(property) { return }
    found[object, default: []].insert(property)
    next.append((object, [property]))
  }

  /// Finds the objects that ever had a value derived from these, in the base and in history.
  private mutating func search(
    _ searches: [Rule: Set<ObjectReference>],
    _ next: inout [(object: ObjectReference, properties: Set<PropertyNumber>)]
  ) throws(AnnalsError) {
    if searches.isEmpty { return }
    var owners: [(Rule, ObjectReference)] = []
    let base = try version.state(at: version.view.base)
    for (rule, objects) in searches {
      let source = rule.isInverse ? rule.objects : rule.derived.entity
      guard base.schema.entity(numbered: source) != nil else { continue }
      var rows = base.rows(of: source)
      try AnnalsError.translating {
        while let row = try rows.next() {
          let object = ObjectReference(entity: source, row: row)
          if rule.isInverse, !objects.contains(object) { continue }
          let targets = try base.value(source, row, rule.derivation.source).targets
          if rule.isInverse {
            owners += targets.map { (rule, $0) }
          } else if targets.contains(where: objects.contains) {
            owners.append((rule, object))
          }
        }
      }
    }
    let history = History(
      version: version, after: version.view.base, through: version.head.number,
      condition: .always)
    try AnnalsError.translating {
      try history.forEachChange { change in
        let entry = change.entry
        let object = ObjectReference(entity: entry.entity, row: entry.row)
        for (rule, objects) in searches {
          let source = rule.isInverse ? rule.objects : rule.derived.entity
          guard entry.entity == source, !rule.isInverse || objects.contains(object) else {
            continue
          }
          let targets = change.targets(of: rule.derivation.source)
          if rule.isInverse {
            owners += targets.map { (rule, $0) }
          } else if targets.contains(where: objects.contains) {
            owners.append((rule, object))
          }
        }
      }
    }
    for (rule, owner) in owners where owner.entity == rule.derived.entity {
      add(rule, of: owner, to: &next)
    }
  }
}

extension Change {
  /// The objects that a relationship led to before the change or after it, as far as it tells.
  fileprivate func targets(of property: PropertyNumber) -> [ObjectReference] {
    var result: [ObjectReference] = []
    for place in entry.propertyRange where page.batch.properties[place].property == property {
      let difference = page.batch.properties[place]
      page.batch.arena.withUnsafeBytes { arena in
        if difference.isEdits {
          result += RelationshipEdits.list(difference.after, in: arena).map(\.object)
        } else {
          result += difference.before.value(in: arena).targets
          result += difference.after.value(in: arena).targets
        }
      }
    }
    return result
  }
}
