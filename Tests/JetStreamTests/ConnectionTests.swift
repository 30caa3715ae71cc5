#if JetStream

import AnnalsReplication
import Foundation
import Testing

@testable import AnnalsJetStream

/// Connecting: settings that lose data, limits, identities, encryption, and what is left
/// afterwards.
@Suite(.serialized, .timeLimit(.minutes(5)), needsServer) struct ConnectionTests {
  /// A stream that would lose data is refused, and the error says which setting does.
  @Test func streamsThatLoseData() async throws {
    let server = try NATSServer()
    try await server.start()
    let maker = try await JetStreamLog.connect(server.options("maker"))
    let rows: [(setting: String, words: String)] = [
      (#""storage":"memory""#, "its storage is memory, not file"),
      (#""max_age":3600000000000"#, "by age (max_age)"),
      (#""max_msgs":100"#, "by their count (max_msgs with discard old)"),
      (#""max_bytes":100000"#, "by their bytes (max_bytes with discard old)"),
      (#""max_msgs_per_subject":1"#, "only 1 messages of a subject"),
      (#""retention":"workqueue""#, "its retention is workqueue"),
      (#""retention":"interest""#, "its retention is interest"),
      (#""no_ack":true"#, "it acknowledges nothing"),
    ]
    for (index, row) in rows.enumerated() {
      let made = try await maker.ask(
        "STREAM.CREATE.lossy\(index)",
        "{\"name\":\"lossy\(index)\",\"subjects\":[\"lossy\(index)\"],\(row.setting)}")
      #expect(made.error == nil, "\(row.setting): \(String(describing: made.error))")
      let error = await #expect(throws: SharedLogError.self) {
        try await JetStreamLog.connect(server.options("lossy\(index)"))
      }
      guard case .refused(let text) = error else {
        Issue.record("\(row.setting): \(String(describing: error))")
        continue
      }
      #expect(text.contains(row.words), "\(text)")
    }
    var options = server.options("maker")
    options.replicas = 3
    await #expect(
      throws: SharedLogError.refused(
        "the stream maker would not keep what it is given: 1 servers keep it, not 3")
    ) { try await JetStreamLog.connect(options) }
    maker.close()
  }

  @Test func missingStreamAndSenselessOptions() async throws {
    let server = try NATSServer()
    try await server.start()
    var options = server.options()
    options.opening = .existing
    await #expect(throws: SharedLogError.refused("the servers have no stream books")) {
      try await JetStreamLog.connect(options)
    }
    for stream in ["", "a.b", "a b", "*", "a>"] {
      options.stream = stream
      await #expect(throws: SharedLogError.self) { try await JetStreamLog.connect(options) }
    }
    options.stream = "books"
    options.subject = "a..b"
    await #expect(throws: SharedLogError.self) { try await JetStreamLog.connect(options) }
  }

  @Test func noServer() async throws {
    let server = try NATSServer()
    var options = server.options()
    options.connectTimeout = .seconds(1)
    let error = await #expect(throws: SharedLogError.self) {
      try await JetStreamLog.connect(options)
    }
    guard case .unavailable = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    // A program may start without it.
    options.startsOffline = true
    let log = try await JetStreamLog.connect(options)
    #expect(log.longestRecord > 1_000_000)
    await #expect(throws: SharedLogError.unavailable("not connected yet")) {
      try await log.append(SharedLogContract.record(1), after: .beginning)
    }
    try await server.start()
    try await log.untilReachable()
    try await SharedLogContract.fill(log, 1...3)
    log.close()
    await #expect(throws: SharedLogError.unavailable("the log was closed")) {
      try await log.records(from: 1, limit: 1)
    }
  }

  /// A server that is there and cannot help, as one that the others do not reach: another one is
  /// tried. Which of the two comes first is left to chance.
  @Test func uselessServer() async throws {
    let bare = try NATSServer(name: "bare", isBare: true)
    try await bare.start()
    let server = try NATSServer()
    try await server.start()
    var options = server.options()
    options.servers = [bare.url, server.url]
    options.requestTimeout = .milliseconds(200)
    options.connectTimeout = .seconds(20)
    var end = SharedLogEnd.beginning
    for number in 1...8 {
      let log = try await JetStreamLog.connect(options)
      end = try await SharedLogContract.fill(log, number...number, after: end)
      log.close()
    }
    // Alone, it is just of no use.
    options.servers = [bare.url]
    options.connectTimeout = .seconds(2)
    let error = await #expect(throws: SharedLogError.self) {
      try await JetStreamLog.connect(options)
    }
    guard case .unavailable = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  /// What the server takes at most decides, also if it changes.
  @Test func limits() async throws {
    let server = try NATSServer(settings: "max_payload: 65536")
    try await server.start()
    let log = try await JetStreamLog.connect(server.options())
    #expect(log.longestRecord == 65_536 - 1_024)
    let record = SharedLogContract.record(1, log.longestRecord)
    #expect(try await log.append(record, after: .beginning) == 1)
    #expect(try await log.records(from: 1, limit: 1).records.map(\.record) == [record])
    log.close()
  }

  /// An NKey, made from a key of OpenSSL, over TLS with certificates on both sides.
  @Test(.enabled(if: Certificates.isPossible, "openssl is not installed"))
  func encryptionAndIdentity() async throws {
    let certificates = try Certificates()
    try certificates.makeCertificates()
    let user = try NKey(.user, "user", in: certificates)
    try certificates.write(user.seed, to: "seed.nk")
    let server = try NATSServer(
      settings: """
        tls {
          cert_file: "\(certificates.file("server.pem"))"
          key_file: "\(certificates.file("server.key"))"
          ca_file: "\(certificates.file("ca.pem"))"
          verify: true
        }
        authorization { users: [ { nkey: "\(user.publicKey)" } ] }
        """)
    try await server.start()
    var options = server.options()
    options.servers = ["tls://127.0.0.1:\(server.port)"]
    options.connectTimeout = .seconds(2)
    options.tls = .init(
      authorities: certificates.file("ca.pem"), certificate: certificates.file("client.pem"),
      key: certificates.file("client.key"))
    // Without the key it is refused.
    await #expect(throws: SharedLogError.self) { try await JetStreamLog.connect(options) }
    options.identity = .nkey(
      publicKey: user.publicKey, seedFile: certificates.file("seed.nk"))
    let log = try await JetStreamLog.connect(options)
    let end = try await SharedLogContract.fill(log, 1...3)
    server.kill()
    try await server.start()
    try await log.untilReachable()
    try await SharedLogContract.fill(log, 4...5, after: end)
    log.close()
    // Nor is a server trusted whose authority is unknown.
    options.tls?.authorities = nil
    await #expect(throws: SharedLogError.self) { try await JetStreamLog.connect(options) }
  }

  /// A file of credentials, as operators give to users of an account.
  @Test(.enabled(if: Certificates.isPossible, "openssl is not installed"))
  func credentials() async throws {
    let keys = try Certificates()
    let operation = try NKey(.operation, "operation", in: keys)
    let system = try NKey(.account, "system", in: keys)
    let account = try NKey(.account, "account", in: keys)
    let user = try NKey(.user, "user", in: keys)
    let limits = """
      "limits":{"subs":-1,"data":-1,"payload":-1,"imports":-1,"exports":-1,"wildcards":true,\
      "conn":-1,"leaf":-1,"mem_storage":-1,"disk_storage":-1,"streams":-1,"consumer":-1}
      """
    let systemLimits = limits.split(separator: ",\"mem_storage\"")[0] + "}"
    let server = try NATSServer(
      settings: """
        operator: "\(try operation.token(for: operation, #""type":"operator""#))"
        system_account: \(system.publicKey)
        resolver: MEMORY
        resolver_preload: {
          \(system.publicKey): \
        "\(try operation.token(for: system, "\(systemLimits),\"type\":\"account\""))"
          \(account.publicKey): \
        "\(try operation.token(for: account, "\(limits),\"type\":\"account\""))"
        }
        """)
    try await server.start()
    let token = try account.token(
      for: user, #""subs":-1,"data":-1,"payload":-1,"type":"user""#)
    try keys.write(
      """
      -----BEGIN NATS USER JWT-----
      \(token)
      ------END NATS USER JWT------

      -----BEGIN USER NKEY SEED-----
      \(user.seed)
      ------END USER NKEY SEED------

      """, to: "user.creds")
    var options = server.options()
    options.connectTimeout = .seconds(2)
    await #expect(throws: SharedLogError.self) { try await JetStreamLog.connect(options) }
    options.identity = .credentials(file: keys.file("user.creds"))
    let log = try await JetStreamLog.connect(options)
    try await SharedLogContract.fill(log, 1...20)
    #expect(try await log.records(from: 1, limit: 20).records.count == 20)
    log.close()
  }

  /// Nothing is left of logs that were closed, or let go, nor of lost connections.
  @Test func leaks() async throws {
    let server = try NATSServer()
    try await server.start()
    let log = try await JetStreamLog.connect(server.options())
    var end = try await SharedLogContract.fill(log, 1...40)
    var used: [WeakReference<NATSConnection>] = []
    func use(closing: Bool) async throws {
      let other = try await JetStreamLog.connect(server.options())
      used.append(WeakReference(value: other.connection))
      #expect(try await other.records(from: 1, limit: 40).records.count == 40)
      let task = Task { for await _ in other.growth(after: 0) { return } }
      await task.value
      if closing { other.close() }
    }
    var counts: [(threads: Int, kilobytes: Int)] = []
    for round in 0..<4 {
      for number in 0..<25 {
        try await use(closing: number % 2 == 0)
        #expect(try await log.records(from: UInt64(number), limit: 20).records.count >= 15)
      }
      server.kill()
      try await server.start()
      try await log.untilReachable()
      let next = 41 + round
      end = try await SharedLogContract.fill(log, next...next, after: end)
      try await Task.sleep(for: .milliseconds(300))
      counts.append(process())
    }
    print("threads and kilobytes after 25, 50, 75, 100 connections: \(counts)")
    // Tests that run beside this one have threads and memory, too, for a while.
    func isMore(_ count: (threads: Int, kilobytes: Int)) -> Bool {
      count.threads > counts[0].threads + 4 || count.kilobytes >= counts[0].kilobytes + 8_192
    }
    var last = try #require(counts.last)
    let deadline = ContinuousClock.now + .seconds(120)
    while isMore(last), .now < deadline {
      try await Task.sleep(for: .milliseconds(200))
      last = process()
    }
    #expect(last.threads <= counts[0].threads + 4)
    #expect(last.kilobytes < counts[0].kilobytes + 8_192)
    #expect(used.count == 100 && used.allSatisfy { $0.value == nil })
    log.close()
  }

  private func process() -> (threads: Int, kilobytes: Int) {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    func number(_ key: String) -> Int {
      let line = text.split(separator: "\n").first { $0.hasPrefix(key) } ?? ""
      return Int(line.filter(\.isNumber)) ?? 0
    }
    return (number("Threads:"), number("VmRSS:"))
  }
}

private struct WeakReference<Value: AnyObject> {
  weak var value: Value?
}

#endif
