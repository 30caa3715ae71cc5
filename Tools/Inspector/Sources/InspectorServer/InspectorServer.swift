import AnnalsInspector
import FlyingSocks
import Foundation

/// Serves the inspector's page and its documents on the loopback.
public final class InspectorServer: Sendable {
  /// The limits of the server; tests set them lower.
  public struct Limits: Sendable {
    /// As many connections are open at a time.
    public var connections = 128
    /// As many streams of events.
    public var streams = 24
    /// How long the first byte of a request may take, of those who have shown no secret.
    public var strangerIdle = Duration.seconds(10)
    /// The same, of those who have.
    public var idle = Duration.seconds(75)
    /// How long a head may take.
    public var head = Duration.seconds(10)
    /// How long 64 KiB of an answer may take.
    public var pace = Duration.seconds(20)
    /// How long all of it may take.
    public var answer = Duration.seconds(120)
    /// As many requests are answered at a time.
    public var width = 4
    /// As many wait.
    public var waiting = 32

    /// The usual limits.
    public init() {}
  }

  private let inspector: Inspector
  private let page: PageFiles
  private let socket: Socket
  let gate: Gate
  private let limits: Limits
  private let connections: Connections
  private let work: WorkPool
  /// The port that is listened at.
  public let port: UInt16
  private let token: String

  /// Why a port cannot be listened at.
  public struct PortUnusable: Error {
    /// The port.
    public let port: UInt16
    /// The system's words.
    public let reason: String
  }

  /// Listens at the port of the loopback; 0 for one that is free. Throws `PortUnusable` if that
  /// fails.
  public init(
    _ inspector: Inspector, page: PageFiles, port: UInt16 = 0, limits: Limits = Limits()
  ) throws {
    self.inspector = inspector
    self.page = page
    self.limits = limits
    socket = try Socket(domain: Int32(AF_INET))
    try socket.setValue(true, for: .localAddressReuse)
    do {
      try socket.bind(to: sockaddr_in.inet(ip4: "127.0.0.1", port: port))
      try socket.listen()
    } catch SocketError.failed(_, _, let reason) {
      throw PortUnusable(port: port, reason: reason)
    }
    guard case .ip4(_, let own) = try socket.sockname() else {
      throw SocketError.unsupportedAddress
    }
    self.port = own
    token = Gate.makeToken()
    gate = Gate(port: own, token: token)
    connections = Connections(most: limits.connections, mostStreams: limits.streams)
    work = WorkPool(width: limits.width, mostWaiting: limits.waiting)
  }

  /// The address that opens the page.
  public var address: String { "http://127.0.0.1:\(port)/?token=\(token)" }

  /// How many connections are open; for tests.
  var connectionCount: Int { get async { await connections.count } }

  /// Serves until the task is cancelled.
  public func run() async throws {
    let pool: some AsyncSocketPool = .make(maxEvents: 128)
    try await pool.prepare()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await pool.run() }
      group.addTask { try await self.accept(AsyncSocket(socket: self.socket, pool: pool)) }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Closes all connections and the port.
  public func stop() async {
    await connections.closeAll()
    try? socket.close()
  }

  private func accept(_ listening: AsyncSocket) async throws {
    while !Task.isCancelled {
      do {
        let socket = try await listening.accept()
        await connections.add(socket) { await self.serve(Wire(socket), $0) }
      } catch is CancellationError {
        return
      } catch {
        // Out of descriptors, or a connection that was given up at once.
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  /// Serves one connection until it ends.
  private func serve(_ wire: Wire, _ number: Int) async {
    var isKnown = false
    while !Task.isCancelled {
      do {
        let head = try await wire.nextHead(
          idle: isKnown ? limits.idle : limits.strangerIdle, whole: limits.head)
        await connections.mark(number, isBusy: true)
        let verdict = gate.verdict(on: head)
        if verdict == .admitted || verdict == .introduced, !isKnown {
          isKnown = true
          await connections.markKnown(number)
        }
        if verdict == .admitted, head.path == "/api/events", head.method == "GET" {
          return try await stream(head, wire)
        }
        guard let response = try await answer(head, verdict, wire) else { return }
        try await send(response, head, wire)
        await connections.mark(number, isBusy: false)
        guard head.keepsAlive, isKnown else { return }
      } catch let flaw as RequestFlaw {
        var response = Response.text(flaw.status, "This request is refused.")
        if flaw == .method { response.headers.append(("Allow", "GET, HEAD")) }
        try? await send(response, nil, wire)
        return
      } catch {
        return
      }
    }
  }

  private func send(_ response: Response, _ head: RequestHead?, _ wire: Wire) async throws {
    let keepsAlive = head?.keepsAlive == true && response.status < 500
    var bytes = response.head(keepsAlive: keepsAlive)
    if head?.method != "HEAD" { bytes += response.body }
    try await wire.write(bytes, pace: limits.pace, whole: limits.answer)
  }

  /// The answer; nil if the other side has gone meanwhile.
  private func answer(
    _ head: RequestHead, _ verdict: Gate.Verdict, _ wire: Wire
  ) async throws -> Response? {
    switch verdict {
    case .misdirected: return .text(421, "This server answers at 127.0.0.1 alone.")
    case .foreign: return .text(403, "Requests of other pages are refused.")
    case .introduced: return introduction(head)
    case .unknown:
      return head.path.hasPrefix("/api/")
        ? .fault(401, "unauthorized", "Open the address that annals serve has printed.")
        : .text(401, "Open the address that annals serve has printed: it has the key.")
    case .admitted: break
    }
    guard head.path.hasPrefix("/api/") else { return pageAnswer(head) }
    return try await document(head, wire)
  }

  /// Gives the cookie, and leads to the page without the secret in its address.
  ///
  /// A browser that comes from elsewhere does not send the new cookie behind a redirection, but it
  /// does where a page of this server leads on.
  private func introduction(_ head: RequestHead) -> Response {
    let headers = [("Set-Cookie", gate.cookie), ("Cache-Control", "no-store")]
    let site = head.value("sec-fetch-site") ?? "none"
    if site == "none" || site == "same-origin" {
      return Response(status: 303, headers: headers + [("Location", "/")])
    }
    let page =
      "<!doctype html><title>Annals</title><meta http-equiv=\"refresh\" content=\"0;url=/\">"
    return Response(
      status: 200, headers: headers + [("Content-Type", "text/html; charset=utf-8")],
      body: Data(page.utf8))
  }

  private func pageAnswer(_ head: RequestHead) -> Response {
    var name = head.path == "/" ? "index.html" : head.path.dropFirst()
    if name.hasPrefix("page/") { name = name.dropFirst("page/".count) }
    guard let file = page[String(name)] else {
      return .text(404, "There is no such file.")
    }
    let headers = [
      ("Content-Type", file.contentType), ("ETag", file.tag), ("Cache-Control", "no-cache"),
    ]
    if head.value("if-none-match")?.contains(file.tag) == true {
      return Response(status: 304, headers: headers)
    }
    return Response(status: 200, headers: headers, body: file.bytes)
  }

  /// A document; nil if the other side has gone meanwhile, which ends the work for it.
  private func document(_ head: RequestHead, _ wire: Wire) async throws -> Response? {
    let request = InspectorRequest(
      String(head.path.dropFirst("/api/".count)), query: head.query, range: head.value("range"))
    let (inspector, work) = (inspector, work)
    enum Outcome: Sendable {
      case answered(InspectorAnswer?)
      case left
      case sentMore
    }
    let outcome = try await withThrowingTaskGroup(of: Outcome.self) { group in
      group.addTask {
        .answered(await work.run { inspector.answer(request, cancellation: $0) })
      }
      group.addTask { try await wire.waitForEnd() ? .left : .sentMore }
      defer { group.cancelAll() }
      // Who sends the next request already is answered one after the other.
      while let outcome = try await group.next() {
        if case .sentMore = outcome { continue }
        return outcome
      }
      return .left
    }
    guard case .answered(let found) = outcome else { return nil }
    guard let found else {
      return .fault(503, "busy", "Too many requests at a time: ask again.")
    }
    return Response(found)
  }

  /// Tells what happens to a store until the other side goes away.
  private func stream(_ head: RequestHead, _ wire: Wire) async throws {
    guard await connections.beginStream() else {
      let busy = Response.fault(503, "busy", "Too many pages are open.")
      return try await send(busy, head, wire)
    }
    defer { Task { await connections.endStream() } }
    guard let events = inspector.events(query: head.query) else {
      let unknown = Response.fault(404, "notFound", "There is no such store.")
      return try await send(unknown, head, wire)
    }
    var response = Response(
      status: 200,
      headers: [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")])
    response.isStream = true
    let (pace, whole) = (limits.pace, limits.pace)
    try await wire.write(response.head(keepsAlive: false), pace: pace, whole: whole)
    // Both write, so one of them does at a time: the lines go through one stream.
    let (lines, sink) = AsyncStream.makeStream(
      of: String.self, bufferingPolicy: .bufferingNewest(32))
    await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for await event in events { sink.yield("event: \(event.name)\ndata: \(event.data)\n\n") }
      }
      group.addTask {
        while true {
          try await Task.sleep(for: .seconds(15))
          sink.yield(": keep-alive\n\n")
        }
      }
      group.addTask {
        for await line in lines {
          try await wire.write(Data(line.utf8), pace: pace, whole: whole)
        }
      }
      group.addTask { while try await !wire.waitForEnd() {} }
      _ = try? await group.next()
      group.cancelAll()
      sink.finish()
    }
  }
}

extension Response {
  /// An answer of the inspector.
  fileprivate init(_ answer: InspectorAnswer) {
    self.init(
      status: answer.status,
      headers: [("Content-Type", answer.contentType), ("Cache-Control", "no-store")]
        + answer.headers, body: answer.body)
  }
}
