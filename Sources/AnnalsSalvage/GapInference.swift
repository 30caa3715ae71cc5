import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsState

/// Infers the state behind a gap from the before-images in the transactions that follow it.
///
/// An update records the old values of what it changes, a delete the whole object, and an insert
/// implies that there was none. So the first later transaction that touches an object and property
/// tells its value at the end of the gap. What none touches stays as it was before the gap, and may
/// be stale. An untouched object whose unique key another one has by then cannot have kept it, and
/// is assumed to be deleted.
///
/// Pass it the transactions behind the gap twice: first to `scan`, then, after `defineMissing`, to
/// `replay`.
struct GapInference {
  private struct Place: Hashable {
    var object: ObjectReference
    var property: PropertyNumber
  }

  /// The state behind the gap, as far as it is known.
  private(set) var target: State
  /// The state as of the last transaction replayed.
  private var replayed: State
  private var lists: [Place: ListInference] = [:]
  /// The lists among an object's properties.
  private var listsOf: [ObjectReference: [PropertyNumber]] = [:]
  /// Objects that are known completely, or that did not exist at the end of the gap.
  private var known: Set<ObjectReference> = []
  private var touched: Set<ObjectReference> = []
  private var knownPlaces: Set<Place> = []
  /// Lists of which only edits are known, so that they are those from before the gap, or made up.
  private var guessed: Set<Place> = []
  private var missing = MissingDefinitions()
  /// How many more references may be made up. An edit of a few bytes can name the end of a list of
  /// a million, so a small crafted file could demand any number.
  private var spareReferences = 4 << 20
  private var isScanning = true
  /// Names and openings that the transactions behind the gap refer to, as numbers.
  private(set) var names = NumberDemand()
  private(set) var openings = NumberDemand()
  /// The number of untouched objects deleted, and of key values cleared in touched ones, because
  /// another object has their unique key.
  private(set) var displaced = 0
  private(set) var cleared = 0

  /// Begins with the state before the gap. `schema` is that behind it; nil if it is unknown,
  /// and missing definitions are made up.
  init(from state: State, schema: Schema?) {
    target = state
    if let schema { target.adoptDefinitions(of: schema) }
    replayed = target
  }

  /// First pass: collects which names, definitions and lists the next transactions refer to.
  mutating func scan(_ batch: ChangeBatch) {
    for record in batch.transactions {
      if record.part == 0 { note(record) }
      for change in batch.changes[record.changeRange] { scan(change, in: batch) }
    }
  }

  private mutating func note(_ record: TransactionRecord) {
    for name in [record.author, record.context] { names.note(use: Int64(name)) }
    if !record.newNames.isEmpty { names.note(new: Int64(record.firstNewName)) }
    openings.note(use: Int64(record.opening))
    if let opening = record.openings.first {
      openings.note(new: Int64(opening.number))
    }
    for change in record.schemaChange { missing.learn(change, schema: target.schema) }
  }

  private mutating func scan(_ change: ChangeEntry, in batch: ChangeBatch) {
    let object = ObjectReference(entity: change.entity, row: change.row)
    missing.note(change, in: batch, schema: target.schema, isNew: known.contains(object))
    for index in change.propertyRange {
      let property = batch.properties[index]
      let place = Place(object: object, property: property.property)
      if property.isEdits {
        if knownPlaces.contains(place) || known.contains(object) { continue }
        if lists[place] == nil { listsOf[object, default: []].append(property.property) }
        batch.arena.withUnsafeBytes {
          lists[place, default: ListInference()].add(property, in: $0)
        }
      } else if [.objects, .null, .erased].contains(property.before.tag) || lists[place] != nil {
        // The first whole value of a list ends its edits: later ones do not tell more.
        guard knownPlaces.insert(place).inserted, lists[place] != nil else { continue }
        batch.arena.withUnsafeBytes { lists[place]?.end(with: property.before, in: $0) }
      }
    }
    if change.kind == .update { return }
    known.insert(object)
    if change.kind == .delete {
      // A list that a delete does not record was empty.
      for property in listsOf[object] ?? [] {
        let place = Place(object: object, property: property)
        if knownPlaces.insert(place).inserted { lists[place]?.endEmpty() }
      }
    }
  }

  /// Ends the first pass: defines entities and properties that are missing.
  mutating func defineMissing() {
    isScanning = false
    known = []
    knownPlaces = []
    let change = missing.definitions(besides: target.schema)
    guard !change.isEmpty else { return }
    target.changeSchema(change)
    replayed.changeSchema(change)
  }

  /// Second pass: learns from the before-images of the next transactions, and applies them. Throws
  /// `TransactionMisfit` if they fit no state.
  mutating func replay(_ batch: ChangeBatch) throws {
    precondition(!isScanning, "definitions are made first")
    for record in batch.transactions {
      if record.part == 0, !record.schemaChange.isEmpty {
        replayed.changeSchema(record.schemaChange)
      }
      for index in record.changeRange {
        do throws(StateFault) { try learn(batch.changes[index], in: batch) } catch {
          throw replayed.misfit(error, in: record)
        }
      }
      try replayed.apply(record, of: batch, direction: .forward)
      if !record.isContinued, let collision = try resolveCollisions() {
        throw TransactionMisfit(
          number: record.number,
          reason: replayed.text(of: collision, "would have") + ", which is unique")
      }
    }
  }

  private mutating func learn(_ change: ChangeEntry, in batch: ChangeBatch) throws(StateFault) {
    let object = ObjectReference(entity: change.entity, row: change.row)
    touched.insert(object)
    if known.contains(object) { return }
    let isThere = try replayed.contains(object.entity, object.row)
    if change.kind == .insert {
      if isThere {
        try target.deleteRow(object.entity, object.row)
        try replayed.deleteRow(object.entity, object.row)
      }
      known.insert(object)
      return
    }
    if !isThere {
      try target.insertRow(object.entity, row: object.row)
      try replayed.insertRow(object.entity, row: object.row)
    }
    for index in change.propertyRange {
      let property = batch.properties[index]
      let place = Place(object: object, property: property.property)
      guard knownPlaces.insert(place).inserted else { continue }
      try learn(property, at: place, in: batch)
    }
    guard change.kind == .delete else { return }
    // A delete lists every property that was not null.
    let listed = Set(change.propertyRange.map { batch.properties[$0].property })
    for property in try replayed.properties(of: object)
    where !listed.contains(property)
      && knownPlaces.insert(Place(object: object, property: property)).inserted
    {
      try set(object, property, .null, in: UnsafeRawBufferPointer(start: nil, count: 0))
    }
    known.insert(object)
  }

  private mutating func learn(
    _ property: PropertyChange, at place: Place, in batch: ChangeBatch
  ) throws(StateFault) {
    if let list = lists[place] {
      let now = try replayed.value(place.object.entity, place.object.row, place.property)
      let old: [ObjectReference] = if case .objects(let references) = now { references } else { [] }
      let entity = replayed.schema.entity(numbered: place.object.entity)
      let destination = entity?.relationships.first { $0.number == place.property }?.destination
      guard
        let found = list.list(
          old: old, destination: destination ?? place.object.entity, limit: spareReferences)
      else {
        throw .invalid(
          entity: place.object.entity, row: place.object.row,
          reason: "edits of a longer list than could be made up")
      }
      if !found.isProven { guessed.insert(place) }
      let references = found.references
      spareReferences -= max(0, references.count - old.count)
      var arena: ContiguousArray<UInt8> = []
      let cell = references.isEmpty ? .null : ValueCell(.objects(references), appendingTo: &arena)
      return try arena.withBytes { bytes throws(StateFault) in
        try set(place.object, place.property, cell, in: bytes)
      }
    }
    try batch.arena.withBytes { bytes throws(StateFault) in
      try set(place.object, place.property, property.before, in: bytes)
    }
  }

  private mutating func set(
    _ object: ObjectReference, _ property: PropertyNumber, _ cell: ValueCell,
    in arena: UnsafeRawBufferPointer
  ) throws(StateFault) {
    // A property that a transaction behind the gap defines had no value before.
    let isKnown = target.table(object.entity)?.column(of: property) != nil
    if isKnown { try target.set(object.entity, object.row, property, cell, in: arena) }
    try replayed.set(object.entity, object.row, property, cell, in: arena)
  }

  /// Resolves collisions of unique keys; returns one that cannot be, because transactions prove
  /// both keys.
  private mutating func resolveCollisions() throws(StateFault) -> UniqueViolation? {
    while let collision = try replayed.collisions().first {
      guard try resolve(collision) else { return collision }
    }
    return nil
  }

  /// Assumes that one of two objects lost its key in the gap. One that no later transaction touches
  /// was deleted; otherwise a key value that no transaction proves is cleared. Returns false if
  /// both keys are proven.
  private mutating func resolve(_ collision: UniqueViolation) throws(StateFault) -> Bool {
    let objects = [collision.otherRow, collision.row].compactMap { $0 }
      .map { ObjectReference(entity: collision.entity, row: $0) }
    if let victim = objects.first(where: { !touched.contains($0) }) {
      try deleteBoth(victim)
      return true
    }
    let rules = replayed.schema.entity(numbered: collision.entity)?.uniqueRules ?? []
    let key = rules.first { $0.number == collision.rule }?.properties ?? []
    for object in objects where !known.contains(object) {
      for property in key {
        guard !knownPlaces.contains(Place(object: object, property: property)),
          try !replayed.value(object.entity, object.row, property).isNull
        else { continue }
        try set(object, property, .null, in: UnsafeRawBufferPointer(start: nil, count: 0))
        cleared += 1
        return true
      }
    }
    return false
  }

  private mutating func deleteBoth(_ object: ObjectReference) throws(StateFault) {
    if try replayed.contains(object.entity, object.row) {
      try replayed.deleteRow(object.entity, object.row)
    }
    if try target.contains(object.entity, object.row) {
      try target.deleteRow(object.entity, object.row)
    }
    displaced += 1
  }

  /// Ends the inference. Returns the number of possibly stale objects of each entity: those that
  /// exist before the gap and after the last transaction replayed, and whose properties the
  /// transactions do not all prove.
  mutating func countStaleObjects(of entities: Set<EntityNumber>?) throws(StateFault)
    -> [LostTransactions.StaleCount]
  {
    while let collision = try target.collisions().first {
      // Transactions prove the key for both: one of them will not fit.
      if try !resolve(collision) {
        try deleteBoth(ObjectReference(entity: collision.entity, row: collision.row))
      }
    }
    var counts: [LostTransactions.StaleCount] = []
    for entity in target.schema.entities where !entity.isRemoved {
      if let entities, !entities.contains(entity.number) { continue }
      let properties =
        entity.attributes.filter { !$0.isRemoved }.map(\.number)
        + entity.relationships.filter { !$0.isRemoved }.map(\.number)
      var count: Int64 = 0
      var rows = target.rows(of: entity.number)
      while let row = try rows.next() {
        let object = ObjectReference(entity: entity.number, row: row)
        if try replayed.contains(entity.number, row), !isDescribed(object, properties) {
          count += 1
        }
      }
      guard count > 0 else { continue }
      counts.append(LostTransactions.StaleCount(entity: entity.number, objects: count))
    }
    return counts
  }

  /// Whether before-images prove all these properties of an object.
  private func isDescribed(_ object: ObjectReference, _ properties: [PropertyNumber]) -> Bool {
    touched.contains(object)
      && properties.allSatisfy {
        let place = Place(object: object, property: $0)
        return knownPlaces.contains(place) && !guessed.contains(place)
      }
  }
}

/// The highest number of a name or opening that some transactions presuppose.
struct NumberDemand {
  private var greatestUse: Int64 = 0
  private var firstNew: Int64?

  mutating func note(use number: Int64) {
    if firstNew == nil { greatestUse = max(greatestUse, number) }
  }

  mutating func note(new number: Int64) {
    if firstNew == nil { firstNew = number }
  }

  /// Whether the transactions add new ones.
  var hasNew: Bool { firstNew != nil }

  /// How many must exist before the transactions.
  var count: Int64 { firstNew.map { $0 - 1 } ?? greatestUse }
}

extension State {
  /// Adopts the definitions of a schema that differ from this state's.
  mutating func adoptDefinitions(of schema: Schema) {
    let change = schema.entities.filter { self.schema.entity(numbered: $0.number) != $0 }
    if !change.isEmpty { changeSchema(change) }
  }

  /// The properties of an object that are not null.
  fileprivate func properties(of object: ObjectReference) throws(StateFault) -> [PropertyNumber] {
    guard let table = table(object.entity) else { return [] }
    var result: [PropertyNumber] = []
    for column in 0..<table.columnCount
    where try !table.value(object.row, column: column).isNull {
      result.append(table.property(ofColumn: column))
    }
    return result
  }
}
