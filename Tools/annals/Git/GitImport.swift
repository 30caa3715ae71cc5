import Annals
import AnnalsExchange

/// Imports commits into a store: one transaction each. Files are objects of the entity File with
/// the path as `id`, and `mode`, `blob` and `size`.
final class GitImport {
  /// A commit that a store has, and the transaction that it became.
  struct KnownCommit: Hashable {
    var id: String
    var transaction: Int64
  }

  private let store: Store
  /// The number of commits imported.
  private(set) var count: Int64 = 0
  /// The commits without a date that can be used: how many, the first, and the date that it took.
  private(set) var undated: (count: Int64, first: String, date: Timestamp) = (
    0, "", Timestamp(microseconds: 0)
  )
  /// The date of the commit before, which is the first parent of the next; 1970 before the first.
  private var parentDate = Timestamp(microseconds: 0)
  /// The number of paths that are not UTF-8.
  private(set) var escapedPaths: Int64 = 0

  /// An import into a store that is empty or holds an earlier import, up to `known`.
  init(_ store: Store, after known: KnownCommit?) throws {
    self.store = store
    guard let known else { return }
    let transaction = try store.transaction(known.transaction)
    parentDate = transaction.page.batch.transactions[transaction.index].timestamp
  }

  static let schema = Schema(entities: [
    Entity(
      "File",
      attributes: [
        Attribute("id", .string, isOptional: false, isUnique: true), Attribute("mode", .string),
        Attribute("blob", .string), Attribute("size", .int64),
      ])
  ])

  /// The newest commit that the store has; nil for an empty store.
  ///
  /// - Throws: `CommandFailure` if the store holds something else.
  static func lastCommit(in store: Store) throws -> KnownCommit? {
    if store.token.number == 0 { return nil }
    var cursor = try PartCursor(try store.history().reversed())
    while let part = try cursor.next() {
      for entry in part.record.metadata where entry.key == "commit" {
        if case .string(let id) = entry.value {
          return KnownCommit(id: id, transaction: part.record.number)
        }
      }
    }
    throw CommandFailure(
      "the store has history that did not come from git. Import the repository into a new file")
  }

  /// Imports a commit, with the changes that follow it in `history`.
  func add(_ commit: GitCommit, _ history: GitHistory) throws {
    if commit.committedAt == nil {
      if undated.count == 0 { (undated.first, undated.date) = (commit.id, parentDate) }
      undated.count += 1
    }
    let date = commit.committedAt ?? parentDate
    var metadata: [String: Value] = [
      "commit": .string(commit.id), "message": .string(commit.message),
    ]
    if let authored = commit.authoredAt { metadata["authored"] = .date(authored) }
    try store.importTransaction(author: commit.author, timestamp: date, metadata: metadata) {
      transaction in
      try transaction.require(GitImport.schema)
      guard let files = Files(transaction.schema) else {
        throw CommandFailure("the store's entity File is not that of a git import")
      }
      while let change = try history.nextChange() { try apply(change, files, transaction, commit) }
    }
    count += 1
    parentDate = date
  }

  /// The numbers of the entity's properties.
  private struct Files {
    let entity: Entity
    let id, mode, blob, size: PropertyNumber

    init?(_ schema: Schema) {
      guard let entity = schema.entity(named: "File"), let id = entity.attribute(named: "id"),
        let mode = entity.attribute(named: "mode"), let blob = entity.attribute(named: "blob"),
        let size = entity.attribute(named: "size")
      else { return nil }
      self.entity = entity
      (self.id, self.mode, self.blob, self.size) = (
        id.number, mode.number, blob.number, size.number
      )
    }
  }

  private func apply(
    _ change: GitChange, _ files: Files, _ transaction: WriteTransaction, _ commit: GitCommit
  ) throws {
    let (path, isEscaped) = GitPath.text(change.path)
    if isEscaped { escapedPaths += 1 }
    let object: ObjectReference
    if change.kind == .added {
      object = try transaction.draft.insert(entity: files.entity.number, defaults: [])
      try transaction.draft.set(object, files.id, to: .string(path))
    } else {
      let row = try transaction.draft.row(of: files.entity, where: "id", is: .string(path))
      guard let row else {
        throw CommandFailure(
          "commit \(commit.id.prefix(12)) changes \(path), which the store does not have: it was "
            + "changed since the last import. Import the repository into a new file")
      }
      object = ObjectReference(entity: files.entity.number, row: row)
      if change.kind == .deleted { return try transaction.draft.delete(object) }
    }
    try transaction.draft.set(object, files.mode, to: .string(change.mode))
    try transaction.draft.set(object, files.blob, to: .string(change.blob))
    try transaction.draft.set(object, files.size, to: change.size.map { .int($0) } ?? .null)
  }
}
