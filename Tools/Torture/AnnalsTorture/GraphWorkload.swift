import Annals
import AnnalsModel

/// Trips with stops in an order, and people at the stops: every delete rule, reference indexes, and
/// limits of counts.
enum Journey {
  static let schema = Schema {
    Entity("Trip", displayName: "name") {
      Attribute("name", .string, isUnique: true)
      Relationship(
        "order", to: "Stop", isToMany: true, isOrdered: true, onDelete: .nullify, count: ...4)
    }
    Entity("Stop") {
      Attribute("name", .string)
      Relationship("trip", to: "Trip", onDelete: .cascade, inverse: "stops")
      Relationship("after", to: "Stop", onDelete: .nullify)
    }
    Entity("Person") {
      Attribute("name", .string)
      Relationship("stop", to: "Stop", isOptional: false, onDelete: .deny, inverse: "people")
      Relationship("friends", to: "Person", isToMany: true, onDelete: .nullify)
      Relationship("met", to: "Person", isToMany: true, onDelete: .keep, inverse: "metBy")
    }
  }

  /// What a change of the graph may be refused with.
  static let refusals: [AnnalsError.Code] = [.invalidChange, .conflict, .nothingToUndo]

  /// Some random changes of the graph.
  static func change(_ tx: WriteTransaction, _ numbers: inout SeededNumbers) throws {
    for _ in 0...Int.random(in: 0...3, using: &numbers) { try changeOne(tx, &numbers) }
  }

  private static func changeOne(
    _ tx: WriteTransaction, _ numbers: inout SeededNumbers
  ) throws {
    func some(_ entity: String) throws -> DynamicObject? {
      try tx.objects(of: entity).randomElement(using: &numbers)
    }
    let (trip, stop) = (try some("Trip"), try some("Stop"))
    let (one, other) = (try some("Person"), try some("Person"))
    let name = Value.string(numbers.text(12))
    switch UInt64.random(in: 0..<14, using: &numbers) {
    case 0, 1: try tx.insert("Trip", ["name": name])
    case 2, 3, 4:
      try tx.insert(
        "Stop", ["name": name, "trip": reference(trip), "after": reference(stop)])
    case 5, 6: try tx.insert("Person", ["name": name, "stop": reference(stop)])
    case 7:
      guard let trip else { return }
      let stops = try tx.objects(of: "Stop").shuffled(using: &numbers).prefix(5)
      try tx.update(trip.objectID, ["order": .objects(stops.map { ObjectReference($0.objectID) })])
    case 8:
      guard let trip, !trip["order"].list.isEmpty else { return }
      try tx.move("order", of: trip.objectID, from: 0, to: trip["order"].list.count - 1)
    case 9:
      guard let one, let other else { return }
      try tx.update(
        one.objectID,
        [
          "friends": .objects([ObjectReference(other.objectID)]),
          "met": .objects([ObjectReference(other.objectID)]),
        ])
    case 10: if let trip { try tx.delete(trip.objectID) }
    case 11: if let stop { try tx.delete(stop.objectID) }
    case 12: if let one { try tx.delete(one.objectID) }
    default: if let stop { try tx.update(stop.objectID, ["trip": reference(trip)]) }
    }
  }

  private static func reference(_ object: DynamicObject?) -> Value {
    object.map { .object(ObjectReference($0.objectID)) } ?? .null
  }
}

extension Value {
  /// The objects of a list; none for anything else.
  var list: [ObjectReference] {
    if case .objects(let list) = self { return list }
    return []
  }
}

extension WorkSession {
  /// Changes the graph, unless a rule of it refuses that.
  func changeGraph(_ store: Store, author: String? = nil, group: String? = nil) throws {
    var numbers = random
    let who = author ?? ["ann", "bob"].randomElement(using: &numbers) ?? "ann"
    try commit(store, unless: Journey.refusals) { store in
      try store.commit(author: who, context: "torture", group: group) {
        try Journey.change($0, &numbers)
      }.token
    }
    random = numbers
  }

  /// Undoes or redoes what an author did, unless that is refused.
  func takeBack(_ store: Store, _ author: String, isRedo: Bool) throws {
    try commit(store, unless: Journey.refusals) { store in
      isRedo
        ? try store.redo(author: author, merging: .ownWins).token
        : try store.undo(author: author, merging: .ownWins).token
    }
  }
}

extension Workload {
  /// Changes of a graph with rules, before and behind checkpoints and a rewrite.
  static let graph: @Sendable (WorkSession) throws -> Void = { session in
    let store = try session.open()
    try session.evolve(store, Journey.schema)
    for round in 0..<6 {
      for _ in 0..<3 { try session.changeGraph(store) }
      if round == 2 || round == 4 { try session.checkpoint(store) }
      if round == 3 { try session.compact(store) }
    }
    try session.close(store)
  }

  /// Undo and redo of two authors, of single transactions and of groups.
  static let undo: @Sendable (WorkSession) throws -> Void = { session in
    let store = try session.open()
    try session.evolve(store, Journey.schema)
    for round in 0..<5 {
      for _ in 0..<2 {
        try session.changeGraph(store, author: "ann", group: round % 2 == 0 ? "round" : nil)
      }
      try session.changeGraph(store, author: "bob")
      try session.takeBack(store, "ann", isRedo: false)
      if round % 2 == 1 { try session.takeBack(store, "bob", isRedo: false) }
      if round != 3 { try session.takeBack(store, "ann", isRedo: true) }
      if round == 2 { try session.checkpoint(store) }
      if round == 3 { try session.compact(store) }
    }
    try session.takeBack(store, "bob", isRedo: true)
    try session.close(store)
  }

  /// An editing context that is saved, alone and merged with what others wrote meanwhile.
  static let contexts: @Sendable (WorkSession) throws -> Void = { session in
    let store = try session.open()
    try session.evolve(store, Journey.schema)
    for _ in 0..<3 { try session.changeGraph(store) }
    for round in 0..<5 {
      let form = try EditingContext(store, author: "form", group: round < 2 ? "form" : nil)
      var numbers = session.random
      for step in 0..<3 {
        try form.edit("step") { try Journey.change($0, &numbers) }
        if step == 1, round % 2 == 0 { try form.undo() }
      }
      session.random = numbers
      if round != 1 { try session.changeGraph(store) }
      let policy = [MergePolicy.ownWins, .storedWins][round % 2]
      try session.commit(store, unless: Journey.refusals) { _ in
        try form.save(merging: policy).token
      }
      if round == 2 { try session.checkpoint(store) }
    }
    try session.close(store)
  }
}
