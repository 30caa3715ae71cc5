import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation

@testable import AnnalsCommand

/// A random store in a folder, `n.annals`, and what is in it, worked out beside it.
struct NumbersWorld {
  struct Name: Hashable {
    var entity: String
    var key: String

    var text: String { "\(entity)/\(key)" }
  }

  struct Change {
    var kind: ChangeKind
    var object: Name
    /// The properties that have a value before or after.
    var properties: Set<String>
  }

  struct Transaction {
    var author: String
    var changes: [Change]

    func count(_ kind: ChangeKind) -> Int { changes.count { $0.kind == kind } }
  }

  typealias State = [Name: [String: Int]]

  let folder: CommandFolder
  let entities: [String]
  /// By number from 1; the first is empty, in place of none.
  private(set) var transactions = [Transaction(author: "", changes: [])]
  private(set) var states: [State] = [[:]]
  var head: Int { transactions.count - 1 }
  var state: State { states.last ?? [:] }
  private var ids: [Name: ObjectID] = [:]
  var random: SeededRandom

  init(seed: UInt64) throws {
    random = SeededRandom(seed: seed)
    folder = try CommandFolder()
    entities = (0..<7 + random.below(4)).map { "E\($0)" }
    let authors = (0..<4 + random.below(4)).map { "author\($0)" }
    let store = try Store(.file(folder.file("n.annals")), creates: true, environment: folder.store)
    for number in 1...24 {
      let author = number == 24 ? "last" : authors[random.below(authors.count)]
      var kinds = (0...[0, 1, 2, 3, 4, 5, 6, 8][random.below(8)]).map { _ in
        [ChangeKind.insert, .insert, .update, .update, .delete][random.below(5)]
      }
      if number == 1 { kinds = Array(repeating: .insert, count: 12) }
      // Each count is another one.
      if number == 24 { kinds = [.update, .insert, .delete, .update, .delete, .update] }
      try write(kinds, author, to: store)
    }
    try store.close()
  }

  private mutating func write(_ kinds: [ChangeKind], _ author: String, to store: Store) throws {
    var state = state
    var changes: [Change] = []
    let isFirst = head == 0
    try store.write(author: author) { tx in
      if isFirst { try tx.require(schema) }
      var touched: Set<Name> = []
      for (place, kind) in kinds.enumerated() {
        let known = state.keys.filter { !touched.contains($0) }.sorted { $0.text < $1.text }
        var name = Name(
          entity: entities[random.below(entities.count)], key: "k\(head) \(place)")
        if kind != .insert, let found = known.randomElement(using: &random) { name = found }
        let isNew = state[name] == nil
        touched.insert(name)
        if isNew {
          let values = ["a": random.below(5), "b": random.below(100)]
          ids[name] = try tx.insert(
            name.entity,
            ["id": .string(name.key)].merging(values.mapValues { .int(Int64($0)) }) { $1 })
          state[name] = values
          changes.append(Change(kind: .insert, object: name, properties: ["id", "a", "b"]))
        } else if let id = ids[name], kind == .delete {
          try tx.delete(id)
          state[name] = nil
          changes.append(Change(kind: .delete, object: name, properties: ["id", "a", "b"]))
        } else if let id = ids[name] {
          let properties = [["a"], ["b"], ["a", "b"]][random.below(3)]
          for property in properties {
            let value = (state[name]?[property] ?? 0) + 1
            state[name]?[property] = value
            try tx.update(id, [property: .int(Int64(value))])
          }
          changes.append(Change(kind: .update, object: name, properties: Set(properties)))
        }
      }
    }
    transactions.append(Transaction(author: author, changes: changes))
    states.append(state)
  }

  private var schema: Schema {
    var builder: [Entity] = []
    for name in entities {
      builder.append(
        Entity(
          name,
          attributes: [
            Attribute("id", .string, isOptional: false, isUnique: true), Attribute("a", .int64),
            Attribute("b", .int64),
          ]))
    }
    return Schema(entities: builder)
  }

  /// The row of an object.
  func row(_ name: Name) -> Int64 { ids[name]?.row ?? 0 }

  /// How many changes the transactions in a range have.
  func changes(_ numbers: some Sequence<Int>) -> Int {
    numbers.reduce(0) { $0 + transactions[$1].changes.count }
  }

  /// The numbers of the transactions that touch an object, or some of its properties.
  func touching(_ name: Name, _ properties: Set<String> = []) -> [Int] {
    (1...head).filter { number in
      transactions[number].changes.contains {
        $0.object == name && (properties.isEmpty || !$0.properties.isDisjoint(with: properties))
      }
    }
  }

  /// A random object, which may be deleted.
  mutating func anyObject() -> Name {
    let all = Set(states.flatMap(\.keys)).sorted { $0.text < $1.text }
    return all[random.below(all.count)]
  }
}

/// `1 change`, `2 changes`.
func counted(_ count: Int, _ noun: String) -> String {
  count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
}
