import Annals
import AnnalsReplication

/// What writers of replicas write: a mark for each write, and how many there are.
enum ReplicaMarks {
  struct Mark: Record {
    var name: String
    /// The total after it.
    var serial: Int
    static let entity = RecordEntity(
      "Mark", Mark.init, Property("name", \.name).unique(), Property("serial", \.serial).unique())
  }

  struct Total: Record {
    var name: String
    var count: Int
    static let entity = RecordEntity(
      "Total", Total.init, Property("name", \.name).unique(), Property("count", \.count))
  }

  static let types: [any Record.Type] = [Mark.self, Total.self]

  /// Writes a mark. The author of the transaction is its name.
  static func write(_ name: String, _ tx: WriteTransaction) throws {
    let totals = try tx.objects(of: Total.self)
    let total: ObjectID
    if let found = totals.first {
      total = found.objectID
      try tx.update(Total.self, total) { $0.count += 1 }
    } else {
      total = try tx.insert(Total(name: "all", count: 1)).objectID
    }
    let count = try tx.objects(of: Total.self).first?.value.count ?? 0
    _ = try tx.insert(Mark(name: name, serial: count))
  }

  /// What a state has: its number, the count of marks, and the total.
  static func read(_ snapshot: Snapshot) throws -> (number: Int64, marks: Int, total: Int) {
    let total = try snapshot.objects(of: Total.self).first?.value.count ?? 0
    return (snapshot.number, try snapshot.count(of: Mark.self), total)
  }

  /// The names of the marks of a store by the number of their transaction.
  static func all(_ store: Store) throws -> [Int64: String] {
    var marks: [Int64: String] = [:]
    try store.history().forEach { transaction in
      guard let author = transaction.author, author.hasPrefix("mark ") else { return }
      marks[transaction.number] = author
    }
    return marks
  }
}
