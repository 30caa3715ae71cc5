import Annals
import AnnalsFormat
import AnnalsModel
import AnnalsSalvage
import AnnalsTestSupport
import Foundation

@testable import AnnalsCommand

extension FixtureRecipe {
  static let good: [FixtureRecipe] = [
    FixtureRecipe("empty-store") { try $0.made(notes: false) { _ in } },
    FixtureRecipe("one-transaction") {
      try $0.made(notes: false) { store in
        _ = try store.write(author: "Ann") { tx in
          try tx.require(noteSchema)
          _ = try tx.insert("Note", ["id": "a", "text": "Fog"])
        }
      }
    },
    FixtureRecipe("every-value-type") { try $0.made(notes: false, everyType) },
    FixtureRecipe("updates-and-deletes") { try $0.made(edits) },
    FixtureRecipe("relationships") { try $0.made(relationships) },
    FixtureRecipe("schema-evolution") { try $0.made(evolution) },
    FixtureRecipe("removals") { try $0.made(notes: false, removals) },
    FixtureRecipe("required-relationship") { try $0.made(notes: false, required) },
    FixtureRecipe("delete-rules") { try $0.made(notes: false, deleteRules) },
    FixtureRecipe("reference-counts") { try $0.made(notes: false, referenceCounts) },
    FixtureRecipe("derived") { try $0.made(notes: false, derived) },
    FixtureRecipe("undo") { try $0.made(undo) },
    FixtureRecipe("migrations") { try $0.made(migrations) },
    FixtureRecipe("large-values") { try $0.made(largeValues) },
    FixtureRecipe("large-value-in-pieces") { folder in
      var bytes = try FixtureBytes(ContiguousArray(folder.made(largeValues)))
      try bytes.cutLargeValues(into: 2048)
      return Data(bytes.bytes)
    },
    FixtureRecipe("columnar-transaction") { try $0.made { try notes(120, in: $0) } },
    FixtureRecipe("continued-transaction") { try $0.made { try continued(180, in: $0) } },
    FixtureRecipe("long-transaction") { try $0.made { try continued(280, in: $0) } },
    FixtureRecipe("authors-and-openings") { try authors($0) },
    FixtureRecipe("checkpoint-and-indexes") { try $0.made(checkpoint) },
    FixtureRecipe("saved-projections") { try $0.made(projections) },
    FixtureRecipe("ordered-indexes") { try $0.made(notes: false, orderedIndexes) },
    FixtureRecipe("box-indexes") { try $0.made(notes: false, boxIndexes) },
    FixtureRecipe("consumers") { try $0.made(consumers) },
    FixtureRecipe("retention") { try $0.made(retention) },
    FixtureRecipe("tombstones") { try $0.made(tombstones) },
    FixtureRecipe("compacted") { folder in
      try folder.made {
        try edits(in: $0)
        try manyEdits(in: $0)
        try $0.checkpoint()
        _ = try $0.compact()
      }
    },
    FixtureRecipe("compacted-smallest") { folder in
      try folder.made {
        try largeValues(in: $0)
        _ = try $0.compact(smallest: true)
      }
    },
    FixtureRecipe("versions-of-a-text") { folder in
      try folder.made {
        try versions(in: $0)
        _ = try $0.compact(smallest: true)
        try $0.write { tx in try tx.insert("Note", ["id": "after"]) }
      }
    },
    FixtureRecipe("pruned") { folder in
      try folder.made {
        try edits(in: $0)
        try largeValues(in: $0)
        _ = try $0.prune($0.prunePlan(before: 5), author: "Ann Ågren")
        _ = try $0.write { tx in _ = try tx.insert("Note", ["id": "after"]) }
      }
    },
    FixtureRecipe("flattened") { folder in
      let path = folder.file("flattened.annals")
      _ = try folder.made {
        try edits(in: $0)
        try relationships(in: $0)
        try $0.replay(to: path, at: 6, flatten: true)
      }
      return try Data(contentsOf: URL(fileURLWithPath: path))
    },
    FixtureRecipe("erased") { folder in
      try folder.made {
        try edits(in: $0)
        try relationships(in: $0)
        try largeValues(in: $0)
        try $0.checkpoint()
        _ = try $0.prune($0.prunePlan(before: 4), author: "Ann")
        let objects = try $0.snapshot().objects(of: "Note")
        for note in objects.prefix(3) {
          try $0.erase(note.objectID, properties: ["text"], reason: "a name in it", author: "Ann")
        }
        if let last = objects.last {
          try $0.erase(last.objectID, reason: "asked for", author: "Ben")
        }
        _ = try $0.write { tx in
          try tx.update(objects[0].objectID, ["text": "without the name"])
          _ = try tx.insert("Note", ["id": "after"])
        }
      }
    },
    FixtureRecipe("decimals-days") { try $0.made(notes: false, decimalsAndDays) },
    FixtureRecipe("decimals-in-any") { try $0.made(notes: false, decimalsInAny) },
    FixtureRecipe("not-closed") { try $0.made(isClosed: false, edits) },
    FixtureRecipe("imported-before-1970") { try imported($0) },
    FixtureRecipe("pruned-before-1970") { try pruned($0) },
    FixtureRecipe("clock-jumps") { try clockJumps($0) },
    FixtureRecipe("relationships-in-blocks-and-chunks") { folder in
      try folder.made {
        try relationships(in: $0)
        try $0.checkpoint()
        _ = try $0.compact()
      }
    },
    FixtureRecipe("all-kinds") { folder in
      try folder.made(notes: false) {
        try allKinds(in: $0)
        try $0.checkpoint()
        _ = try $0.compact()
      }
    },
    FixtureRecipe("texts-with-numbers") { folder in
      try folder.made(notes: false) {
        try textsWithNumbers(in: $0)
        try $0.checkpoint()
        _ = try $0.compact()
      }
    },
    FixtureRecipe("rows-with-holes") { folder in
      try folder.made(notes: false) {
        try holes(in: $0)
        try $0.checkpoint()
      }
    },
    FixtureRecipe("tables-in-chunks") { folder in
      let whole = try folder.made {
        try edits(in: $0)
        try largeValues(in: $0)
        try evolution(in: $0)
        try $0.checkpoint()
      }
      var bytes = try FixtureBytes(ContiguousArray(whole))
      try bytes.moveTablesIntoChunks()
      return Data(bytes.bytes)
    },
    FixtureRecipe("schema-in-steps") { try $0.made(notes: false, schemaInSteps) },
    FixtureRecipe("list-chunks") { try $0.made(notes: false, listChunks) },
    FixtureRecipe("large-values-of-every-kind") { try $0.made(notes: false, largeKinds) },
    FixtureRecipe("erased-relationships") { try $0.made(notes: false, erasedRelationships) },
    FixtureRecipe("salvaged-exactly") { folder in
      let good = try folder.made {
        _ = try $0.write { tx in try tx.insert("Note", ["id": "a", "text": "Fog"]) }
        _ = try $0.write { tx in try tx.insert("Note", ["id": "lost"]) }
        try $0.checkpoint()
        _ = try $0.write { tx in try tx.insert("Note", ["id": "b"]) }
      }
      return try salvagedExactly(folder, good)
    },
    FixtureRecipe("not-ascii") { try $0.made(notes: false, notASCII) },
    FixtureRecipe("salvaged") { try salvaged($0) },
  ]

  private static func everyType(in store: Store) throws {
    let schema = Schema {
      Entity("Thing", displayName: "string") {
        Attribute("id", .int64, isOptional: false, isUnique: true)
        for type in AttributeType.allCases.prefix(12) { Attribute("\(type)", type) }
        Attribute("short", .string, validation: Validation(minimumLength: 1, maximumLength: 9))
        Attribute("few", .int16, default: 2, validation: Validation(minimum: -3, maximum: 3))
        Attribute("one", .string, validation: Validation(oneOf: ["a", "b"]))
      }
    }
    try store.require(schema)
    let some: [String: Value] = [
      "bool": true, "int16": -32768, "int32": 2_147_483_647, "int64": .int(.min), "double": 0.1,
      "string": "text", "date": .date(Timestamp(microseconds: 1_571_767_200_123_456)),
      "uuid": .uuid(RawUUID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)),
      "url": .url("https://example.org/a?b=c#d"), "data": .data([0, 255, 10]),
      "json": .json(#"{"a": [1, null, "é"]}"#), "short": "123456789", "few": -3, "one": "b",
    ]
    try store.write { tx in
      try tx.insert("Thing", some.merging(["id": 1, "any": "any text"]) { $1 })
      let least: [String: Value] = [
        "bool": false, "int64": .int(.max), "double": .double(-.leastNonzeroMagnitude),
        "string": "", "date": .date(Timestamp(microseconds: -62_135_596_800_000_000)),
        "url": .url("a:"),
        "data": .data([]), "json": .json("null"), "any": .bool(false),
      ]
      try tx.insert("Thing", least.merging(["id": 2]) { $1 })
      try tx.insert("Thing", ["id": 3])
    }
    let anything: [Value] = [
      7, -0.0, .date(Timestamp(microseconds: -1)), .uuid(RawUUID(high: 1, low: 2)),
      .url("mailto:a@example.org"), .data([1, 2, 3]), .json("[]"), "", nil,
    ]
    for value in anything {
      try store.write { tx in
        guard let one = try tx.object(of: "Thing", where: "id", is: 3) else { return }
        try tx.update(one.id, ["any": value])
      }
    }
    try store.write { tx in
      guard let first = try tx.object(of: "Thing", where: "id", is: 1) else { return }
      try tx.update(first.id, some.mapValues { _ in .null })
    }
  }

  /// Transactions 2 to 6: inserts, updates, a delete that leaves a tombstone, and its undoing.
  static func edits(in store: Store) throws {
    try store.write(author: "Ann", context: "share", metadata: ["message": "first"]) { tx in
      for id in ["a", "b", "c"] { try tx.insert("Note", ["id": .string(id), "text": "Fog"]) }
    }
    try store.write(author: "Ben") { tx in
      guard let note = try tx.object(of: "Note", where: "id", is: "a") else { return }
      try tx.update(note.id, ["text": "Misty Morning", "count": 3])
    }
    let deleted = try store.commit(author: "Ben") { tx in
      guard let note = try tx.object(of: "Note", where: "id", is: "b") else { return }
      try tx.delete(note.id)
    }.token
    try store.write { tx in
      guard let note = try tx.object(of: "Note", where: "id", is: "c") else { return }
      try tx.update(note.id, ["text": nil])
      try tx.insert("Note", ["id": "d", "count": -1])
    }
    try store.revert(deleted)
  }

  static func relationships(in store: Store) throws {
    var notes: [ObjectID] = []
    var folder: ObjectID?
    try store.write { tx in
      for n in 1...5 { notes.append(try tx.insert("Note", ["id": .string("note \(n)")])) }
      folder = try tx.insert(
        "Folder", ["name": "box", "notes": .objects(notes.prefix(3).map { ObjectReference($0) })])
    }
    guard let folder else { return }
    let orders = [[4, 0, 1, 2], [2, 1, 0], [0, 0, 3, 3], [], [4, 3, 2, 1, 0]]
    for (index, order) in orders.enumerated() {
      try store.write { tx in
        try tx.update(folder, ["notes": .objects(order.map { ObjectReference(notes[$0]) })])
        try tx.update(notes[index], ["folder": .object(ObjectReference(folder))])
      }
    }
    try store.write { tx in
      try tx.update(notes[0], ["folder": nil])
      try tx.delete(notes[4])
    }
  }

  static func evolution(in store: Store) throws {
    try store.write { tx in
      for n in 1...3 { try tx.insert("Note", ["id": .string("\(n)"), "count": .int(Int64(n))]) }
    }
    try store.require(
      Schema {
        Entity("Note") {
          Attribute("stars", .int64, isOptional: false, default: 3)
          Attribute("count", .any)
        }
        Entity("Tag") { Attribute("name", .string, isUnique: true) }
      })
    try store.write { tx in
      guard let note = try tx.object(of: "Note", where: "id", is: "1") else { return }
      try tx.update(note.id, ["stars": 5, "count": "many"])
      try tx.insert("Tag", ["name": "new"])
    }
    try store.edit(
      .renameEntity("Note", to: "Page"), .renameProperty(entity: "Page", "text", to: "title"))
    try store.write { tx in try tx.insert("Page", ["id": "4", "title": "a page"]) }
    try store.edit(.removeProperty(entity: "Page", "count"), .removeEntity("Tag"))
    try store.write { tx in try tx.insert("Page", ["id": "5", "stars": 1]) }
  }

  private static func largeValues(in store: Store) throws {
    let long = { (text: String) in Value.string(String(repeating: text, count: 1000)) }
    try store.write { tx in
      try tx.insert("Note", ["id": "long", "text": long("abcde")])
      try tx.insert("Note", ["id": "short", "text": "abcde"])
    }
    try store.write { tx in
      guard let note = try tx.object(of: "Note", where: "id", is: "long") else { return }
      try tx.update(note.id, ["text": long("fghij")])
    }
    try store.write { tx in
      guard let note = try tx.object(of: "Note", where: "id", is: "long") else { return }
      try tx.update(note.id, ["text": "no longer", "count": 1])
    }
    try store.write { tx in try tx.insert("Note", ["id": "last", "text": long("klmno")]) }
  }

  /// A long text of which lines are changed, put in, taken out and moved, and a copy of it.
  private static func versions(in store: Store) throws {
    var random = SeededRandom(seed: 4)
    var lines = (0..<300).map { _ in "\(UInt64.random(in: 0 ... .max, using: &random))" }
    func text() -> Value { .string(lines.joined(separator: "\n")) }
    func save() throws {
      try store.write { tx in
        guard let note = try tx.object(of: "Note", where: "id", is: "long") else { return }
        try tx.update(note.id, ["text": text()])
      }
    }
    try store.write { tx in try tx.insert("Note", ["id": "long", "text": text()]) }
    lines[7] = "changed"
    try save()
    lines.insert(contentsOf: ["put in", "and this, too"], at: 150)
    try save()
    lines.removeFirst(20)
    lines.append("the end")
    try save()
    lines = Array(lines[200...] + lines[..<200])
    try save()
    try store.write { tx in try tx.insert("Note", ["id": "copy", "text": text()]) }
    lines = (0..<300).map { _ in "\(UInt64.random(in: 0 ... .max, using: &random))" }
    try save()
  }

  private static func notes(_ count: Int, in store: Store) throws {
    try store.write(author: "Ann") { tx in
      for n in 1...count {
        try tx.insert(
          "Note",
          [
            "id": .string("note \(n)"), "count": .int(Int64(n * n)),
            "text": n % 7 == 0 ? nil : .string("The text of note \(n), one of \(count)"),
          ])
      }
    }
  }

  /// A transaction of several parts, most of which is the same text again and again: 3,900 bytes in
  /// each of so many notes.
  private static func continued(_ count: Int, in store: Store) throws {
    let text = Value.string(String(repeating: "again ", count: 650))
    try store.write { tx in
      for n in 1...count { try tx.insert("Note", ["id": .string("\(n)"), "text": text]) }
    }
    try store.write { tx in
      guard let note = try tx.object(of: "Note", where: "id", is: "7") else { return }
      try tx.update(note.id, ["text": "once"])
    }
  }

  private static func manyEdits(in store: Store) throws {
    for n in 1...60 {
      try store.write(author: ["Ann", "Ben", nil][n % 3], context: n % 4 == 0 ? "bulk" : nil) {
        tx in
        guard let note = try tx.object(of: "Note", where: "id", is: "a") else { return }
        try tx.update(note.id, ["count": .int(Int64(n)), "text": .string("edit \(n)")])
        if n % 5 == 0 { try tx.insert("Note", ["id": .string("more \(n)")]) }
      }
    }
  }

  private static func checkpoint(in store: Store) throws {
    let index = IndexDescription("place", ["shelf", "place"], isUnique: true)
    try store.require(
      Schema {
        Entity("Book", displayName: "title") {
          Attribute("id", .uuid, isOptional: false, isUnique: true)
          Attribute("title", .string)
          Attribute("shelf", .string)
          Attribute("place", .int32)
          Attribute("price", .double)
          index
        }
      })
    try store.write(author: "Ann") { tx in
      for n in 0..<200 {
        let mixed = UInt64(n + 1) &* 0x9E37_79B9_7F4A_7C15
        try tx.insert(
          "Book",
          [
            "id": .uuid(RawUUID(high: mixed, low: mixed &* 31)), "title": .string("Volume \(n)"),
            "shelf": .string("shelf \(n / 50)"), "place": .int(Int64(n % 50)),
            "price": .double(Double(n) / 4),
          ])
      }
    }
    try edits(in: store)
    try store.checkpoint()
    try store.write { tx in try tx.insert("Note", ["id": "behind"]) }
    try store.checkpoint()
    try store.write { tx in try tx.insert("Note", ["id": "last"]) }
  }

  private static func authors(_ folder: CommandFolder) throws -> Data {
    let path = folder.file("authors.annals")
    for (index, author) in ["Ann", "Ben", "Cy"].enumerated() {
      let environment = StoreEnvironment.fixed(
        start: fixtureStart, seed: UInt64(index + 1), processName: "program \(index)",
        processID: Int64(index + 100))
      let store = try Store(path: path, schema: noteSchema, environment: environment)
      try store.write(author: author, context: index == 1 ? nil : "context \(index)") { tx in
        try tx.insert("Note", ["id": .string(author)])
      }
      let metadata: [String: Value] = [
        "message": .string("by \(index)"), "n": .int(Int64(index)), "on": true, "part": 0.5,
      ]
      try store.write(author: "Ann", metadata: metadata) { tx in
        try tx.insert("Note", ["id": .string(author + " again")])
      }
      try store.close()
    }
    return try Data(contentsOf: URL(fileURLWithPath: path))
  }

  private static func imported(_ folder: CommandFolder) throws -> Data {
    let lines = [
      #"{"timestamp":"1903-12-17T10:35:00Z","author":"Orville","changes":[{"op":"insert","#
        + #""entity":"Flight","id":"1","set":{"metres":37,"pilot":"Orville"}}]}"#,
      #"{"timestamp":"1903-12-17T12:00:00.000001Z","author":"Wilbur","changes":[{"op":"insert","#
        + #""entity":"Flight","id":"4","set":{"metres":260,"pilot":"Wilbur","seconds":59.5}}]}"#,
      #"{"timestamp":"1903-12-17T11:20:00Z","message":"out of order, and empty","changes":[]}"#,
      #"{"timestamp":"1969-12-31T23:59:59.999999Z","changes":[{"op":"update","entity":"Flight","#
        + #""id":"1","set":{"pilot":null,"metres":"120 feet"}}]}"#,
      #"{"timestamp":"1970-01-01T00:00:00Z","changes":[{"op":"delete","entity":"Flight","#
        + #""id":"4"}]}"#,
    ]
    try folder.write(lines.joined(separator: "\n") + "\n", to: "flights.jsonl")
    folder.run("import", "@flights.annals", "@flights.jsonl")
    return try Data(contentsOf: URL(fileURLWithPath: folder.file("flights.annals")))
  }

  /// What is left of a store that lost a transaction and a large value.
  private static func salvaged(_ folder: CommandFolder) throws -> Data {
    let good = try folder.made {
      try edits(in: $0)
      try largeValues(in: $0)
    }
    var bytes = try FixtureBytes(ContiguousArray(good))
    bytes.flip(bytes.frames[2])
    let frames = bytes.frames(.largeValue)
    bytes.flip(frames[frames.count - 1])
    let (damaged, whole) = (folder.file("damaged.annals"), folder.file("salvaged.annals"))
    try Data(bytes.bytes).write(to: URL(fileURLWithPath: damaged))
    let environment = StoreEnvironment.fixed(start: fixtureStart, seed: 9)
    let report = try Store.salvage(damaged, to: whole, environment: environment)
    guard !report.isComplete else { throw CocoaError(.fileReadCorruptFile) }
    return try Data(contentsOf: URL(fileURLWithPath: whole))
  }

  private static func notASCII(in store: Store) throws {
    try store.require(
      Schema {
        Entity("Müller·Straße", displayName: "naïve") {
          Attribute("ключ", .string, isOptional: false, isUnique: true)
          Attribute("naïve", .string)
          Attribute("数", .int64)
        }
      })
    try store.write(author: "Zoë", context: "共有", metadata: ["note": "🌫️"]) { tx in
      // Two texts that look the same and are not: composed, and with a combining accent.
      try tx.insert("Müller·Straße", ["ключ": "\u{E9}", "naïve": "нет", "数": 1])
      try tx.insert("Müller·Straße", ["ключ": "e\u{301}", "naïve": "👩‍👩‍👧", "数": 2])
      try tx.insert("Müller·Straße", ["ключ": "\u{0}\t\n\"\\", "naïve": "\u{2028}"])
    }
  }
}

private let fixtureStart = Timestamp(microseconds: 1_571_767_200_000_000)

/// Notes with a unique id, in folders.
private let noteSchema = Schema {
  Entity("Note", displayName: "text") {
    Attribute("id", .string, isOptional: false, isUnique: true, isPreservedAfterDeletion: true)
    Attribute("text", .string)
    Attribute("count", .int64)
    Relationship("folder", to: "Folder", onDelete: .keep)
  }
  Entity("Folder") {
    Attribute("name", .string, isUnique: true)
    Relationship("notes", to: "Note", isToMany: true, isOrdered: true, onDelete: .keep)
  }
}

extension CommandFolder {
  /// The bytes of a new store, with the schema of notes or none, on which `body` ran.
  fileprivate func made(
    notes: Bool = true, isClosed: Bool = true, _ body: (Store) throws -> Void
  ) throws -> Data {
    let path = file("made.annals")
    let environment = StoreEnvironment.fixed(
      start: fixtureStart, seed: 7, processName: "fixtures", processID: 311)
    let store = try Store(.file(path), creates: true, environment: environment)
    defer { try? FileManager.default.removeItem(atPath: path) }
    if notes { try store.require(noteSchema) }
    try body(store)
    if isClosed { try store.close() }
    defer { try? store.close() }
    return try Data(contentsOf: URL(fileURLWithPath: path))
  }
}
