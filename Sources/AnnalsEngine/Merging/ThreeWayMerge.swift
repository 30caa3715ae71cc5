import AnnalsModel
import AnnalsState

/// Merges a transaction based on an earlier state into the newest state, object by object.
///
/// Three states of one schema: *base*, which the transaction began with; *own*, as it left it; and
/// *stored*, the newest one. Costs what the transaction touched.
struct ThreeWayMerge {
  let policy: MergePolicy
  private let comparesProperties: Bool
  let base: State
  let own: State
  let stored: State
  /// The properties that were erased since the base, by object; none named means all.
  private let erased: [ObjectReference: [PropertyNumber]]
  let comparison: ValueComparison
  private var values: ConflictValues
  /// The merge's result: the newest state with the write's changes.
  var merged: State
  /// The objects that the merge changed in it.
  private(set) var touched: ContiguousArray<ObjectReference> = []
  /// The conflicts, which the policy resolves or, with `.error`, refuses.
  private(set) var conflicts: [MergeConflict] = []
  private let largeValues: any LargeValueSource
  var keys = SharedKeys()
  private var properties:
    (entity: EntityNumber, list: [ReadableProperty], derived: [PropertyNumber])?

  /// The most conflicts that are reported.
  static let mostConflicts = 1_000
  /// The most rounds of resolving unique keys; keys that still collide then are refused.
  private static let mostRounds = 16

  init(
    _ basis: MergeBasis, own: State, stored: State, largeValues: any LargeValueSource
  ) {
    policy = basis.policy
    comparesProperties = basis.comparesProperties
    base = basis.base
    erased = Dictionary(
      basis.erased.map { ($0.object, $0.properties) },
      uniquingKeysWith: { $0.isEmpty || $1.isEmpty ? [] : $0 + $1 })
    self.own = own
    self.stored = stored
    self.largeValues = largeValues
    comparison = ValueComparison(largeValues)
    values = ConflictValues(largeValues)
    merged = stored
  }

  /// The objects that the write inserted, each with the stored object it was united with.
  var mergedObjects: [(inserted: ObjectReference, stored: ObjectReference)] { keys.united }

  /// Merges the objects that the transaction has touched.
  mutating func run(_ objects: ContiguousArray<ObjectReference>) throws(AnnalsError) {
    for _ in 0..<ThreeWayMerge.mostRounds {
      merged = stored
      merged.adoptNextRows(of: own)
      touched = []
      conflicts = []
      values = ConflictValues(largeValues)
      for object in objects { try merge(object) }
      for (inserted, stored) in keys.united { try unite(inserted, with: stored) }
      guard try resolveKeys() else { return }
    }
  }

  private mutating func merge(_ object: ObjectReference) throws(AnnalsError) {
    let wasThere = try base.holds(object)
    let (isOwn, isStored) = (try own.holds(object), try stored.holds(object))
    guard wasThere || isOwn, isOwn || isStored, keys.storedObject(for: object) == nil else {
      return
    }
    switch (isOwn, isStored) {
    case (false, _): try mergeDeletion(object)
    case (true, false) where !wasThere: try insert(object)
    case (true, false): try mergeRevival(object)
    case (true, true): try mergeUpdate(object)
    }
  }

  /// Merges a deletion by the write of an object that is still stored.
  private mutating func mergeDeletion(_ object: ObjectReference) throws(AnnalsError) {
    let theirs = try storedChanges(of: object)
    if !theirs.isEmpty {
      try add(theirs, of: object)
      guard policy.keepsOwnSide else { return }
    }
    try AnnalsError.translating { try merged.deleteRow(object.entity, object.row) }
    touched.append(object)
  }

  /// Merges changes by the write of an object that others have deleted.
  private mutating func mergeRevival(_ object: ObjectReference) throws(AnnalsError) {
    let mine = try differences(of: object, base, own)
    guard !mine.isEmpty else { return }
    try add(mine, of: object)
    guard policy.keepsOwnSide else { return }
    try insert(object)
  }

  private mutating func insert(_ object: ObjectReference) throws(AnnalsError) {
    try AnnalsError.translating { try merged.insertRow(object.entity, row: object.row) }
    touched.append(object)
    for property in readableProperties(of: object.entity) {
      try copyOwnValue(property.number, of: object, into: object)
    }
    // Those may be unique, and decide with which object it is united.
    for property in properties?.derived ?? [] {
      try copyOwnValue(property, of: object, into: object)
    }
  }

  /// Merges an object that exists on both sides.
  private mutating func mergeUpdate(_ object: ObjectReference) throws(AnnalsError) {
    let mine = try differences(of: object, base, own)
    guard !mine.isEmpty else { return }
    let theirs = try storedChanges(of: object)
    let different = theirs.isEmpty ? mine : try differences(of: object, own, stored)
    guard !different.isEmpty else { return }
    let both = mine.filter { theirs.contains($0) }
    var taken = mine
    var lists: [PropertyNumber: ListMerge] = [:]
    if !theirs.isEmpty {
      lists = try mergedLists(different.filter(both.contains), of: object)
      let opposed = different.filter { both.contains($0) && lists[$0]?.isConflicting ?? true }
      switch policy {
      case .error: try add(comparesProperties ? opposed : different, of: object)
      case .storedWins:
        try add(opposed, of: object)
        taken = mine.filter { !theirs.contains($0) || lists[$0] != nil }
      case .ownWins: try add(opposed, of: object)
      case .overwrite:
        try add(different.filter(theirs.contains), of: object)
        taken = different
      case .rollBack:
        try add(different.filter(mine.contains), of: object)
        taken = []
      }
    }
    if keys.dropped.contains(object) {
      if theirs.isEmpty { try add(mine, of: object) }
      return
    }
    for property in taken {
      if let list = lists[property] {
        try set(property, of: object, to: list)
      } else {
        try copyUnlessKept(property, of: object, into: object)
      }
    }
    if !taken.isEmpty { touched.append(object) }
  }

  /// The ordered lists among some properties of an object that both sides have changed, where the
  /// policy decides by property.
  private func mergedLists(
    _ both: [PropertyNumber], of object: ObjectReference
  ) throws(AnnalsError) -> [PropertyNumber: ListMerge] {
    guard !both.isEmpty, policy == .error ? comparesProperties : policy != .overwrite,
      policy != .rollBack, let entity = stored.schema.entity(numbered: object.entity)
    else { return [:] }
    var lists: [PropertyNumber: ListMerge] = [:]
    for relationship in entity.relationships
    where relationship.isOrdered && both.contains(relationship.number) {
      let number = relationship.number
      guard let base = try list(number, of: object, in: base),
        let own = try list(number, of: object, in: own),
        let stored = try list(number, of: object, in: stored)
      else { continue }
      lists[number] = ListMerge(
        base: base, own: own, stored: stored, prefersOwn: policy == .ownWins)
    }
    return lists
  }

  /// The references of a to-many relationship, as far as they are known to be merged; nil if they
  /// were erased.
  private func list(
    _ property: PropertyNumber, of object: ObjectReference, in state: State
  ) throws(AnnalsError) -> [ObjectReference]? {
    let value = try state.value(of: object, property)
    return value.isErased ? nil : keys.redirect(value).targets
  }

  private mutating func set(
    _ property: PropertyNumber, of object: ObjectReference, to list: ListMerge
  ) throws(AnnalsError) {
    try AnnalsError.translating {
      try merged.set(
        object.entity, object.row, property,
        to: list.merged.isEmpty ? .null : .objects(list.merged))
    }
  }

  /// Unites an inserted object with the stored one that has its unique key.
  private mutating func unite(
    _ inserted: ObjectReference, with object: ObjectReference
  ) throws(AnnalsError) {
    if conflicts.count < ThreeWayMerge.mostConflicts {
      conflicts.append(
        MergeConflict(
          object: object, property: nil, base: nil, stored: nil, own: nil, insertedAs: inserted))
    }
    for property in readableProperties(of: object.entity) {
      let given = try !own.value(of: inserted, property.number).isNull
      let has = try !merged.value(of: object, property.number).isNull
      if try comparison.areSame(property, inserted, in: own, object, in: merged) { continue }
      let (isTaken, isLost) =
        switch policy {
        case .storedWins: (!has, given && has)
        case .ownWins: (given, given && has)
        case .overwrite: (true, has)
        case .error, .rollBack: (false, given)
        }
      if isLost { try add([property.number], of: object, insertedAs: inserted) }
      if isTaken { try copyUnlessKept(property.number, of: inserted, into: object) }
    }
    touched.append(object)
  }

  // MARK: Values

  /// The properties in which an object differs between two states; all of them if it exists in only
  /// one.
  private mutating func differences(
    of object: ObjectReference, _ a: State, _ b: State
  ) throws(AnnalsError) -> [PropertyNumber] {
    var result: [PropertyNumber] = []
    for property in readableProperties(of: object.entity)
    where try !comparison.areSame(property, object, in: a, object, in: b) {
      result.append(property.number)
    }
    return result
  }

  /// The properties of an object that others changed or erased since the base.
  private mutating func storedChanges(
    of object: ObjectReference
  ) throws(AnnalsError) -> [PropertyNumber] {
    var changed = try differences(of: object, base, stored)
    guard let erased = erased[object] else { return changed }
    for property in readableProperties(of: object.entity)
    where (erased.isEmpty || erased.contains(property.number)) && !changed.contains(property.number)
    {
      let value = try stored.value(of: object, property.number)
      if value.isErased { changed.append(property.number) }
    }
    return changed
  }

  /// As `copyOwnValue`, unless the object keeps its stored unique key.
  private mutating func copyUnlessKept(
    _ property: PropertyNumber, of object: ObjectReference, into target: ObjectReference
  ) throws(AnnalsError) {
    if keys.keeps(property, of: target) {
      return try add([property], of: target)
    }
    try copyOwnValue(property, of: object, into: target)
  }

  /// Copies the write's value of a property to an object of the merged state.
  private mutating func copyOwnValue(
    _ property: PropertyNumber, of object: ObjectReference, into target: ObjectReference
  ) throws(AnnalsError) {
    try AnnalsError.translating {
      guard keys.redirects else {
        let found = try own.locate(object.entity, object.row, property)
        try merged.set(target.entity, target.row, property, found.cell, in: found.arena)
        return found.keepAlive()
      }
      let relationships = own.schema.entity(numbered: object.entity)?.relationships
      let value = keys.redirect(
        try own.value(object.entity, object.row, property),
        as: relationships?.first { $0.number == property })
      try merged.set(target.entity, target.row, property, to: value)
    }
  }

  /// Records a conflict for properties of an object.
  private mutating func add(
    _ numbers: [PropertyNumber], of object: ObjectReference, insertedAs: ObjectReference? = nil
  ) throws(AnnalsError) {
    for property in readableProperties(of: object.entity) where numbers.contains(property.number) {
      guard conflicts.count < ThreeWayMerge.mostConflicts else { return }
      conflicts.append(
        MergeConflict(
          object: object, property: property.number,
          base: try values.value(property, of: object, in: base),
          stored: try values.value(property, of: object, in: stored),
          own: try values.value(property, of: insertedAs ?? object, in: own),
          insertedAs: insertedAs))
    }
  }

  private mutating func readableProperties(of entity: EntityNumber) -> [ReadableProperty] {
    if let properties, properties.entity == entity { return properties.list }
    let definition = stored.schema.entity(numbered: entity)
    let derived = definition?.derivedAttributes ?? []
    // They follow from the others when the merge is done.
    let list = (definition?.readableProperties ?? []).filter { !derived.contains($0.number) }
    properties = (entity, list, derived)
    return list
  }
}
