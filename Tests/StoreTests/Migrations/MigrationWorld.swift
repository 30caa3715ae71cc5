import Annals
import AnnalsStorage
import Foundation

/// A program before and after two migrations: a name that is split, and a text that becomes a date.
enum Before {
  struct Person: Record {
    var id: Int
    var name: String?
    static let entity = RecordEntity(
      "Person", Person.init, Property("id", \.id).unique(), Property("name", \.name).indexed())
  }

  struct Note: Record {
    var id: Int
    var when: String
    var text: String?
    static let entity = RecordEntity(
      "Note", Note.init, Property("id", \.id).unique(), Property("when", \.when).indexed(),
      Property("text", \.text))
  }

  static func store(_ file: StoreLocation, readOnly: Bool = false) throws -> Store {
    var options = StoreOptions()
    options.isReadOnly = readOnly
    return try Store(file, records: Person.self, Note.self, options: options)
  }
}

enum After {
  struct Person: Record {
    var id: Int
    var first: String
    var last: String
    static let entity = RecordEntity(
      "Person", Person.init, Property("id", \.id).unique(), Property("first", \.first),
      Property("last", \.last).indexed())
  }

  struct Note: Record {
    var id: Int
    var when: Date
    var text: String?
    static let entity = RecordEntity(
      "Note", Note.init, Property("id", \.id).unique(), Property("when", \.when).indexed(),
      Property("text", \.text))
  }

  /// How often each migration was run.
  final class Runs: Sendable {
    let names = Locked<[String]>([])
    var list: [String] { names.withLock { $0 } }
  }

  static func split(_ runs: Runs = Runs(), removes: Bool = false) -> Migration {
    Migration("split the name") { tx in
      runs.names.withLock { $0.append("split the name") }
      for person in try tx.objects(of: "Person") {
        let parts = (person["name"].text ?? "").split(separator: " ").map(String.init)
        try tx.update(
          person.id, ["first": .string(parts.first ?? ""), "last": .string(parts.last ?? "")])
      }
      if removes { try tx.remove("Person", "name") }
    }
  }

  static func dates(_ runs: Runs = Runs()) -> Migration {
    Migration("dates") { tx in
      runs.names.withLock { $0.append("dates") }
      try tx.convert(\Note.when) { (old: String) in
        Double(old).map(Date.init(timeIntervalSince1970:))
      }
    }
  }

  static func store(
    _ file: StoreLocation, _ migrations: [Migration], readOnly: Bool = false
  ) throws -> Store {
    var options = StoreOptions()
    options.isReadOnly = readOnly
    return try Store(
      file, records: Person.self, Note.self, migrations: migrations, options: options)
  }
}

extension Value {
  /// The text; nil for other values.
  var text: String? { if case .string(let text) = self { text } else { nil } }
}

/// A file with two people and two notes, as the program before the migrations leaves it.
func fileBeforeMigrations() throws -> StoreLocation {
  let file = memoryFile()
  let store = try Before.store(file)
  try store.write(author: "ann") { tx in
    try tx.insert(Before.Person(id: 1, name: "Ada Lovelace"))
    try tx.insert(Before.Person(id: 2, name: "Alan Turing"))
    try tx.insert(Before.Note(id: 1, when: "10", text: "Fog"))
    try tx.insert(Before.Note(id: 2, when: "20", text: nil))
  }
  try store.close()
  return file
}
