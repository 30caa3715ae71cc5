import Annals
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import UnixSignals

/// Notes over HTTP, kept in one file with all that they ever were.
///
///     NotesServer FILE PORT      serves on the loopback; port 0 takes a free one
///
///     GET /notes, GET /notes/ID, POST /notes, PUT /notes/ID, DELETE /notes/ID
///     GET /events                each change, as server-sent events
///     GET /statistics            notes by day
@main
struct NotesServer {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let port = Int(arguments[2]) else {
      FileHandle.standardError.write(Data("usage: NotesServer FILE PORT\n".utf8))
      exit(2)
    }
    let logger = Logger(label: "notes")
    // One store for the whole process: every handler reads and writes through it.
    let store = try Store(path: arguments[1], records: Note.self, Receipt.self)
    store.register(NotesPerDay.self)

    let router = Router()
    NoteRoutes(store: store).add(to: router)
    EventRoutes(store: store).add(to: router)
    let server = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
      logger: logger)

    // Services end in the reverse of this order: first the server, then the store that it uses.
    let services: [any Service] = [StoreService(store: store, logger: logger), server]
    let group = ServiceGroup(
      services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    try await group.run()
  }
}
