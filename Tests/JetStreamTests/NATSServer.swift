#if JetStream

import AnnalsJetStream
import AnnalsReplication
import Foundation
import Testing

/// A `nats-server` of a test: a process with a port on the loopback address and a folder, stopped
/// by its process id when the test lets it go.
final class NATSServer: @unchecked Sendable {
  let name: String
  let port: Int
  let folder: URL
  private let settings: String
  /// Whether it has no JetStream.
  private let isBare: Bool
  let host: String
  /// The network namespace that it runs in; nil for this process's own.
  let namespace: String?
  /// What JetStream may take of the disk, as its configuration says it; for the next start.
  var limits: String
  private var process: Process?
  private var lifeline: Pipe?

  /// Whether the program is here.
  static let program: String? = ["/usr/sbin/nats-server", "/usr/bin/nats-server"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  init(
    name: String = "one", port: Int = NATSServer.freePort(), settings: String = "",
    isBare: Bool = false, host: String = "127.0.0.1", namespace: String? = nil,
    limits: String = ""
  ) throws {
    self.name = name
    self.port = port
    self.settings = settings
    self.isBare = isBare
    self.host = host
    self.namespace = namespace
    self.limits = limits
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("annals-nats-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(at: folder)
  }

  var url: String { "nats://\(host):\(port)" }
  var data: URL { folder.appendingPathComponent("data") }

  /// Starts the server, and waits until it takes connections.
  func start() async throws {
    let text = """
      server_name: \(name)
      listen: "\(host):\(port)"
      \(isBare ? "" : "jetstream { store_dir: \"\(data.path)\"\n\(limits) }")
      log_file: "\(folder.appendingPathComponent("log").path)"
      \(settings)
      """
    let file = folder.appendingPathComponent("server.conf")
    try text.write(to: file, atomically: true, encoding: .utf8)
    // The shell kills the server as soon as this process is gone, whatever ended it.
    let process = Process()
    let lifeline = Pipe()
    try? FileManager.default.removeItem(at: processFile)
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = [
      "-c",
      """
      "$@" </dev/null >/dev/null 2>&1 &
      read line
      kill -9 $! 2>/dev/null
      wait
      """,
      "sh",
    ]
    if let namespace { process.arguments? += ["ip", "netns", "exec", namespace] }
    process.arguments? += [
      try #require(NATSServer.program), "-c", file.path, "-P", processFile.path,
    ]
    process.standardInput = lifeline
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    self.process = process
    self.lifeline = lifeline
    for _ in 0..<200 {
      if NATSServer.accepts(host, port), processIdentifier != nil { return }
      try await Task.sleep(for: .milliseconds(25))
    }
    Issue.record("the server does not start: \(log)")
  }

  /// What the server has written to its log.
  var log: String {
    (try? String(contentsOf: folder.appendingPathComponent("log"), encoding: .utf8)) ?? ""
  }

  /// Kills the server: SIGKILL.
  func kill() { end(SIGKILL) }

  /// Stops the server as an administrator would: SIGTERM.
  func stop() { end(SIGTERM) }

  /// Stops the server's threads, and waits until they stand still.
  func pause() {
    send(SIGSTOP)
    guard let number = processIdentifier else { return }
    for _ in 0..<400 where NATSServer.state(of: number) != "T" { usleep(5_000) }
  }

  func resume() { send(SIGCONT) }

  private var processFile: URL { folder.appendingPathComponent("pid") }

  private var processIdentifier: pid_t? {
    (try? String(contentsOf: processFile, encoding: .utf8)).flatMap { pid_t($0) }
  }

  private func send(_ signal: Int32) {
    if let processIdentifier, process != nil { Foundation.kill(processIdentifier, signal) }
  }

  private func end(_ signal: Int32) {
    guard let process, let number = processIdentifier else { return }
    send(signal)
    if signal != SIGKILL { send(SIGCONT) }
    for _ in 0..<400 where NATSServer.runs(number) { usleep(25_000) }
    // The shell would read for as long as others have this pipe open, too, that were started
    // meanwhile; and `waitUntilExit` was seen to wait for ever, on a thread that all tasks share.
    Foundation.kill(process.processIdentifier, SIGKILL)
    try? lifeline?.fileHandleForWriting.close()
    self.process = nil
  }

  /// Whether the process is there and no zombie.
  private static func runs(_ number: pid_t) -> Bool {
    state(of: number).map { $0 != "Z" } ?? false
  }

  /// The letter of a process's state; nil if there is none.
  private static func state(of number: pid_t) -> Character? {
    let text = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)
    return text?.components(separatedBy: ") ").last?.first
  }

  /// Options for a stream that is made on this server.
  func options(_ stream: String = "books") -> JetStreamOptions {
    var options = JetStreamOptions(servers: [url], stream: stream)
    options.opening = .creating
    options.reconnectWait = .milliseconds(50)
    options.requestTimeout = .seconds(2)
    options.pingInterval = .seconds(1)
    return options
  }

  // MARK: Ports

  private static func address(_ host: String, _ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr(host)
    return address
  }

  private static func withAddress<R>(
    _ host: String, _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R
  ) -> R {
    var address = address(host, port)
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }

  /// A port on which nobody listens.
  static func freePort() -> Int {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    _ = withAddress("127.0.0.1", 0) { bind(socket, $0, $1) }
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
    }
    return Int(in_port_t(bigEndian: address.sin_port))
  }

  static func accepts(_ host: String, _ port: Int) -> Bool {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    return withAddress(host, port) { connect(socket, $0, $1) } == 0
  }
}

/// Three servers in a cluster.
final class NATSCluster: Sendable {
  let servers: [NATSServer]

  init() async throws {
    let routes = (0..<3).map { _ in NATSServer.freePort() }
    let list = routes.map { "\"nats-route://127.0.0.1:\($0)\"" }.joined(separator: ", ")
    servers = try routes.enumerated().map { index, port in
      try NATSServer(
        name: "n\(index + 1)",
        settings: """
          cluster { name: "annals", listen: "127.0.0.1:\(port)", routes: [\(list)] }
          """)
    }
    for server in servers { try await server.start() }
  }

  /// Three servers in the network namespaces of `namespaces.sh`.
  init(inNamespaces: Void) async throws {
    let hosts = (1...3).map { "10.77.0.1\($0)" }
    let list = hosts.map { "\"nats-route://\($0):6222\"" }.joined(separator: ", ")
    servers = try hosts.enumerated().map { index, host in
      try NATSServer(
        name: "n\(index + 1)", port: 4_222,
        settings: """
          cluster { name: "annals", listen: "\(host):6222", routes: [\(list)] }
          """, host: host, namespace: "n\(index + 1)")
    }
    for server in servers { try await server.start() }
  }

  /// Cuts a server off from the two others, not from this process; or joins them again.
  func setReach(of server: NATSServer, isCut: Bool) throws {
    for other in servers where other !== server {
      try setReach(between: server, other, isCut: isCut)
    }
  }

  /// Cuts two servers off from each other, or joins them again.
  func setReach(between one: NATSServer, _ other: NATSServer, isCut: Bool) throws {
    for (from, to) in [(one, other), (other, one)] {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = [
        "-c",
        "ip -n \(from.namespace ?? "") route \(isCut ? "add" : "del") blackhole \(to.host)/32",
      ]
      try process.run()
      process.waitUntilExit()
      try #require(process.terminationStatus == 0)
    }
  }

  func options(_ stream: String = "books") -> JetStreamOptions {
    var options = servers[0].options(stream)
    options.servers = servers.map(\.url)
    options.replicas = 3
    options.connectTimeout = .seconds(30)
    return options
  }
}

/// Tests that need `nats-server` are skipped where it is missing.
let needsServer = ConditionTrait.enabled(
  if: NATSServer.program != nil, "nats-server is not installed (apt-get install nats-server)")

#endif
