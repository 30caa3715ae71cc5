import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsState

/// Finds out what is known of the state behind lost transactions from those that follow.
///
/// Records say what was before: an update the old values of what it changed, a delete the whole
/// object, an insert that there was none. So each object and property that a later transaction
/// touches is known as of the gap's end, by the first that does; what none touches is left as it
/// was before the gap, and may be stale. An untouched object whose unique key another has by then
/// cannot have kept it: it is taken to be deleted.
///
/// Give it the transactions behind the gap twice: first `look`, then `prepare` and `follow`.
struct GapInference {
  private struct Place: Hashable {
    var object: ObjectReference
    var property: PropertyNumber
  }

  /// The state behind the gap, as far as known.
  private(set) var target: State
  /// The state as it moves on with the transactions.
  private var moving: State
  /// The schema behind the gap is known; else what is missing of it is made up.
  private let hasSchema: Bool
  private var lists: [Place: ListInference] = [:]
  /// The lists among an object's properties.
  private var listsOf: [ObjectReference: [PropertyNumber]] = [:]
  /// Objects of which everything is known, or nothing matters any more.
  private var known: Set<ObjectReference> = []
  private var touched: Set<ObjectReference> = []
  private var knownPlaces: Set<Place> = []
  /// Lists of which only edits are known, and that were taken to be as before the gap or made up.
  private var guessed: Set<Place> = []
  private var missing = MissingDefinitions()
  /// How many references may yet be made up: an edit of some bytes may speak of the end of a list
  /// of a million, so a small file could ask for any number of them.
  private var spareReferences = 4 << 20
  private var isLooking = true
  /// Names and openings that the transactions behind the gap refer to, as numbers.
  private(set) var names = NumberDemand()
  private(set) var openings = NumberDemand()
  /// How many untouched objects had to give way to others with their unique key, and how many
  /// values of keys of objects that were touched.
  private(set) var displaced = 0
  private(set) var cleared = 0

  /// An inference from the state before the gap; `schema` is that behind it, if known.
  init(from state: State, schema: Schema?) {
    target = state
    if let schema { target.takeSchema(schema) }
    moving = target
    hasSchema = schema != nil
  }

  /// Looks at the next transactions behind the gap.
  mutating func look(_ batch: ChangeBatch) {
    for record in batch.transactions {
      if record.part == 0 { note(record) }
      for change in batch.changes[record.changeRange] { look(change, in: batch) }
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

  private mutating func look(_ change: ChangeEntry, in batch: ChangeBatch) {
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
        // What the first change of a list says of the whole, edits behind it say nothing of.
        guard knownPlaces.insert(place).inserted, lists[place] != nil else { continue }
        batch.arena.withUnsafeBytes { lists[place]?.end(with: property.before, in: $0) }
      }
    }
    if change.kind == .update { return }
    known.insert(object)
    if change.kind == .delete {
      // A list that a delete does not mention was empty.
      for property in listsOf[object] ?? [] {
        let place = Place(object: object, property: property)
        if knownPlaces.insert(place).inserted { lists[place]?.endEmpty() }
      }
    }
  }

  /// Ends the first look.
  mutating func prepare() {
    isLooking = false
    known = []
    knownPlaces = []
    let change = missing.definitions(besides: target.schema)
    guard !change.isEmpty else { return }
    target.changeSchema(change)
    moving.changeSchema(change)
  }

  /// Moves on by the next transactions, and takes from them what they say of the time before.
  /// Throws `TransactionMisfit` if they fit no state.
  mutating func follow(_ batch: ChangeBatch) throws {
    precondition(!isLooking, "prepared first")
    for record in batch.transactions {
      if record.part == 0, !record.schemaChange.isEmpty { moving.changeSchema(record.schemaChange) }
      for index in record.changeRange {
        do throws(StateFault) { try learn(batch.changes[index], in: batch) } catch {
          throw moving.misfit(error, in: record)
        }
      }
      try moving.apply(record, of: batch, direction: .forward)
      if !record.isContinued, let collision = try displace() {
        throw TransactionMisfit(
          number: record.number,
          reason: moving.text(of: collision, "would have") + ", which is unique")
      }
    }
  }

  private mutating func learn(_ change: ChangeEntry, in batch: ChangeBatch) throws(StateFault) {
    let object = ObjectReference(entity: change.entity, row: change.row)
    touched.insert(object)
    if known.contains(object) { return }
    let isThere = try moving.contains(object.entity, object.row)
    if change.kind == .insert {
      if isThere {
        try target.deleteRow(object.entity, object.row)
        try moving.deleteRow(object.entity, object.row)
      }
      known.insert(object)
      return
    }
    if !isThere {
      try target.insertRow(object.entity, row: object.row)
      try moving.insertRow(object.entity, row: object.row)
    }
    for index in change.propertyRange {
      let property = batch.properties[index]
      let place = Place(object: object, property: property.property)
      guard knownPlaces.insert(place).inserted else { continue }
      try learn(property, at: place, in: batch)
    }
    guard change.kind == .delete else { return }
    // A delete lists all that was not null.
    let listed = Set(change.propertyRange.map { batch.properties[$0].property })
    for property in try moving.properties(of: object)
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
      let now = try moving.value(place.object.entity, place.object.row, place.property)
      let old: [ObjectReference] = if case .objects(let references) = now { references } else { [] }
      let entity = moving.schema.entity(numbered: place.object.entity)
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
      return try withBytes(arena) { (bytes) throws(StateFault) in
        try set(place.object, place.property, cell, in: bytes)
      }
    }
    try withBytes(batch.arena) { (bytes) throws(StateFault) in
      try set(place.object, place.property, property.before, in: bytes)
    }
  }

  private mutating func set(
    _ object: ObjectReference, _ property: PropertyNumber, _ cell: ValueCell,
    in arena: UnsafeRawBufferPointer
  ) throws(StateFault) {
    // What a transaction behind the gap has defined had no value in it.
    let isKnown = target.table(object.entity)?.column(of: property) != nil
    if isKnown { try target.set(object.entity, object.row, property, cell, in: arena) }
    try moving.set(object.entity, object.row, property, cell, in: arena)
  }

  /// Makes way for unique keys that others have by now; returns a collision that stays, as
  /// transactions told of both keys.
  private mutating func displace() throws(StateFault) -> UniqueViolation? {
    while let collision = try moving.collisions().first {
      guard try giveWay(collision) else { return collision }
    }
    return nil
  }

  /// Takes an object to have lost its key in the gap: one that nothing behind the gap touches was
  /// deleted there, of another what it had for a part of the key that nothing tells of is dropped.
  /// Returns false if everything is told of both.
  private mutating func giveWay(_ collision: UniqueViolation) throws(StateFault) -> Bool {
    let objects = [collision.otherRow, collision.row].compactMap { $0 }
      .map { ObjectReference(entity: collision.entity, row: $0) }
    if let victim = objects.first(where: { !touched.contains($0) }) {
      try deleteBoth(victim)
      return true
    }
    let rules = moving.schema.entity(numbered: collision.entity)?.uniqueRules ?? []
    let key = rules.first { $0.number == collision.rule }?.properties ?? []
    for object in objects where !known.contains(object) {
      for property in key {
        guard !knownPlaces.contains(Place(object: object, property: property)),
          try !moving.value(object.entity, object.row, property).isNull
        else { continue }
        try set(object, property, .null, in: UnsafeRawBufferPointer(start: nil, count: 0))
        cleared += 1
        return true
      }
    }
    return false
  }

  private mutating func deleteBoth(_ object: ObjectReference) throws(StateFault) {
    if try moving.contains(object.entity, object.row) {
      try moving.deleteRow(object.entity, object.row)
    }
    if try target.contains(object.entity, object.row) {
      try target.deleteRow(object.entity, object.row)
    }
    displaced += 1
  }

  /// Ends the inference; returns how many objects of each entity may be stale: those that were
  /// there before the gap, and are there at the end of what was followed, but for those of which
  /// the transactions tell every property.
  mutating func finish(of entities: Set<EntityNumber>?) throws(StateFault)
    -> [LostTransactions.StaleCount]
  {
    while let collision = try target.collisions().first {
      // Two that both had the key, as transactions say: one of those will not fit.
      if try !giveWay(collision) {
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
        if try moving.contains(entity.number, row), !isTold(object, properties) { count += 1 }
      }
      guard count > 0 else { continue }
      counts.append(LostTransactions.StaleCount(entity: entity.number, objects: count))
    }
    return counts
  }

  /// Whether transactions say of all these properties of an object what they were before.
  private func isTold(_ object: ObjectReference, _ properties: [PropertyNumber]) -> Bool {
    touched.contains(object)
      && properties.allSatisfy {
        let place = Place(object: object, property: $0)
        return knownPlaces.contains(place) && !guessed.contains(place)
      }
  }
}

/// Which numbers of names or openings must be known before some transactions.
struct NumberDemand {
  private var greatestUse: Int64 = 0
  private var firstNew: Int64?

  mutating func note(use number: Int64) {
    if firstNew == nil { greatestUse = max(greatestUse, number) }
  }

  mutating func note(new number: Int64) {
    if firstNew == nil { firstNew = number }
  }

  /// Whether new ones come later.
  var hasNew: Bool { firstNew != nil }

  /// How many must be known.
  var count: Int64 { firstNew.map { $0 - 1 } ?? greatestUse }
}

/// Calls `body` with the bytes.
private func withBytes(
  _ bytes: ContiguousArray<UInt8>,
  _ body: (UnsafeRawBufferPointer) throws(StateFault) -> Void
) throws(StateFault) {
  let result = bytes.withUnsafeBytes { bytes in
    Result { () throws(StateFault) in try body(bytes) }
  }
  try result.get()
}

extension State {
  /// Takes over the definitions of a schema that this state's has not, or has otherwise.
  mutating func takeSchema(_ schema: Schema) {
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
