import Annals
import AnnalsTestSupport
import Foundation
import Testing

private struct Note: Record {
  var id: UUID
  var title: String
  var created: Date
  static let entity = RecordEntity(
    "Note", Note.init, Property("id", \.id).unique(), Property("title", \.title),
    Property("created", \.created).indexed(.descending))
}

private struct Receipt: Record {
  var key: String
  var note: UUID
  var received: Date
  static let entity = RecordEntity(
    "Receipt", Receipt.init, Property("key", \.key).unique(), Property("note", \.note),
    Property("received", \.received).indexed())
}

private struct NotesPerDay: Projection, Codable {
  static let name = "notes per day"
  static let version = 1
  var counts: [Int: Int] = [:]

  mutating func apply(_ transaction: Transaction) throws {
    for change in transaction.changes {
      guard let date = try change.after(\Note.created) else { continue }
      counts[Int(date.timeIntervalSince1970 / 86_400), default: 0] += 1
    }
  }
}

private struct Notes: Sendable {
  let store: Store

  func newest() throws -> [Note] {
    let fetch = Fetch(Note.self).sorted(by: \.created, .descending).limit(100)
    return try store.snapshot().fetch(fetch).map(\.value)
  }
}

extension Notes {
  func perDay() async throws -> [Int: Int] {
    try await store.projection(NotesPerDay.self).counts
  }
}

extension Notes {
  func create(_ title: String, idempotencyKey key: String) async throws -> UUID {
    try await store.write(author: "api", context: "create") { tx in
      if let receipt = try tx.object(Receipt.self, where: \.key, is: key) { return receipt.note }
      let note = Note(id: UUID(), title: title, created: .now)
      try tx.insert(note)
      try tx.insert(Receipt(key: key, note: note.id, received: .now))
      return note.id
    }
  }
}

extension Notes {
  func read(_ id: UUID, known: Token?) throws -> (note: Note, tag: Token, isKnown: Bool)? {
    let snapshot = store.snapshot()
    guard let note = try snapshot.object(Note.self, where: \.id, is: id) else { return nil }
    guard let known else { return (note.value, snapshot.token, false) }
    let changes = try? store.history(after: known, where: .touches(note.objectID)).count()
    return (note.value, snapshot.token, changes == 0)
  }

  func rename(_ id: UUID, to title: String, ifMatch known: Token) async throws -> Token? {
    guard let note = try store.snapshot().object(Note.self, where: \.id, is: id) else { return nil }
    return try await store.commit(author: "api", context: "rename", basedOn: known) { tx in
      try tx.set(\Note.title, of: note.objectID, to: title)
    }.token
  }
}

extension Notes {
  func follow(after last: Token?, send: (String) async throws -> Void) async throws {
    let changes = try store.changes(after: last ?? store.token, where: .touches(Note.self))
    for try await transaction in changes {  // in a server: changes.cancelOnGracefulShutdown()
      try await send("id: \(transaction.token)\ndata: \(transaction.changes.count)\n\n")
    }
  }
}

/// The code of *Annals in a server*.
@Suite(.timeLimit(.minutes(2))) struct ServersTests {
  private static func notes() throws -> Notes {
    Notes(store: try Store(.memory, records: Note.self, Receipt.self))
  }

  @Test func aRequestThatIsSentTwiceIsMadeOnce() async throws {
    let notes = try Self.notes()
    let ids = try await withThrowingTaskGroup(of: UUID.self) { group in
      for _ in 0..<8 { group.addTask { try await notes.create("Fog", idempotencyKey: "k") } }
      return try await group.reduce(into: Set<UUID>()) { $0.insert($1) }
    }
    #expect(ids.count == 1)
    #expect(try notes.newest().map(\.title) == ["Fog"])
    #expect(try await notes.perDay().values.reduce(0, +) == 1)
  }

  @Test func eTagsAreCheckedByObject() async throws {
    let notes = try Self.notes()
    let fog = try await notes.create("Fog", idempotencyKey: "a")
    let tag = try #require(try notes.read(fog, known: nil)).tag
    _ = try await notes.create("Mist", idempotencyKey: "b")
    #expect(try notes.read(fog, known: tag)?.isKnown == true)
    let renamed = try await notes.rename(fog, to: "Dew", ifMatch: tag)
    #expect(try notes.read(fog, known: tag)?.isKnown == false)
    #expect(try notes.read(fog, known: renamed)?.isKnown == true)
    let error = await #expect(throws: AnnalsError.self) {
      try await notes.rename(fog, to: "Rain", ifMatch: tag)
    }
    #expect(error?.code == .conflict)
    #expect(try notes.newest().last?.title == "Dew")
  }

  @Test func aStreamContinuesWhereItEnded() async throws {
    let notes = try Self.notes()
    let start = notes.store.token
    for number in 0..<3 { _ = try await notes.create("Fog", idempotencyKey: "\(number)") }
    struct Enough: Error {}
    var events: [String] = []
    await #expect(throws: Enough.self) {
      try await notes.follow(after: start) { event in
        events.append(event)
        if events.count == 2 { throw Enough() }
      }
    }
    let second = try #require(events.last?.split(separator: "\n").first)
    let last = try #require(Token(String(second.dropFirst(4))))
    await #expect(throws: Enough.self) {
      try await notes.follow(after: last) { event in
        events.append(event)
        throw Enough()
      }
    }
    #expect(events.count == 3)
    #expect(Set(events).count == 3)
  }
}
