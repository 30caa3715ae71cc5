import Annals
import AnnalsEngine
import AnnalsModel
import AnnalsSalvage
import AnnalsTestSupport
import Foundation

// What no other fixture has of the format (`LayoutTests`).

extension FixtureRecipe {
  /// Objects in so many groups of rows that the references to their chunks lie in list chunks: two
  /// lists of rows and of a column, as one range of groups has one each; a second checkpoint behind
  /// a change, which shares all lists but those of what has changed.
  static func listChunks(in store: Store) throws {
    try store.require(
      Schema {
        Entity("Far") {
          Attribute("id", .int64, isOptional: false, isUnique: true)
          Attribute("text", .string)
        }
      })
    let number: EntityNumber = 1
    try store.write { tx in
      for group in Array(0..<70 as Range<Int64>) + [4096, 4097] {
        let object = try tx.draft.insert(entity: number, row: group * 4096 + 1, defaults: [])
        try tx.draft.set(object, 1, to: .int(group))
        if group < 3 { try tx.draft.set(object, 2, to: .string("in a directory")) }
      }
    }
    try store.checkpoint()
    try store.write { tx in
      let object = try tx.draft.insert(entity: number, row: 4097 * 4096 + 9, defaults: [])
      try tx.draft.set(object, 1, to: .int(-1))
    }
    try store.checkpoint()
  }

  /// Texts as patterns and numbers: with one pattern, with several, some without a number or with
  /// more digits than the others, among distinct values, and with prefixes that share bytes.
  static func textsWithNumbers(in store: Store) throws {
    try store.require(
      Schema {
        Entity("Letter") {
          Attribute("id", .string, isOptional: false, isUnique: true)
          Attribute("image", .string)
          Attribute("page", .string)
          Attribute("link", .url)
        }
      })
    try store.write { tx in
      for number in 1...80 {
        let digits =
          number % 20 == 7 ? "1000000" : String(String(1_000_000 + number * 37).dropFirst())
        try tx.insert(
          "Letter",
          [
            "id": .string("\(number)@\(number % 3 == 0 ? "ben" : "anna")"),
            "image": .string(number % 20 == 9 ? "none" : "img-\(digits).png"),
            "page": .string("\(number % 20) of the last pages"),
            "link": .url("https://example.org/letters/\(number % 2 == 0 ? "a" : "b")/\(number)"),
          ])
      }
    }
  }

  /// An entity of many properties that changes one thing at a time, so by partial definitions:
  /// something of each list is added, changed and gone.
  static func schemaInSteps(in store: Store) throws {
    try store.require(
      Schema {
        Entity("Page") {
          Attribute("id", .int64, isOptional: false, isUnique: true)
          Attribute("text", .string)
          for number in 1...32 { Attribute("p\(number)", .bool) }
          IndexDescription("text", ["text"])
        }
        Entity("Folder") { Attribute("name", .string) }
      })
    try store.write { tx in try tx.insert("Page", ["id": 1, "text": "one"]) }
    try store.require(
      Schema {
        Entity("Page", displayName: "text") {
          Attribute("text", .string)
          Attribute("stars", .int16)
          Relationship("folder", to: "Folder", onDelete: .keep)
          IndexDescription("stars", ["stars"])
        }
        Entity("Folder") { Attribute("color", .string) }
      })
    try store.write { tx in try tx.insert("Page", ["id": 2, "text": "two", "stars": 3]) }
    try store.require(Schema { Entity("Page") { Attribute("stars", .int64) } })
    try store.edit(.renameProperty(entity: "Page", "text", to: "title"))
    try store.edit(.removeIndex(entity: "Page", "title"))
    try store.edit(.removeProperty(entity: "Page", "stars"))
    try store.checkpoint()
    try store.edit(.renameEntity("Folder", to: "Box"))
    try store.edit(.removeProperty(entity: "Page", "folder"))
    try store.edit(.removeEntity("Box"))
  }

  /// Large values of every kind that can be large, in records, blocks and chunks: in columns of
  /// their own kind, and of any.
  static func largeKinds(in store: Store) throws {
    try store.require(
      Schema {
        Entity("Long") {
          Attribute("id", .int64, isOptional: false, isUnique: true)
          Attribute("string", .string)
          Attribute("url", .url)
          Attribute("data", .data)
          Attribute("json", .json)
          Attribute("any", .any)
        }
      })
    let text = String(repeating: "0123456789", count: 420)
    let values: [(String, Value)] = [
      ("string", .string(text)), ("url", .url("x:" + text)),
      ("data", .data(Array(text.utf8))), ("json", .json("\"\(text)\"")),
    ]
    var ids: [ObjectID] = []
    for (number, (name, value)) in values.enumerated() {
      try store.write { tx in
        ids.append(
          try tx.insert("Long", ["id": .int(Int64(number)), name: value, "any": value]))
        ids.append(try tx.insert("Long", ["id": .int(Int64(-1 - number)), name: .null]))
      }
    }
    // Blocks have all of them, before and after; records by row the last ones.
    try store.compact()
    for id in ids.prefix(2) {
      try store.write { tx in
        try tx.update(id, ["any": .int(1)])
        try tx.update(id, Dictionary(uniqueKeysWithValues: values))
      }
    }
    try store.checkpoint()
  }

  /// A relationship that was removed, one to a single object of which one was erased beside others
  /// that were not, and lists of which one was.
  static func erasedRelationships(in store: Store) throws {
    try store.require(
      Schema {
        Entity("Page") {
          Attribute("id", .int64, isOptional: false, isUnique: true)
          Relationship("next", to: "Page", onDelete: .keep)
          Relationship("all", to: "Page", isToMany: true, onDelete: .keep)
          Relationship("gone", to: "Page", onDelete: .keep)
        }
      })
    var ids: [ObjectID] = []
    for number in 0..<5 as Range<Int64> {
      try store.write(author: "Ann") { tx in
        let known = ids.map { ObjectReference($0) }
        ids.append(
          try tx.insert(
            "Page",
            [
              "id": .int(number), "next": known.last.map { .object($0) } ?? .null,
              "all": .objects(known), "gone": known.first.map { .object($0) } ?? .null,
            ]))
      }
    }
    try store.edit(.removeProperty(entity: "Page", "gone"))
    try store.write { tx in try tx.insert("Page", ["id": 9]) }
    try store.erase(ids[2], properties: ["next", "all"], reason: "it said too much", author: "Ben")
    try store.checkpoint()
  }

  /// What is left of a store that lost a transaction, the state behind which a checkpoint tells.
  static func salvagedExactly(_ folder: CommandFolder, _ good: Data) throws -> Data {
    var bytes = try FixtureBytes(ContiguousArray(good))
    bytes.flip(bytes.frames[2])
    let (damaged, whole) = (folder.file("damaged.annals"), folder.file("salvaged.annals"))
    try Data(bytes.bytes).write(to: URL(fileURLWithPath: damaged))
    let start = Timestamp(microseconds: 1_571_767_200_000_000)
    _ = try Store.salvage(
      damaged, to: whole, environment: .fixed(start: start, seed: 9))
    return try Data(contentsOf: URL(fileURLWithPath: whole))
  }
}
