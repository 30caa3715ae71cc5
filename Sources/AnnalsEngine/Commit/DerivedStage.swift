import AnnalsModel
import AnnalsState

// A stage of the commit (`CommitStages.swift`): derived attributes get their values.

/// Computes what derived attributes the changes of a draft have an effect on, anew.
///
/// Reads what was changed between the two states of the draft, whoever changed it: so the values
/// never depend on the way there. O(changes log objects) for counts and functions; the others read
/// the objects that they are of.
struct DerivedStage {
  private let plan: Derivations
  /// The rows to compute anew, by the place of the node.
  private var rows: [Set<Int64>]
  /// The nodes of which every row is computed anew.
  private var whole: Set<Int> = []
  private let functions: DerivedFunctions
  private let largeValues: any LargeValueSource
  private let store: RawUUID
  /// How many rows are computed before their values are written.
  private static let chunk = 4_096

  init(_ plan: Derivations, of draft: Draft) {
    self.plan = plan
    rows = Array(repeating: [], count: plan.nodes.count)
    functions = draft.records.bindings.functions
    largeValues = draft.largeValues
    store = draft.reader.store
  }

  /// Computes and writes all that the draft has an effect on, and what an erasure has erased,
  /// whatever the draft changes.
  mutating func run(_ draft: inout Draft, again erasure: Erasure?) throws(AnnalsError) {
    for target in erasure?.targets ?? [] {
      for (place, node) in plan.nodes.enumerated()
      where node.entity.number == target.object.entity
        && target.properties.contains(node.attribute.number)
      {
        rows[place].insert(target.object.row)
      }
    }
    try draft.mergePendingEntries()
    findRedefined(in: draft)
    for object in draft.touched.list { try find(object, in: draft) }
    for place in plan.nodes.indices {
      if whole.contains(place) {
        try fill(place, &draft)
      } else if !rows[place].isEmpty {
        let found = rows[place].sorted()
        rows[place] = []
        for start in stride(from: 0, to: found.count, by: DerivedStage.chunk) {
          let end = min(found.count, start + DerivedStage.chunk)
          try compute(place, found[start..<end], &draft)
        }
      }
    }
  }

  // MARK: What to compute

  /// Notes the nodes that the draft's schema defines otherwise than the one before, and those of
  /// entities that it empties.
  private mutating func findRedefined(in draft: Draft) {
    if draft.changedEntities.isEmpty, draft.touched.entities.isEmpty { return }
    for (place, node) in plan.nodes.enumerated() {
      let before = draft.base.schema.entity(numbered: node.entity.number)?
        .attribute(numbered: node.attribute.number)
      let isRedefined =
        draft.changedEntities.contains(node.entity.number) && before?.derivation != node.derivation
      let isEmptied = draft.touched.entities.contains {
        $0 == node.entity.number || $0 == node.source?.entity
      }
      if isRedefined || isEmptied { whole.insert(place) }
    }
  }

  /// Notes the rows that a changed object has an effect on.
  private mutating func find(
    _ object: ObjectReference, in draft: Draft
  ) throws(AnnalsError) {
    guard let readers = plan.readers(of: object.entity) else { return }
    try AnnalsError.translating {
      let wasThere = try draft.base.contains(object.entity, object.row)
      let isThere = try draft.reader.state.contains(object.entity, object.row)
      let isSame = wasThere && isThere
      func differs(_ property: PropertyNumber) throws(StateFault) -> Bool {
        try !draft.base.hasSameValue(
          object.entity, object.row, property, as: draft.reader.state)
      }
      for place in readers.own where isThere {
        let node = plan.nodes[place]
        var isRead = !isSame
        if isSame { isRead = try differs(node.attribute.number) }
        for property in node.own where !isRead { isRead = try differs(property) }
        if isRead { rows[place].insert(object.row) }
      }
      for place in readers.lists {
        var isRead = !isSame
        if isSame, let value = plan.nodes[place].value { isRead = try differs(value) }
        if isRead { try noteReferrers(of: place, to: object.row, draft.reader.state) }
      }
      for place in readers.inverses {
        guard let source = plan.nodes[place].source else { continue }
        var isRead = !isSame
        if isSame, let value = plan.nodes[place].value { isRead = try differs(value) }
        if isSame, !isRead { isRead = try differs(source.relationship) }
        guard isRead else { continue }
        if wasThere { try noteTargets(of: place, object, draft.base) }
        if isThere { try noteTargets(of: place, object, draft.reader.state) }
      }
    }
  }

  private mutating func noteTargets(
    of place: Int, _ object: ObjectReference, _ state: State
  ) throws(StateFault) {
    guard let source = plan.nodes[place].source else { return }
    let entity = plan.nodes[place].entity.number
    for target in try state.value(object.entity, object.row, source.relationship).targets
    where target.entity == entity {
      rows[place].insert(target.row)
    }
  }

  private mutating func noteReferrers(
    of place: Int, to row: Int64, _ state: State
  ) throws(StateFault) {
    guard let source = plan.nodes[place].source else { return }
    let owners = try state.referrers(to: row, from: source.entity, by: source.relationship)
    for owner in owners ?? [] { rows[place].insert(owner) }
  }

  /// Notes the rows that read a derived value which has changed.
  private mutating func noteReaders(
    of place: Int, _ row: Int64, in draft: Draft
  ) throws(AnnalsError) {
    let object = ObjectReference(entity: plan.nodes[place].entity.number, row: row)
    try AnnalsError.translating {
      for reader in plan.nodes[place].readers where !whole.contains(reader) {
        guard let source = plan.nodes[reader].source else {
          rows[reader].insert(row)
          continue
        }
        if source.isInverse {
          try noteTargets(of: reader, object, draft.reader.state)
        } else {
          try noteReferrers(of: reader, to: row, draft.reader.state)
        }
      }
    }
  }

  // MARK: Values

  /// Computes a node for all objects of its entity, some at a time.
  private mutating func fill(_ place: Int, _ draft: inout Draft) throws(AnnalsError) {
    let entity = plan.nodes[place].entity.number
    whole.formUnion(plan.nodes[place].readers)
    draft.touched.insertAll(of: entity)
    var progress = ObjectProgress(
      draft.progress, .filling, plan.nodes[place].name, of: draft.reader.state.count(of: entity))
    var next: Int64 = 1
    let end = draft.reader.state.nextRow(of: entity)
    while next < end {
      var found: [Int64] = []
      var cursor = draft.reader.state.rows(of: entity)
      try AnnalsError.translating {
        cursor.advance(to: next)
        while found.count < DerivedStage.chunk, let row = try cursor.next() { found.append(row) }
      }
      guard let last = found.last else { return }
      next = last + 1
      try compute(place, found[...], &draft)
      try progress.add(found.count)
    }
  }

  /// Computes a node for some rows, and writes the values that are others than those stored.
  private mutating func compute(
    _ place: Int, _ rows: ArraySlice<Int64>, _ draft: inout Draft
  ) throws(AnnalsError) {
    let node = plan.nodes[place]
    let entity = node.entity.number
    for (row, value) in try values(of: node, rows, draft) {
      let object = ObjectReference(entity: entity, row: row)
      if draft.isErased(node.attribute.number, of: object) { continue }
      let fitting = try draft.normalised(
        value, of: node.attribute.number, of: node.entity, row: row)
      let kept = try draft.kept(fitting, in: node.attribute.number, row: row, of: entity)
      let stored = try draft.value(object, node.attribute.number)
      if stored == kept || stored.isErased && draft.origin.keepsGivenValues { continue }
      try draft.put(kept, in: node.attribute.number, row: row, of: entity)
      if !whole.contains(place) { draft.touch(entity, row) }
      try noteReaders(of: place, row, in: draft)
    }
  }

  /// The values of a node for those of some rows that exist, and that it can compute.
  private func values(
    of node: Derivations.Node, _ rows: ArraySlice<Int64>, _ draft: Draft
  ) throws(AnnalsError) -> [(row: Int64, value: Value)] {
    let state = draft.reader.state
    let reading = try DerivedReading(
      node, in: state, functions, largeValues, store,
      keepsGiven: draft.origin.keepsGivenValues)
    var result: [(row: Int64, value: Value)] = []
    for row in rows {
      if let value = try reading.value(of: row) { result.append((row, value)) }
    }
    return result
  }
}

extension Draft {
  /// Computes the derived attributes that the draft has an effect on, and those that an erasure has
  /// erased, of what is left; see `DerivedStage`.
  mutating func derive(
    _ derivations: Derivations, again erasure: Erasure? = nil
  ) throws(AnnalsError) {
    if derivations.isEmpty { return }
    var stage = DerivedStage(derivations, of: self)
    try stage.run(&self, again: erasure)
  }
}
