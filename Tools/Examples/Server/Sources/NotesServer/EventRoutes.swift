import Annals
import HTTPTypes
import Hummingbird
import ServiceLifecycle

/// Changes as server-sent events: one for each transaction, whoever wrote it.
struct EventRoutes: Sendable {
  let store: Store

  func add(to router: Router<BasicRequestContext>) {
    router.get("events", use: follow)
  }

  /// Begins after the event that the client saw last, or with what comes now.
  @Sendable private func follow(
    _ request: Request, _ context: BasicRequestContext
  ) throws -> Response {
    let last = HTTPField.Name("Last-Event-ID").flatMap { request.headers[$0] }.flatMap { Token($0) }
    let changes = try store.changes(after: last ?? store.token, where: .touches(Note.self))
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
      body: ResponseBody { writer in
        try await writer.write(ByteBuffer(string: ": following\n\n"))
        try await request.body.consumeWithCancellationOnInboundClose { _ in
          // Without this end the client's connection would hold up the end of the program.
          for try await transaction in changes.cancelOnGracefulShutdown() {
            let event = "id: \(transaction.token)\ndata: \(transaction.changes.count)\n\n"
            try await writer.write(ByteBuffer(string: event))
          }
        }
        try await writer.finish(nil)
      })
  }
}
