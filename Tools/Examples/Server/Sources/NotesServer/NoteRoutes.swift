import Annals
import Foundation
import HTTPTypes
import Hummingbird

/// Notes over HTTP. An `ETag` is the position in history at which a note was read.
struct NoteRoutes: Sendable {
  /// What a client sends of a note.
  struct Draft: Decodable {
    var title: String
    var text: String
  }

  let store: Store

  func add(to router: Router<BasicRequestContext>) {
    router.get("notes", use: list)
    router.get("notes/:id", use: read)
    router.post("notes", use: create)
    router.put("notes/:id", use: change)
    router.delete("notes/:id", use: delete)
    router.get("statistics") { _, _ in
      // On the store's own thread: the first time it may have the whole history to read.
      try Response.json(store.projection(NotesPerDay.self).counts)
    }
  }

  @Sendable private func list(_ request: Request, _ context: BasicRequestContext) throws -> Response
  {
    let newest = Fetch(Note.self).sorted(by: \.created, .descending).limit(100)
    return try .json(store.snapshot().fetch(newest).map(\.value))
  }

  @Sendable private func read(_ request: Request, _ context: BasicRequestContext) throws -> Response
  {
    let snapshot = store.snapshot()
    let note = try find(context, in: snapshot)
    if let known = request.headers[.ifNoneMatch].flatMap(token), isUnchanged(note, since: known) {
      return Response(status: .notModified, headers: [.eTag: tag(known)])
    }
    return try .json(note.value, headers: [.eTag: tag(snapshot.token)])
  }

  /// Creates a note, once for each `Idempotency-Key`.
  @Sendable private func create(
    _ request: Request, _ context: BasicRequestContext
  ) async throws -> Response {
    let draft = try await request.decode(as: Draft.self, context: context)
    let key = HTTPField.Name("Idempotency-Key").flatMap { request.headers[$0] }
    let commit = try await checked {
      try await store.commit(author: "api", context: "create") { tx in
        // The receipt is in the same transaction: neither is ever there without the other.
        if let key, let earlier = try tx.object(Receipt.self, where: \.key, is: key) {
          return earlier.note
        }
        let note = Note(id: UUID(), title: draft.title, text: draft.text, created: .now)
        try tx.insert(note)
        if let key { try tx.insert(Receipt(key: key, note: note.id, received: .now)) }
        return note.id
      }
    }
    return Response(
      status: .created,
      headers: [.location: "/notes/\(commit.value)", .eTag: tag(commit.token)])
  }

  /// Changes a note that the client has read: `If-Match` is the position at which it did.
  ///
  /// With `basedOn:` the write is refused if others set a property that it sets; with `expecting:`
  /// it would be refused if anybody had written anything.
  @Sendable private func change(
    _ request: Request, _ context: BasicRequestContext
  ) async throws -> Response {
    let draft = try await request.decode(as: Draft.self, context: context)
    guard let known = request.headers[.ifMatch].flatMap(token) else {
      throw HTTPError(.preconditionRequired, message: "If-Match is missing, or no ETag from here")
    }
    let id = try find(context, in: store.snapshot()).objectID
    let commit = try await checked {
      try await store.commit(author: "api", context: "change", basedOn: known) { tx in
        try tx.set(\Note.title, of: id, to: draft.title)
        try tx.set(\Note.text, of: id, to: draft.text)
      }
    }
    return Response(status: .noContent, headers: [.eTag: tag(commit.token)])
  }

  @Sendable private func delete(
    _ request: Request, _ context: BasicRequestContext
  ) async throws -> Response {
    let id = try find(context, in: store.snapshot()).objectID
    try await store.write(author: "api", context: "delete") { tx in try tx.delete(id) }
    return Response(status: .noContent)
  }

  /// The note of the address.
  private func find(
    _ context: BasicRequestContext, in snapshot: Snapshot
  ) throws -> Object<Note> {
    let id = try context.parameters.require("id", as: UUID.self)
    guard let note = try snapshot.object(Note.self, where: \.id, is: id) else {
      throw HTTPError(.notFound)
    }
    return note
  }

  private func isUnchanged(_ note: Object<Note>, since known: Token) -> Bool {
    // A position that is pruned, or of another store, tells nothing.
    (try? store.history(after: known, where: .touches(note.objectID)).count()) == 0
  }

  private func tag(_ token: Token) -> String { "\"\(token)\"" }

  private func token(_ tag: String) -> Token? {
    Token(tag.trimmingCharacters(in: CharacterSet(charactersIn: "\"")))
  }

  /// Runs a write, and answers in HTTP's terms where it is refused.
  private func checked<R>(_ write: () async throws -> R) async throws -> R {
    do {
      return try await write()
    } catch let error as AnnalsError {
      switch error.code {
      case .conflict, .pruned, .lostBranch, .beyondHead, .otherStore:
        throw HTTPError(.preconditionFailed, message: error.message)
      case .invalidChange: throw HTTPError(.unprocessableContent, message: error.message)
      case .busy: throw HTTPError(.serviceUnavailable, message: error.message)
      default: throw error
      }
    }
  }
}

extension Response {
  /// A response with a value as JSON.
  static func json(_ value: some Encodable, headers: HTTPFields = [:]) throws -> Response {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    var headers = headers
    headers[.contentType] = "application/json"
    return Response(
      status: .ok, headers: headers,
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: try encoder.encode(value))))
  }
}
