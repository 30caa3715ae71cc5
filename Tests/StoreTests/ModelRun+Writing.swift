import Annals
import AnnalsModel
import AnnalsTestSupport

/// Thrown by closures that are to leave no trace.
private struct ChangeOfMind: Error {}

extension ModelRun {
  /// Writes one random transaction, or several things that must not become one.
  func transaction() throws {
    let base = newest
    var working = base
    let isImport = random.chance(15)
    let isThrowing = random.chance(8)
    let isCancelling = !isThrowing && random.chance(6)
    let count = random.chance(5) ? random.number(50...400) : random.number(0...6)
    steps.append("write \(isImport) \(isThrowing) \(isCancelling):")
    var result: Result<Token, any Error>
    let body: (WriteTransaction) throws -> Void = { [self] tx in
      working = base
      for _ in 0..<count { try operation(tx, &working) }
      if isThrowing { throw ChangeOfMind() }
      if isCancelling { try undo(tx, from: working, to: base) }
    }
    do {
      let time =
        random.chance(50)
        ? Timestamp(microseconds: 1_700_000_000_000_000 + Int64(random.number(0...500)) * 1_000_000)
        : nil
      result = .success(
        isImport
          ? try store.importTransaction(author: "import", timestamp: time, body)
          : try store.commit(author: random.chance(50) ? "ann" : nil, body).token)
    } catch {
      result = .failure(error)
    }
    if isCancelling { working = base }
    try judge(
      result, from: base, to: working, isRecorded: isImport, isThrowing: isThrowing)
  }

  /// Compares what a write did with what it should have done, and takes it over.
  func judge(
    _ result: Result<Token, any Error>, from base: NaiveState, to working: NaiveState,
    isRecorded: Bool, isThrowing: Bool = false, restoring earlier: NaiveState? = nil
  ) throws {
    let isRefused = isThrowing ? true : base.isRefused(goingTo: working, restoring: earlier)
    switch result {
    case .failure(let error as Mismatch): throw error
    case .failure(let error):
      let isExpected =
        isThrowing ? error is ChangeOfMind : (error as? AnnalsError)?.code == .invalidChange
      try demand(isExpected && isRefused != false, "the write failed: \(error)")
      steps.append("  refused")
      try demand(store.token.number == head, "a refused write left transaction \(store.token)")
      try base.compare(with: store.snapshot())
    case .success(let token):
      try demand(isRefused != true, "a write was not refused that breaks a rule")
      let isChange =
        isRecorded || !base.changes(to: working).isEmpty || base.schema != working.schema
      let expected = isChange ? head + 1 : head
      try demand(
        token.number == expected,
        "the write returned \(token.number), not \(expected): \(recorded(token.number))")
      try demand(token == store.token, "the store is at \(store.token), the write at \(token)")
      guard isChange else { return }
      steps.append("  transaction \(token.number)")
      for object in working.rows.keys { usedRows.insert(object) }
      states.append(working)
      times.append(store.snapshot().moment)
    }
  }

  /// What the store recorded as a transaction, in a message.
  private func recorded(_ number: Int64) -> String {
    let history = try? store.history(after: number - 1).collect(limit: 1)
    return history?.first.map { "\($0.changes.map { "\($0) \($0.properties)" })" }
      ?? "nothing"
  }

  // MARK: One thing in a transaction

  func operation(_ tx: WriteTransaction, _ working: inout NaiveState) throws {
    let entities = working.entities
    guard !entities.isEmpty else { return }
    let entity = entities[random.number(0...entities.count - 1)]
    let objects = working.objects(of: entity.number)
    guard !objects.isEmpty, !random.chance(objects.count < 12 ? 50 : 15) else {
      return try insert(entity, tx, &working)
    }
    let object = objects[random.number(0...objects.count - 1)]
    switch random.number(0...19) {
    case 0..<4:
      steps.append("  delete \(entity.name)#\(object.row)")
      try tx.delete(id(object))
      working.rows[object] = nil
    case 4..<6: try swapKeys(entity, object, objects, tx, &working)
    case 6: try read(entity, object, tx, working)
    default: try update(entity, object, tx, &working)
    }
  }

  private func id(_ object: ObjectReference) -> ObjectID {
    ObjectID(store: RawUUID(store.id), entity: object.entity, row: object.row)
  }

  private func insert(
    _ entity: Entity, _ tx: WriteTransaction, _ working: inout NaiveState
  ) throws {
    var given: [String: Value] = [:]
    var stored: [PropertyNumber: Value] = [:]
    for attribute in entity.attributes where !attribute.isRemoved {
      if let value = attribute.defaultValue, !value.isNull { stored[attribute.number] = value }
      let isNeeded = !attribute.isOptional && attribute.defaultValue == nil
      guard random.chance(isNeeded ? 99 : 40) else { continue }
      given[attribute.name] = value(of: attribute)
    }
    for relationship in entity.relationships where !relationship.isRemoved && random.chance(40) {
      given[relationship.name] = value(of: relationship, now: [], in: working)
    }
    let made = try tx.insert(entity.name, given)
    let object = ObjectReference(made)
    steps.append("  insert \(entity.name)#\(made.row) \(given.map { "\($0): \($1.short)" })")
    try demand(
      !usedRows.contains(object) && working.rows[object] == nil, "row \(object) is used again")
    working.rows[object] = stored
    for (name, value) in given {
      if let number = entity.number(of: name) { working.set(object, number, to: value) }
    }
  }

  private func update(
    _ entity: Entity, _ object: ObjectReference, _ tx: WriteTransaction,
    _ working: inout NaiveState
  ) throws {
    var given: [String: Value] = [:]
    for _ in 0..<random.number(1...3) {
      let attributes = entity.attributes.filter { !$0.isRemoved }
      let relationships = entity.relationships.filter { !$0.isRemoved }
      let index = random.number(0...max(attributes.count + relationships.count - 1, 0))
      if attributes.indices.contains(index) {
        let attribute = attributes[index]
        let stored = working.rows[object]?[attribute.number]
        let isNeeded = !attribute.isOptional && attribute.defaultValue == nil
        given[attribute.name] =
          random.chance(isNeeded ? 0 : 15)
          ? .null
          : random.chance(15) && stored?.isErased != true
            ? stored ?? value(of: attribute) : value(of: attribute)
      } else if relationships.indices.contains(index - attributes.count) {
        let relationship = relationships[index - attributes.count]
        let now = working.rows[object]?[relationship.number]?.targets ?? []
        given[relationship.name] = value(of: relationship, now: now, in: working)
      }
    }
    steps.append(
      "  update \(entity.name)#\(object.row) \(given.map { "\($0): \($1.short)" })")
    try tx.update(id(object), given)
    for (name, value) in given {
      guard let number = entity.number(of: name) else { continue }
      working.set(object, number, to: settled(value, of: number, in: entity, object))
    }
  }

  /// What an update stores: a required attribute with a default is never cleared. Where the
  /// transaction found nothing stored, the default is no change.
  private func settled(
    _ value: Value, of number: PropertyNumber, in entity: Entity, _ object: ObjectReference
  ) -> Value {
    guard let attribute = entity.attributes.first(where: { $0.number == number }),
      !attribute.isOptional, let implied = attribute.defaultValue, !implied.isNull,
      value.isNull || value == implied, let before = newest.rows[object]
    else { return value }
    return before[number] == nil ? .null : implied
  }

  private func swapKeys(
    _ entity: Entity, _ object: ObjectReference, _ objects: [ObjectReference],
    _ tx: WriteTransaction, _ working: inout NaiveState
  ) throws {
    let other = objects[random.number(0...objects.count - 1)]
    guard let key = entity.attributes.first(where: { $0.isUnique && !$0.isRemoved }) else { return }
    steps.append("  swap \(key.name) of \(entity.name)#\(object.row) and #\(other.row)")
    let keys = [object, other].map { working.rows[$0]?[key.number] }
    guard !keys.contains(.erased) else { return }
    let first = working.rows[object]?[key.number] ?? .null
    let second = working.rows[other]?[key.number] ?? .null
    try tx.update(id(object), [key.name: second])
    try tx.update(id(other), [key.name: first])
    working.set(object, key.number, to: second)
    working.set(other, key.number, to: first)
  }

  private func read(
    _ entity: Entity, _ object: ObjectReference, _ tx: WriteTransaction, _ working: NaiveState
  ) throws {
    guard let found = try tx.object(id(object)) else {
      throw Mismatch("inside the transaction \(object) is not there")
    }
    try working.compare(found, object, "inside: \(entity.name)#\(object.row)")
    for key in entity.attributes where key.isUnique && !key.isRemoved {
      guard let value = working.rows[object]?[key.number], !value.isErased else { continue }
      let row = try tx.object(of: entity.name, where: key.name, is: value)?.objectID.row
      // Before the end of the transaction, several may have the value.
      try demand(
        row.map { working.rows[ObjectReference(entity: entity.number, row: $0)]?[key.number] }
          == value, "inside: \(key.name) \(value.short) finds \(String(describing: row))")
    }
  }

  // MARK: Values

  private func value(of attribute: Attribute) -> Value {
    if attribute.isUnique || attribute.name == "a" { return values.key(of: attribute.type) }
    return values.value(of: attribute.type)
  }

  private func value(
    of relationship: Relationship, now: [ObjectReference], in working: NaiveState
  ) -> Value {
    let targets = working.objects(of: relationship.destination)
    guard !targets.isEmpty else { return relationship.isToMany ? .objects([]) : .null }
    let one = targets[random.number(0...targets.count - 1)]
    guard relationship.isToMany else { return random.chance(15) ? .null : .object(one) }
    var list = now.filter { working.rows[$0] != nil }
    for _ in 0..<random.number(0...3) where !list.isEmpty {
      list.remove(at: random.number(0...list.count - 1))
    }
    for _ in 0..<random.number(0...4) {
      let target = targets[random.number(0...targets.count - 1)]
      list.insert(target, at: random.number(0...list.count))
    }
    if random.chance(10) { list.shuffle(using: &random) }
    return .objects(list)
  }

  /// Takes back everything that led from `base` to `working`.
  private func undo(
    _ tx: WriteTransaction, from working: NaiveState, to base: NaiveState
  ) throws {
    for (object, change) in working.changes(to: base).sorted(by: { $0.key < $1.key }) {
      switch change.kind {
      case .delete: try tx.delete(id(object))
      case .insert:
        guard let entity = working.schema.entity(numbered: object.entity) else { continue }
        _ = try tx.draft.insert(entity: entity.number, row: object.row, defaults: [])
        for (property, value) in change.after { try tx.draft.set(object, property, to: value) }
      case .update:
        for property in change.properties {
          try tx.draft.set(object, property, to: change.after[property] ?? .null)
        }
      }
    }
  }
}

extension Entity {
  /// The number of the property of this name that is not removed.
  func number(of name: String) -> PropertyNumber? {
    attribute(named: name)?.number ?? relationship(named: name)?.number
  }
}

extension Value {
  /// The value in a message.
  var short: String {
    if case .objects(let list) = self { return "\(list.map(\.row))" }
    return shortDescription
  }
}
