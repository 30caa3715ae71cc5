import Annals
import AnnalsModel

/// A sequence of operations on a store, the same in each run with one seed, that trials interrupt.
package struct Workload: Sendable {
  /// The name in tables and on the command line.
  package let name: String
  /// What precedes it on a disk that does not fail; nothing if the work creates the store.
  let setUp: @Sendable (WorkSession) throws -> Void
  /// The work.
  let work: @Sendable (WorkSession) throws -> Void
  /// Whether the disk can place a file under a free name only by linking it.
  let placesByLinking: Bool
  /// Whether one run takes so long that a debug build can make only few.
  package var isLong: Bool { name == "close" }

  /// A workload with a name, a set-up and work.
  package init(
    _ name: String, setUp: @escaping @Sendable (WorkSession) throws -> Void = { _ in },
    placesByLinking: Bool = false, work: @escaping @Sendable (WorkSession) throws -> Void
  ) {
    self.name = name
    self.placesByLinking = placesByLinking
    self.setUp = setUp
    self.work = work
  }

  /// A closed store with some transactions.
  private static func filled(_ count: Int) -> @Sendable (WorkSession) throws -> Void {
    { session in
      let store = try session.open()
      for _ in 0..<count { try session.commitSomething(store) }
      try session.close(store)
    }
  }

  /// Every workload.
  package static let all: [Workload] = [
    Workload("creation") { session in
      try session.close(session.open())
    },
    Workload("commits", setUp: filled(3)) { session in
      let store = try session.open()
      for _ in 0..<5 { try session.commitSomething(store) }
      try session.close(store)
    },
    Workload("deferred", setUp: filled(2)) { session in
      let store = try session.open(.deferred)
      for number in 1...7 {
        try session.commitSomething(store)
        if number == 4 { try session.sync(store) }
      }
      try session.close(store)
    },
    Workload("checkpoints", setUp: filled(3)) { session in
      let store = try session.open()
      for _ in 0..<3 {
        try session.checkpoint(store)
        try session.commitSomething(store)
      }
      try session.close(store)
    },
    Workload("schema", setUp: filled(4), work: evolution),
    Workload("migrations", setUp: filled(4), work: migrating),
    Workload("indexes", setUp: filled(4), work: indexing),
    Workload("projections", setUp: filled(2)) { session in
      let store = try session.open()
      store.register(NoteCount.self)
      try session.checkpoint(store)
      try session.commitSomething(store)
      try session.checkpoint(store)
      try session.commitSomething(store)
      try session.compact(store)
      try session.commitSomething(store)
      try session.prune(store, before: 5)
      try session.commitSomething(store)
      try session.close(store)
    },
    Workload("large-values", setUp: filled(2), work: largeValues),
    Workload("given-up", setUp: filled(2)) { session in
      let store = try session.open()
      for length in [300_000, 40] {
        var text = session.random.text(length)
        try session.abort(store) { tx in
          try WorkSession.insertNote(tx, text: text)
          text.append("!")
          try WorkSession.insertNote(tx, text: text)
        }
      }
      try session.commitSomething(store)
      try session.close(store)
    },
    Workload("prune", setUp: filled(9)) { session in
      let store = try session.open()
      try session.commitSomething(store)
      try session.prune(store, before: 5)
      try session.commitSomething(store)
      try session.prune(store, before: 9)
      try session.commitSomething(store)
      try session.close(store)
    },
    Workload("retain", setUp: filled(3), work: retaining),
    Workload("graph", setUp: filled(2), work: graph),
    Workload("undo", setUp: filled(2), work: undo),
    Workload("contexts", setUp: filled(2), work: contexts),
    Workload("compact", setUp: filled(8)) { session in
      let store = try session.open()
      try session.commitSomething(store)
      try session.compact(store)
      try session.commitSomething(store)
      try session.compact(store, smallest: true)
      try session.commitSomething(store)
      try session.close(store)
    },
    Workload("erase", setUp: filled(7)) { session in
      let store = try session.open()
      try session.commitSomething(store)
      try session.erase(store)
      try session.commitSomething(store)
      try session.prune(store, before: 5)
      try session.erase(store, property: "text")
      try session.commitSomething(store)
      try session.compact(store)
      try session.close(store)
    },
    Workload("replay", setUp: filled(7)) { session in
      let store = try session.open(.readOnly)
      try session.replay(store, to: "/whole.annals", at: 5, flatten: false)
      try session.replay(store, to: "/flat.annals", at: 6, flatten: true)
      try session.close(store)
    },
    Workload("backup", setUp: filled(5)) { session in
      let store = try session.open()
      try session.commitSomething(store)
      try session.backUp(store, to: "/copy.annals")
      try session.commitSomething(store)
      try session.close(store)
    },
    Workload("unclean", setUp: unclosed) { session in
      let store = try session.open()
      try session.commitSomething(store)
      try session.checkpoint(store)
      try session.close(store)
    },
    Workload("slots", setUp: filled(2), work: slots),
    Workload("two-openings", setUp: filled(3), work: twoOpenings),
    Workload("close", setUp: filled(2), work: closing),
    Workload("large-schema", setUp: filled(2), work: largeEvolution),
    Workload("base") { session in
      try session.create(base: 7)
      let store = try session.open()
      for _ in 0..<2 { try session.commitSomething(store) }
      try session.close(store)
    },
    Workload("salvage", setUp: filled(6)) { try $0.salvage(to: "/saved.annals") },
    Workload("linking", placesByLinking: true) { session in
      let store = try session.open()
      try session.commitSomething(store)
      try session.replay(store, to: "/whole.annals", at: 1, flatten: false)
      try session.compact(store)
      try session.commitSomething(store)
      try session.close(store)
    },
    Workload("base-linking", placesByLinking: true) { session in
      try session.create(base: 3)
      try session.close(session.open())
    },
  ]

  /// Writes enough log that root slots are written in between, with and without deferred syncs, and
  /// by two openings in turn.
  private static let slots: @Sendable (WorkSession) throws -> Void = { session in
    let store = try session.open()
    for _ in 0..<3 {
      let text = session.random.text(70_000)
      try session.commit(store) { try WorkSession.insertNote($0, text: text) }
    }
    try session.commitSomething(store)
    let deferred = try session.open(.deferred)
    for _ in 0..<3 {
      try session.commitSomething(deferred)
      try session.sync(deferred)
    }
    try session.commitSomething(store)
    try session.close(store)
    try session.commitSomething(deferred)
    try session.close(deferred)
  }

  /// Makes enough changes that closing writes a checkpoint.
  private static let closing: @Sendable (WorkSession) throws -> Void = { session in
    let store = try session.open(.deferred)
    try session.commit(store) { tx in
      for number in 0..<5_100 {
        try tx.insert("Note", ["id": .string("many \(number)"), "count": .int(Int64(number))])
      }
    }
    try session.commitSomething(store)
    try session.close(store)
  }

  /// Changes and removes properties while objects have large values in them.
  private static let largeEvolution: @Sendable (WorkSession) throws -> Void = { session in
    let store = try session.open()
    for length in [5_000, 300_000] {
      let bytes = session.random.bytes(length)
      try session.commit(store) { tx in
        try tx.insert("Note", ["id": .string("large \(length)"), "body": .data(bytes)])
      }
    }
    try session.evolve(
      store, Schema(), .renameProperty(entity: "Note", "body", to: "contents"))
    try session.evolve(
      store, Schema { Entity("Note") { Attribute("body", .data) } })
    let bytes = session.random.bytes(20_000)
    try session.commit(store) { tx in
      for note in try tx.objects(of: "Note") {
        try tx.update(note.objectID, ["body": .data(bytes)])
      }
    }
    try session.evolve(store, Schema(), .removeProperty(entity: "Note", "contents"))
    try session.checkpoint(store)
    try session.compact(store)
    try session.close(store)
  }

  /// Extends and edits the schema, and uses it in between.
  private static let evolution: @Sendable (WorkSession) throws -> Void = { session in
    let store = try session.open()
    try session.evolve(
      store,
      Schema {
        Entity("Note") {
          Attribute("stars", .int64, isOptional: false, default: .int(3))
        }
        Entity("Tag") { Attribute("label", .string, isUnique: true) }
      })
    try session.commit(store) { tx in
      try tx.insert("Tag", ["label": "new"])
      try WorkSession.insertNote(tx, text: "with stars")
    }
    try session.evolve(
      store, Schema(), .renameProperty(entity: "Note", "stars", to: "rating"),
      .removeProperty(entity: "Note", "count"))
    try session.checkpoint(store)
    try session.evolve(store, Schema(), .removeEntity("Tag"))
    try session.commit(store) { try WorkSession.insertNote($0, text: "without a tag") }
    try session.close(store)
  }

  /// Opens the store with a migration that changes a type and sets what is required, and with a
  /// second one after a prune.
  private static let migrating: @Sendable (WorkSession) throws -> Void = { session in
    let store = try session.open()
    try session.evolve(store, Schema { Entity("Note") { Attribute("rank", .string) } })
    try session.commit(store) { tx in
      for note in try tx.objects(of: "Note") { try tx.update(note.id, ["rank": "7"]) }
    }
    try session.close(store)
    let schema = Schema {
      Entity("Note") {
        Attribute("rank", .int64)
        // What is written after a crash knows nothing of it.
        Attribute("stars", .int64, isOptional: false, default: .int(1))
      }
    }
    let first = Migration("ranks") { tx in
      for note in try tx.objects(of: "Note") { try tx.update(note.id, ["stars": 3]) }
      try tx.convert("Note", "rank") { _ in .int(7) }
    }
    let migrated = try session.open(migrating: first, to: schema)
    try session.prune(migrated, before: 4)
    try session.close(migrated)
    let last = Migration("stars") { try $0.remove("Note", "stars") }
    let again = try session.open(
      migrating: last, to: Schema { Entity("Note") { Attribute("rank", .int64) } })
    try session.commitSomething(again)
    try session.close(again)
  }

  /// Adds ordered indexes, one of them partial, and a box index, changes objects, removes indexes.
  private static let indexing: @Sendable (WorkSession) throws -> Void = { session in
    let store = try session.open()
    try session.evolve(
      store,
      Schema {
        Entity("Note") {
          Attribute("text", .string)
          Attribute("count", .int64)
          IndexDescription("by text", ["text", "count"])
          IndexDescription(
            "counted", [IndexElement("count", isDescending: true)],
            where: .compare("count", .notEqual, .null))
          Attribute("rank", .int32, isOptional: false, default: .int(7))
          Attribute("price", .decimal, isOptional: false, default: .decimal(RawDecimal(7)))
          Attribute("due", .day, isOptional: false, default: .day(.latest))
          IndexDescription("by price", ["price", "due"])
          IndexDescription("by both", box: ["count", "rank"])
          Attribute("key", .string, derived: .normalized("text"))
          IndexDescription("by key", ["key"])
        }
        Entity("Folder") { Attribute("size", .int64, derived: .count("notes")) }
      })
    try session.commitSomething(store)
    try session.checkpoint(store)
    try session.commitSomething(store)
    try session.checkpoint(store)
    try session.evolve(store, Schema(), .removeIndex(entity: "Note", "by text"))
    try session.commitSomething(store)
    try session.compact(store)
    try session.commitSomething(store)
    try session.close(store)
  }

  /// Values over 4 KiB, one in several pieces, and a transaction in several parts.
  private static let largeValues: @Sendable (WorkSession) throws -> Void = { session in
    let store = try session.open()
    for length in [5_000, 70_000, 1_100_000] {
      let text = session.random.text(length)
      try session.commit(store) { try WorkSession.insertNote($0, text: text) }
    }
    var numbers = session.random
    try session.commit(store) { tx in
      for index in 0..<400 {
        try tx.insert(
          "Note", ["id": .string("part \(index)"), "text": .string(numbers.text(2_000))])
      }
    }
    session.random = numbers
    try session.commitSomething(store)
    try session.close(store)
  }

  /// A store whose last transactions are not synced, as a killed process leaves it.
  private static let unclosed: @Sendable (WorkSession) throws -> Void = { session in
    let store = try session.open()
    try session.commitSomething(store)
    try session.close(store)
    let deferred = try session.open(.deferred)
    for _ in 0..<4 { try session.commitSomething(deferred) }
  }

  /// Two openings take turns like two processes; one writes checkpoints, compacts and prunes while
  /// the other is open.
  private static let twoOpenings: @Sendable (WorkSession) throws -> Void = { session in
    let one = try session.open()
    let two = try session.open(.deferred)
    for number in 1...3 {
      try session.commitSomething(number == 2 ? two : one)
      try session.commitSomething(number == 2 ? one : two)
    }
    try session.checkpoint(two)
    try session.commitSomething(one)
    try session.compact(one)
    try session.commitSomething(two)
    try session.prune(two, before: 5)
    try session.commitSomething(one)
    try session.close(one)
    try session.commitSomething(two)
    try session.close(two)
  }
}
