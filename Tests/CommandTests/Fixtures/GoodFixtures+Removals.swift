import Annals
import AnnalsEngine
import AnnalsModel

extension FixtureRecipe {
  /// Removals that record what they clear and delete; a name that is added again.
  static func removals(in store: Store) throws {
    let schema = Schema {
      Entity("Page") {
        Attribute("id", .int64, isOptional: false, isUnique: true)
        Attribute("title", .string, isOptional: false, default: "untitled")
        Relationship("tags", to: "Tag", isToMany: true, onDelete: .keep)
      }
      Entity("Tag") { Attribute("name", .string) }
    }
    try store.require(schema)
    try store.write { tx in
      let tags = try ["red", "blue"].map {
        ObjectReference(try tx.insert("Tag", ["name": .string($0)]))
      }
      for number in 1...3 as ClosedRange<Int64> {
        try tx.insert("Page", ["id": .int(number), "title": "page", "tags": .objects(tags)])
      }
    }
    try store.edit(
      .renameEntity("Page", to: "Sheet"), .removeProperty(entity: "Sheet", "title"),
      .removeProperty(entity: "Sheet", "tags"), .removeEntity("Tag"))
    try store.require(Schema { Entity("Sheet") { Attribute("title", .int64) } })
    try store.write { tx in try tx.insert("Sheet", ["id": 4, "title": 4]) }
    try store.checkpoint()
    try store.edit(.removeProperty(entity: "Sheet", "title"))
  }

  /// A to-one relationship that becomes required, and optional, and required, with a checkpoint
  /// between.
  static func required(in store: Store) throws {
    func schema(isOptional: Bool) -> Schema {
      Schema {
        Entity("Line") { Attribute("id", .string, isOptional: false, isUnique: true) }
        Entity("Stop") {
          Attribute("id", .string, isOptional: false, isUnique: true)
          Relationship("line", to: "Line", isOptional: isOptional, onDelete: .keep)
          Relationship("next", to: "Stop", onDelete: .keep)
        }
      }
    }
    try store.require(schema(isOptional: true))
    let (line, stop) = try store.write { tx in
      let line = ObjectReference(try tx.insert("Line", ["id": "red"]))
      return (line, try tx.insert("Stop", ["id": "a"]))
    }
    try store.write { tx in
      try tx.update(stop, ["line": .object(line)])
      try tx.require(schema(isOptional: false))
    }
    try store.checkpoint()
    try store.require(schema(isOptional: true))
    try store.require(schema(isOptional: false))
    try store.write { tx in
      try tx.insert(
        "Stop", ["id": "b", "line": .object(line), "next": .object(ObjectReference(stop))])
    }
  }
}

// Undo.
extension FixtureRecipe {
  /// A group with another author's transactions in between, undone, redone and undone again, in a
  /// block behind a prune and by row.
  static func undo(in store: Store) throws {
    func write(
      _ author: String, _ text: String, _ group: String? = nil, _ act: UndoRecord.Act? = nil
    ) throws {
      var origin = TransactionOrigin(author: author)
      try origin.note(UndoRecord(group: group, act: act))
      _ = try store.commitTransaction(origin) { tx in
        let note = try tx.object(of: "Note", where: "id", is: "a")
        if let note { return try tx.update(note.id, ["text": .string(text)]) }
        try tx.insert("Note", ["id": "a", "text": .string(text)])
      }
    }
    try write("ann", "Fog")
    let first = store.token.number + 1
    try write("ann", "Fog o", "typing")
    try store.write(author: "ben") { try $0.insert("Note", ["id": "b"]) }
    try write("ann", "Fog on", "typing")
    try write("ann", "Fog", "typing", .undoes(first...first + 2))
    try write("ann", "Fog on", "typing", .redoes(first + 3))
    try write("ann", "Fog", "typing", .undoes(first + 4...first + 4))
    try write("ann", "Mist", nil)
    try write("ann", "Fog", nil, .undoes(first + 6...first + 6))
    _ = try store.prune(store.prunePlan(before: first), author: "ben")
    try write("ann", "Mist", nil, .redoes(first + 7))
    try write("ann", "Mist.", "typing")
  }
}

// Migrations.
extension FixtureRecipe {
  /// A migration that splits a text, one that makes numbers and a reference of texts, and changes
  /// behind them; the first is pruned, and two checkpoints list both.
  static func migrations(in store: Store) throws {
    try store.require(
      Schema {
        Entity("Person") {
          Attribute("id", .string, isOptional: false, isUnique: true)
          Attribute("name", .string)
          Attribute("age", .string)
          Attribute("friend", .string)
        }
      })
    try store.write(author: "ann") { tx in
      try tx.insert("Person", ["id": "a", "name": "Ada Lovelace", "age": "36", "friend": "b"])
      try tx.insert("Person", ["id": "b", "name": "Alan Turing", "age": "41"])
    }
    let now = Schema {
      Entity("Person") {
        Attribute("id", .string, isOptional: false, isUnique: true)
        Attribute("first", .string, isOptional: false)
        Attribute("last", .string)
        Attribute("age", .int64, isOptional: false)
        Relationship("friend", to: "Person")
      }
    }
    let split = MigrationStep("split the name") { tx in
      for person in try tx.objects(of: "Person") {
        guard case .string(let name) = person["name"] else { continue }
        let parts = name.split(separator: " ").map { Value.string(String($0)) }
        try tx.update(person.id, ["first": parts[0], "last": parts[1]])
      }
      try tx.remove("Person", "name")
    }
    let types = MigrationStep("numbers and friends") { tx in
      try tx.convert("Person", "age") { old in
        guard case .string(let text) = old else { return nil }
        return Int64(text).map(Value.int)
      }
      try tx.convert("Person", "friend") { old in
        guard let friend = try tx.object(of: "Person", where: "id", is: old) else { return nil }
        return .object(ObjectReference(entity: friend.id.entity, row: friend.id.row))
      }
    }
    _ = try store.writer.migrate([split, types], to: now, [])
    try store.checkpoint()
    _ = try store.prune(store.prunePlan(before: store.token.number), author: "ben")
    try store.write(author: "ann") {
      try $0.insert("Person", ["id": "d", "first": "Max", "age": 9])
    }
    try store.checkpoint()
  }
}

// Rules of references.
extension FixtureRecipe {
  /// Every delete rule, and inverses, with what deletions did by them; reference indexes in two
  /// checkpoints.
  static func deleteRules(in store: Store) throws {
    let schema = Schema {
      Entity("Line") { Attribute("name", .string, isOptional: false, isUnique: true) }
      Entity("Stop") {
        Attribute("name", .string, isOptional: false, isUnique: true)
        Relationship("line", to: "Line", isOptional: false, onDelete: .cascade, inverse: "stops")
        Relationship("next", to: "Stop", onDelete: .nullify)
        Relationship("owner", to: "Line", onDelete: .deny)
        Relationship("near", to: "Stop", isToMany: true, isOrdered: true, inverse: "nearBy")
        Relationship("old", to: "Line", onDelete: .keep)
      }
    }
    try store.require(schema)
    let (red, stops) = try store.write { tx in
      let lines = try ["red", "blue"].map {
        ObjectReference(try tx.insert("Line", ["name": .string($0)]))
      }
      var stops: [ObjectReference] = []
      for number in 0..<6 {
        let values: [String: Value] = [
          "name": .string("s\(number)"), "line": .object(lines[number % 2]),
          "owner": .object(lines[1]), "old": .object(lines[0]),
          "next": stops.last.map(Value.object) ?? .null,
          "near": .objects(stops.reversed() + stops.prefix(1)),
        ]
        stops.append(ObjectReference(try tx.insert("Stop", values)))
      }
      return (lines[0], stops)
    }
    try store.checkpoint()
    func id(_ object: ObjectReference) -> ObjectID {
      ObjectID(store: store.token.store, entity: object.entity, row: object.row)
    }
    try store.write { try $0.delete(id(stops[1])) }
    try store.write { try $0.delete(id(red)) }
    try store.revert(store.token.number)
    try store.checkpoint()
    try store.write { try $0.delete(id(stops[4])) }
  }

  /// Limits of the number of references: both, each alone, loosened, removed and declared again,
  /// before and behind a checkpoint.
  static func referenceCounts(in store: Store) throws {
    func schema(_ pair: any RangeExpression<Int>) -> Schema {
      Schema {
        Entity("Stop") {
          Attribute("name", .string, isOptional: false, isUnique: true)
          Relationship("near", to: "Stop", isToMany: true, onDelete: .nullify, count: 1...3)
          Relationship("far", to: "Stop", isToMany: true, onDelete: .keep, count: ...300)
          Relationship(
            "pair", to: "Stop", isToMany: true, isOrdered: true, inverse: "pairs", count: pair)
        }
      }
    }
    try store.require(schema(2...2))
    let ids = try store.write { tx in
      let ids = try (0..<4).map { try tx.insert("Stop", ["name": .string("s\($0)")]) }
      let stops = ids.map { ObjectReference($0) }
      for (place, id) in ids.enumerated() {
        let next = [stops[(place + 1) % 4], stops[(place + 2) % 4]]
        try tx.update(
          id, ["near": .objects(Array(stops[...(place % 3)])), "pair": .objects(next)])
      }
      return ids
    }
    try store.require(schema(1...))
    try store.checkpoint()
    try store.require(schema(0...))
    try store.write { tx in
      try tx.update(ids[2], ["pair": .null, "far": .objects([ObjectReference(ids[3])])])
      try tx.delete(ids[1])
    }
    try store.require(schema(...4))
  }
}

// Derived attributes.
extension FixtureRecipe {
  /// Every kind of derivation, one of a relationship without a rule, filled, changed and ended,
  /// before and behind a checkpoint.
  static func derived(in store: Store) throws {
    var name = Attribute("name", .string, derived: .function(version: 3, from: ["first", "last"]))
    name.isUnique = true
    func schema(_ total: Derivation) -> Schema {
      Schema {
        Entity("Line") {
          Attribute("title", .string, isOptional: false, isUnique: true)
          Attribute("key", .string, derived: .normalized("title"))
          Attribute("count", .int64, isOptional: false, default: 0, derived: .count("stops"))
          Attribute("total", .int64, derived: total)
        }
        Entity("Stop") {
          Attribute("fare", .int64)
          Attribute("length", .double)
          Relationship("line", to: "Line", inverse: "stops")
          Relationship("near", to: "Stop", isToMany: true, isOrdered: true, onDelete: .keep)
          Attribute("least", .int64, derived: .minimum("near", of: "fare"))
          Attribute("most", .int64, derived: .maximum("near", of: "fare"))
          Attribute("mean", .double, derived: .average("near", of: "length"))
        }
        // Nobody here has the function, so it has no objects.
        Entity("Person") {
          Attribute("first", .string)
          Attribute("last", .string)
          name
        }
      }
    }
    try store.require(schema(.sum("stops", of: "fare")))
    let (lines, stops) = try store.write { tx in
      let lines = try ["Grün", "Ærø"].map { try tx.insert("Line", ["title": .string($0)]) }
      var stops: [ObjectID] = []
      for number in 0..<6 {
        let values: [String: Value] = [
          "fare": .int(Int64(number * 10)), "length": .double(0.1 * Double(number)),
          "line": .object(ObjectReference(lines[number % 2])),
          "near": .objects(stops.map { ObjectReference($0) }),
        ]
        stops.append(try tx.insert("Stop", values))
      }
      return (lines, stops)
    }
    try store.checkpoint()
    try store.write { try $0.update(stops[0], ["fare": 7, "line": .null]) }
    try store.write { try $0.delete(stops[1]) }
    try store.require(schema(.maximum("stops", of: "fare")))
    try store.write { try $0.update(lines[0], ["title": "GRÜN"]) }
    try store.checkpoint()
    try store.require(schema(.removed))
    try store.write { try $0.update(lines[1], ["total": 1]) }
  }
}
