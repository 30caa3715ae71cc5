import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState

/// A state to query for objects of a record type. Opaque; public only as a result of a requirement
/// of `ObjectSource`.
public struct RecordQuery<R: Record> {
  let reader: StateReader
  let binding: RecordBinding<R>
  /// The schema in which the record type's names are resolved; the state's own may be older.
  let newest: Schema

  /// The rows of the objects that a fetch finds, in its order.
  func rows(_ fetch: Fetch<R>) throws(AnnalsError) -> [Int64] {
    guard reader.state.count(of: binding.entity) > 0 else {
      try requireOwn(fetch)
      return []
    }
    if fetch.hasRecordWork { return try testedObjects(fetch).map(\.objectID.row) }
    if let rows = try referrers(fetch) { return rows }
    return try reader.rows(try plannedQuery(fetch))
  }

  /// How many objects a fetch finds.
  func count(_ fetch: Fetch<R>) throws(AnnalsError) -> Int {
    if !fetch.tests.isEmpty {
      var unsorted = fetch
      unsorted.recordOrder = []
      unsorted.sortKeys = []
      return try rows(unsorted).count
    }
    let query = try plannedQuery(fetch)
    return reader.state.count(of: binding.entity) > 0 ? try reader.count(query) : 0
  }

  /// What of the fetch needs records; nil for nothing.
  func work(_ fetch: Fetch<R>) -> RecordWork? {
    fetch.hasRecordWork ? FetchedRecords(fetch, self).work : nil
  }

  /// The part of the fetch that needs no records, with the state's own names.
  package func plannedQuery(_ fetch: Fetch<R>) throws(AnnalsError) -> RowQuery {
    try requireOwn(fetch)
    var query = RowQuery(
      entity: binding.entity, areTiesDescending: fetch.areTiesDescending,
      limit: fetch.maximumCount, offset: fetch.skippedCount, indexes: fetch.indexes)
    for sortKey in fetch.sortKeys {
      // A property that did not exist then distinguishes no objects.
      guard let path = try path(sortKey.key.path) else { continue }
      var key = sortKey.key
      key.path = path
      query.keys.append(key)
    }
    if let wanted = fetch.condition { query.condition = try resolved(wanted.condition) }
    return query
  }

  private func requireOwn(_ fetch: Fetch<R>) throws(AnnalsError) {
    guard let other = fetch.condition?.stores.first(where: { $0 != reader.store }) else { return }
    throw AnnalsError(
      .otherStore,
      "the condition names an object of store \(other), and this is store \(reader.store)")
  }

  /// The records of the rows.
  package func objects(_ rows: [Int64]) throws(AnnalsError) -> [Object<R>] {
    var records = binding.reader(
      of: reader.state, store: reader.store, largeValues: reader.largeValues,
      rows: RowSequence(rows))
    return try binding.readAll(&records, count: rows.count)
  }

  func id(_ row: Int64) -> ObjectID {
    ObjectID(store: reader.store, entity: binding.entity, row: row)
  }
}

// Names are resolved in the newest schema.
extension RecordQuery {
  /// Where names of a path start: the properties that a record type lists, and its entity in the
  /// newest schema.
  private struct Scope {
    let properties: ContiguousArray<PropertyDefinition>
    let entity: Entity?
  }

  /// The scope of the record type's own names.
  private var ownScope: Scope {
    Scope(
      properties: binding.record.properties, entity: newest.entity(numbered: binding.entity))
  }

  /// The condition with the state's own names. A property that did not exist then has no value.
  func resolved(_ condition: Condition) throws(AnnalsError) -> Condition {
    try resolved(condition, ownScope)
  }

  private func resolved(
    _ condition: Condition, _ scope: Scope
  ) throws(AnnalsError) -> Condition {
    func path(_ old: PropertyPath) throws(AnnalsError) -> PropertyPath? {
      try self.path(old, scope)
    }
    try condition.requireUsableDepth()
    switch condition.form {
    case .constant: return condition
    case .isNil(let old): return try path(old).map { .isNil($0) } ?? .always
    case .comparison(let old, let comparison, let value):
      if let path = try path(old) { return .compare(path, comparison, value) }
      // The sum of what did not exist then is that of nothing.
      if old.function == .sum { return value.isMet(comparison, by: 0) ? .always : .never }
      return comparison == .notEqual ? .always : .never
    case .isIn(let old, let values):
      if let path = try path(old) { return .isIn(path, values) }
      return values.contains { $0.isNull } ? .always : .never
    case .isBetween(let old, let low, let high):
      return try path(old).map { .isBetween($0, low, high) } ?? .never
    case .text(let old, let test):
      return try path(old).map { .text($0, test.match, test.text, test.options) } ?? .never
    case .contains(let old, let object):
      return try path(old).map { .contains($0, object) } ?? .never
    case .some(let old, let inner):
      guard let path = try path(old) else { return .never }
      return .any(path, try resolved(inner, target(of: old, scope)))
    case .count(let old, let comparison, let count):
      if let path = try path(old) { return .count(path, comparison, Int(count)) }
      // What did not exist then led to nothing.
      return comparison.isTrue(0, count) ? .always : .never
    case .all(let parts): return .all(try resolved(parts, scope))
    case .any(let parts): return .any(try resolved(parts, scope))
    case .not(let part): return try resolved(part, scope).negated
    }
  }

  private func resolved(
    _ parts: [Condition], _ scope: Scope
  ) throws(AnnalsError) -> [Condition] {
    var result: [Condition] = []
    for part in parts { result.append(try resolved(part, scope)) }
    return result
  }

  /// The scope of names behind a path of relationships.
  private func target(of path: PropertyPath, _ scope: Scope) -> Scope {
    var scope = scope
    for name in path.names {
      let property = scope.properties.first { $0.name.hasSameBytes(as: name) }
      let relationship = scope.entity?.relationship(named: name)
      let inverse = relationship == nil ? scope.entity.flatMap { source(of: name, $0) } : nil
      scope = Scope(
        properties: property?.relationship?.properties() ?? [],
        entity: inverse?.source
          ?? relationship.flatMap { newest.entity(numbered: $0.destination) })
    }
    return scope
  }

  /// The relationship behind the name of an inverse, and its entity.
  private func source(
    of name: String, _ entity: Entity
  ) -> (source: Entity, relationship: Relationship)? {
    newest.inverse(named: name, of: entity.number)
  }

  /// The path with the state's own names, and with what records read in place of missing values;
  /// nil if a part of it did not exist then and reads as nil.
  package func path(_ path: PropertyPath) throws(AnnalsError) -> PropertyPath? {
    try self.path(path, ownScope)
  }

  private func path(
    _ path: PropertyPath, _ scope: Scope
  ) throws(AnnalsError) -> PropertyPath? {
    let past = reader.state.schema
    var (properties, entity) = (scope.properties, scope.entity)
    var names: [String] = []
    var isSeveral = false
    for (place, name) in path.names.enumerated() {
      guard let now = entity else { return path }
      let property = properties.first { $0.name.hasSameBytes(as: name) }
      let isLast = place == path.names.count - 1
      if isLast, let property, let then = past.entity(numbered: now.number),
        let former = property.formerName(in: now, then)
      {
        return PropertyPath(names + [former])
      }
      // A function behind several objects: what follows is of each.
      if isSeveral, path.isFunction(at: place) {
        names.append(name)
        isSeveral = false
        continue
      }
      let attribute = now.attribute(named: name)
      if now.propertyNumber(named: name) == nil, let (source, relationship) = source(of: name, now)
      {
        guard let old = past.entity(numbered: source.number),
          let property = old.propertyName(relationship.number)
        else { return nil }
        names.append(Schema.inverseName(of: property, in: old.name))
        (properties, entity, isSeveral) = ([], source, true)
        continue
      }
      guard let number = now.propertyNumber(named: name) else {
        // The evaluation refuses unknown names.
        guard let property else { return path }
        return isLast ? lacked(names + [name], property, property.attribute) : nil
      }
      guard let old = past.entity(numbered: now.number)?.propertyName(number) else {
        guard isLast, let attribute else { return nil }
        return lacked(names + [name], property, attribute)
      }
      names.append(old)
      if let attribute, isLast {
        return PropertyPath(names).replacing(property?.replacement(over: attribute))
      }
      properties = property?.relationship?.properties() ?? []
      let relationship = now.relationship(named: name)
      isSeveral = relationship?.isToMany ?? false
      entity = relationship.flatMap { newest.entity(numbered: $0.destination) }
    }
    return PropertyPath(names)
  }

  /// The path to an attribute that did not exist in this state; nil if it reads as nil.
  private func lacked(
    _ names: [String], _ property: PropertyDefinition?, _ attribute: Attribute
  ) -> PropertyPath? {
    guard property?.relationship == nil else { return nil }
    let own = property.flatMap { $0.attribute.isOptional ? nil : $0.attribute.defaultValue }
    let value = (attribute.isOptional ? own : attribute.defaultValue ?? own) ?? .null
    guard !value.isNull else { return nil }
    return PropertyPath(names).replacing(
      ValueReplacement(missing: value, lackedType: attribute.type.rawValue))
  }
}

extension Value {
  /// Whether a number compares so with this one.
  fileprivate func isMet(_ comparison: Condition.Comparison, by number: Double) -> Bool {
    let other: Double
    switch self {
    case .int(let whole): other = Double(whole)
    case .double(let real): other = real
    // Compared with 0, its sign suffices.
    case .decimal(let decimal): other = decimal.nearestDouble
    default: return comparison == .notEqual
    }
    return comparison.isTrue(number, other)
  }
}
