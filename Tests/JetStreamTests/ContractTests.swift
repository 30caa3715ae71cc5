#if JetStream

import AnnalsJetStream
import AnnalsReplication
import Testing

/// The contract of `SharedLog`, over a log in memory, over one server and over three.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ContractTests {
  static let names = SharedLogContract.all.map(\.name)

  private func check(_ name: String) throws -> SharedLogContract.Check {
    try #require(SharedLogContract.all.first { $0.name == name }).check
  }

  @Test("In memory", arguments: names)
  func inMemory(_ name: String) async throws {
    try await check(name)(InMemorySharedLog())
  }

  @Test("One server", needsServer, arguments: names)
  func oneServer(_ name: String) async throws {
    let server = try NATSServer()
    try await server.start()
    let log = try await JetStreamLog.connect(server.options())
    try await check(name)(log)
    log.close()
  }

  @Test("Three servers", needsServer)
  func threeServers() async throws {
    let cluster = try await NATSCluster()
    for (index, (name, check)) in SharedLogContract.all.enumerated() {
      print("three servers: \(name)")
      let log = try await JetStreamLog.connect(cluster.options("stream\(index)"))
      try await check(log)
      log.close()
    }
  }
}

#endif
