import Annals
import AnnalsInspector
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

/// A store with a seeded history, and the inspector that shows it.
final class InspectorWorld {
  let folder: TemporaryFolder
  let path: String
  let file: InspectedFile
  let authors = ["ann", "ben", "cem"]
  /// How many transactions were written.
  private(set) var count = 0

  static let schema = Schema(entities: [
    Entity(
      "Place", attributes: [Attribute("id", .string, isUnique: true), Attribute("name", .string)],
      displayName: "name"),
    Entity(
      "Post",
      attributes: [
        Attribute("id", .string, isUnique: true), Attribute("title", .string),
        Attribute("rank", .int64), Attribute("when", .date), Attribute("day", .string),
        Attribute("draft", .bool), Attribute("body", .string),
      ],
      relationships: [
        Relationship("place", to: "Place"), Relationship("tags", to: "Place", isToMany: true),
      ], displayName: "title"),
  ])

  init(transactions: Int = 60, seed: UInt64 = 1) throws {
    folder = try TemporaryFolder()
    path = folder.path("world.annals")
    file = InspectedFile(name: "world.annals", path: path, shownPath: "world.annals")
    try write { _ in }
    try grow(by: transactions, seed: seed)
  }

  /// Opens the store for writing.
  func write(_ body: (Store) throws -> Void) throws {
    try Store.with(path: path, schema: InspectorWorld.schema) { store in
      try body(store)
      count = Int(store.token.number)
    }
  }

  /// Writes seeded transactions.
  func grow(by transactions: Int, seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    try write { store in
      for number in 0..<transactions {
        let author = authors[random.below(authors.count)]
        try store.write(
          author: author, context: number.isMultiple(of: 7) ? "seven" : nil,
          metadata: number.isMultiple(of: 5) ? ["message": .string("five \(number)")] : [:]
        ) { tx in
          for _ in 0...random.below(3) { try change(tx, &random) }
        }
      }
    }
  }

  private func change(_ tx: WriteTransaction, _ random: inout SeededRandom) throws {
    let places = try tx.objects(of: "Place").map(\.objectID)
    let posts = try tx.objects(of: "Post").map(\.objectID)
    switch random.below(10) {
    case 0, 1:
      try tx.insert(
        "Place",
        ["id": .string("p\(random.next() % 1_000_000)"), "name": .string("n\(random.below(9))")])
    case 2...5: try tx.insert("Post", values(places, &random))
    case 6:
      if posts.count > 3 { try tx.delete(posts[random.below(posts.count)]) }
    default:
      guard !posts.isEmpty else { return }
      var values = values(places, &random)
      values["id"] = nil
      if random.chance(20) { values["title"] = .null }
      try tx.update(posts[random.below(posts.count)], values)
    }
  }

  private func values(_ places: [ObjectID], _ random: inout SeededRandom) -> [String: Value] {
    var values: [String: Value] = [
      "id": .string("x\(random.next() % 1_000_000)"), "title": .string("t\(random.below(20))"),
      "rank": .int(Int64(random.below(50))),
      "when": .date(Timestamp(microseconds: Int64(random.below(1_000_000)) * 1_000_000)),
      "day": .string("2019-10-\(10 + random.below(19))"), "draft": .bool(random.chance(50)),
    ]
    if random.chance(10) {
      values["body"] = .string(String(repeating: "long ", count: 1_000 + random.below(500)))
    }
    if !places.isEmpty {
      func place() -> ObjectReference { ObjectReference(places[random.below(places.count)]) }
      values["place"] = .object(place())
      values["tags"] = .objects(Array(Set([place(), place()])).sorted())
    }
    return values
  }

  /// Opens the store beside the inspector's, for comparison.
  func reading<R>(_ body: (Store) throws -> R) throws -> R {
    let store = try Store(path: path, options: .readOnly)
    defer { try? store.close() }
    return try body(store)
  }

  /// One request.
  func ask(_ parameters: [String: String] = [:]) -> Asking {
    Asking(file, RequestParameters(parameters.map { ($0.key, $0.value) }))
  }
}
