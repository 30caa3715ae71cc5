import Annals
import AnnalsJetStream
import AnnalsReplication
import Dispatch
import FlyingFox
import FlyingSocks
import Foundation

/// Accounts over HTTP, shared by as many programs as are started: each has the whole history in its
/// own file, and a stream of NATS JetStream orders what they write.
///
///     AccountsServer FILE nats://HOST:4222,HOST:4222,HOST:4222/STREAM PORT
///
///     PUT /accounts/NAME {"balance": 5}                           once for each name
///     PUT /transfers/ID {"from": "ann", "to": "bob", "amount": 5} once for each id
///     GET /accounts, GET /transfers   the newest state; ?after=POSITION, ?at=POSITION
///     GET /status
@main
struct AccountsServer {
  static func main() async {
    do {
      try await serve()
    } catch {
      FileHandle.standardError.write(Data("AccountsServer: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func serve() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4, let address = JetStreamAddress(arguments[2]),
      let port = UInt16(arguments[3])
    else {
      FileHandle.standardError.write(
        Data("usage: AccountsServer FILE nats://HOST:4222/STREAM PORT\n".utf8))
      exit(2)
    }
    var stream = JetStreamOptions(address)
    stream.opening = .creating
    // Each record is on all servers of the address: one, three or five.
    stream.replicas = address.servers.count
    // Without the log what this file has can be read.
    stream.startsOffline = true
    let log = try await JetStreamLog.connect(stream)

    var options = ReplicaOptions()
    // A client waits no longer than that for an answer.
    options.deadline = .seconds(10)
    options.name = "accounts at port \(port)"
    options.snapshots = SnapshotPolicy(
      transactions: 10_000, trimming: LogKeep(transactions: 10_000))
    let replica = try await Replica.open(
      path: arguments[1], records: Account.self, Transfer.self, log: log, options: options)

    let server = HTTPServer(
      address: try sockaddr_in.inet(ip4: "127.0.0.1", port: port), timeout: 30, logger: .disabled)
    await AccountRoutes(bank: Bank(replica: replica)).add(to: server)
    let stopping = stopOnSignal(server)
    print("serving on 127.0.0.1:\(port) from \(replica.status.token)")
    do {
      try await server.run()
    } catch {
      // Unless it was told to end.
      if !stopping.contains(where: \.isCancelled) { throw error }
    }
    try await replica.close()
    log.close()
  }

  /// Ends the server when the system asks for it, with a second for the requests under way: who
  /// gets no answer asks again, another program, with the same id.
  private static func stopOnSignal(_ server: HTTPServer) -> [any DispatchSourceSignal] {
    [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
      source.setEventHandler {
        source.cancel()
        Task { await server.stop(timeout: 1) }
      }
      source.resume()
      return source
    }
  }
}
