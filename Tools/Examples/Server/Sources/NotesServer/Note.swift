import Annals
import Foundation

/// A note.
struct Note: Record, Codable, Equatable {
  var id: UUID
  var title: String
  var text: String
  var created: Date

  static let entity = RecordEntity(
    "Note", Note.init,
    Property("id", \.id).unique().preservedAfterDeletion(),
    Property("title", \.title).length(1...200).displayName(),
    Property("text", \.text),
    Property("created", \.created).indexed(.descending))
}

/// What a request that creates a note has made, so that the same request sent again makes no second
/// one.
struct Receipt: Record {
  /// What the client sent as `Idempotency-Key`.
  var key: String
  var note: UUID
  var received: Date

  static let entity = RecordEntity(
    "Receipt", Receipt.init,
    Property("key", \.key).unique(),
    Property("note", \.note),
    Property("received", \.received).indexed())
}

/// How many notes were written on each day.
struct NotesPerDay: Projection, Codable {
  static let name = "notes per day"
  static let version = 1
  var counts: [Int: Int] = [:]

  mutating func apply(_ transaction: Transaction) throws {
    for change in transaction.changes where change.kind != .update {
      try count(change.before(\Note.created), by: -1)
      try count(change.after(\Note.created), by: 1)
    }
  }

  private mutating func count(_ date: Date?, by step: Int) throws {
    guard let date else { return }
    counts[Int((date.timeIntervalSince1970 / 86_400).rounded(.down)), default: 0] += step
  }
}
