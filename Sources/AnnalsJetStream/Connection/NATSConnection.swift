#if JetStream

import AnnalsStorage
import CNATS
import Dispatch

/// A connection to a cluster of NATS that comes back by itself.
///
/// - The C library is called from `queue` alone: its calls may block on the network, and no task
///   waits for them.
/// - It calls back on threads of its own; what it brings is copied, and its objects are freed
///   there.
/// - A request is answered once, by a message or a failure: by whoever takes it out of `requests`.
/// - Nothing is sent while there is no connection, and nothing is kept to be sent later: a request
///   that failed as `.notSent` never arrives.
final class NATSConnection: Sendable {
  /// What happened to the connection.
  enum Event: Sendable {
    /// It is there, for the first time or again.
    case connected
    /// A message came on the subject that is listened to.
    case notice(NATSMessage)
  }

  struct Content {
    /// Counts the times that the connection came to be.
    var generation: UInt64 = 0
    var isConnected = false
    var isClosed = false
    /// Why there is no connection.
    var reason = "not connected yet"
    var requests: [UInt64: NATSRequest] = [:]
    var nextRequest: UInt64 = 1
    /// Whether somebody looks after requests that are overdue.
    var isSweeping = false
    var pointers = Pointers()
    var listener: @Sendable (Event) -> Void = { _ in }
    var noticeSubject: String?
    /// The servers to try, in this order; those of the options, in any order, if there are none.
    var servers: [String] = []
    /// The first and the last time that an answer was of no use; nil if a later one was.
    var useless: (since: ContinuousClock.Instant, last: ContinuousClock.Instant)?
  }

  /// The C library's objects; used on `queue` alone.
  struct Pointers: @unchecked Sendable {
    var connection: OpaquePointer?
    var inbox: OpaquePointer?
    var notices: OpaquePointer?
    /// Subscriptions to the answers of requests that have many, by the requests' numbers.
    var answers: [UInt64: OpaquePointer] = [:]

    /// The URLs of the cluster's servers, as far as they are known, the present one last; on
    /// `queue`.
    var servers: [String] {
      guard let connection else { return [] }
      var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
      var count: Int32 = 0
      guard natsConnection_GetServers(connection, &list, &count) == NATS_OK, let list else {
        return []
      }
      var present = [CChar](repeating: 0, count: 512)
      natsConnection_GetConnectedUrl(connection, &present, present.count)
      var urls: [String] = []
      for index in 0..<Int(count) {
        guard let url = list[index] else { continue }
        urls.append(String(cString: url))
        annals_free(url)
      }
      annals_free(list)
      let last = present.withUnsafeBufferPointer { text in
        text.baseAddress.map { String(cString: $0) } ?? ""
      }
      return urls.filter { $0 != last }.shuffled() + urls.filter { $0 == last }
    }

    /// Closes and frees everything; on `queue`.
    func destroy() {
      for subscription in answers.values { natsSubscription_Destroy(subscription) }
      if let notices { natsSubscription_Destroy(notices) }
      if let inbox { natsSubscription_Destroy(inbox) }
      if let connection { natsConnection_Destroy(connection) }
    }
  }

  let options: JetStreamOptions
  let queue: DispatchQueue
  let content = Locked(Content())
  /// What the subjects of answers begin with.
  let inbox: String
  private let registration = Locked(0)

  init(_ options: JetStreamOptions) {
    self.options = options
    queue = DispatchQueue(label: "annals.jetstream.\(options.stream)")
    let random = UInt64.random(in: 0...UInt64.max)
    inbox = "\(options.inboxPrefix).annals\(String(random, radix: 36))"
    let number = NATSRegistry.add(self)
    registration.withLock { $0 = number }
  }

  deinit {
    NATSRegistry.remove(number)
    let pointers = content.withLock { $0.pointers }
    queue.async { pointers.destroy() }
  }

  /// The number of this connection in the registry.
  var number: Int { registration.withLock { $0 } }

  /// How often there was a connection, and whether there is one.
  var state: (generation: UInt64, isConnected: Bool) {
    content.withLock { ($0.generation, $0.isConnected) }
  }

  /// Says who is told what happens.
  func listen(_ body: @escaping @Sendable (Event) -> Void) {
    content.withLock { $0.listener = body }
  }

  /// Connects. If `retrying`, returns at once when no server can be reached, and goes on trying.
  func open(retrying: Bool) async throws(NATSFailure) {
    let result = await onQueue { self.openNow(retrying: retrying) }
    return try result.get()
  }

  /// Closes: requests under way fail, later ones too. May be called twice.
  func close() {
    let pointers = content.withLock { content in
      content.isClosed = true
      content.isConnected = false
      content.reason = "the log was closed"
      defer { content.pointers = Pointers() }
      return content.pointers
    }
    failAll("the log was closed")
    queue.async { pointers.destroy() }
  }

  /// The most bytes of a message; nil if there never was a connection.
  func greatestMessage() async -> Int? {
    await onQueue {
      guard let connection = self.content.withLock({ $0.pointers }).connection else { return nil }
      let bytes = natsConnection_GetMaxPayload(connection)
      return bytes > 0 ? Int(bytes) : nil
    }
  }

  /// Listens to a subject, from now on over all connections; to one at a time.
  func subscribe(to subject: String) async {
    await onQueue {
      let (pointers, known) = self.content.withLock { ($0.pointers, $0.noticeSubject) }
      guard known != subject, let connection = pointers.connection else { return }
      if let old = pointers.notices { natsSubscription_Destroy(old) }
      var new: OpaquePointer?
      let status = natsConnection_Subscribe(
        &new, connection, subject,
        { _, _, message, closure in
          guard let message else { return }
          defer { natsMsg_Destroy(message) }
          guard let own = NATSRegistry.connection(closure) else { return }
          own.content.withLock({ $0.listener })(.notice(NATSMessage(message)))
        }, NATSRegistry.closure(self.number))
      self.content.withLock {
        $0.pointers.notices = status == NATS_OK ? new : nil
        $0.noticeSubject = status == NATS_OK ? subject : nil
      }
    }
  }

  /// Does work that may block, on the queue.
  private func onQueue<Answer: Sendable>(_ body: @escaping @Sendable () -> Answer) async -> Answer {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: body()) }
    }
  }

  // MARK: On the queue

  private func openNow(retrying: Bool) -> Result<Void, NATSFailure> {
    guard !content.withLock({ $0.isClosed }) else { return .failure(.notSent("it is closed")) }
    var pointers = Pointers()
    var status: natsStatus
    do throws(NATSFailure) {
      let settings = try NATSSettings(
        options, servers: content.withLock { $0.servers }, number: number, retrying: retrying)
      status = natsConnection_Connect(&pointers.connection, settings.pointer)
    } catch {
      return .failure(error)
    }
    let isConnected = status == NATS_OK
    if isConnected || status == NATS_NOT_YET_CONNECTED {
      status = natsConnection_Subscribe(
        &pointers.inbox, pointers.connection, inbox + ".*",
        { _, _, message, closure in
          guard let message else { return }
          defer { natsMsg_Destroy(message) }
          NATSRegistry.connection(closure)?.receive(message)
        }, NATSRegistry.closure(number))
    }
    guard status == NATS_OK else {
      let servers = options.servers.map(JetStreamAddress.withoutPassword).joined(separator: ", ")
      let text = "no connection to \(servers): \(NATSConnection.text(of: status))"
      pointers.destroy()
      content.withLock { $0.reason = text }
      return .failure(status == NATS_CONNECTION_AUTH_FAILED ? .denied(text) : .notSent(text))
    }
    // The answers to all requests come here, and are taken away at once.
    natsSubscription_SetPendingLimits(pointers.inbox, -1, -1)
    let isClosed = content.withLock { content in
      if !content.isClosed { content.pointers = pointers }
      return content.isClosed
    }
    if isClosed {
      pointers.destroy()
      return .failure(.notSent("it is closed"))
    }
    if isConnected { connected() }
    return .success(())
  }

  /// What a status means, in words.
  static func text(of status: natsStatus) -> String {
    guard let text = natsStatus_GetText(status) else { return "status \(status.rawValue)" }
    return String(cString: text)
  }

  // MARK: On the library's threads

  /// There is a connection.
  func connected() {
    let listener = content.withLock { content in
      content.generation += 1
      content.isConnected = true
      content.reason = ""
      return content.listener
    }
    listener(.connected)
  }

  /// There is none any more, for now.
  func disconnected() {
    content.withLock {
      guard !$0.isClosed else { return }
      $0.isConnected = false
      $0.reason = "the connection was lost"
    }
    failAll("the connection was lost")
  }

  /// The library gave up, which it does when it is refused: begin anew.
  func gaveUp() { beginAnew("the servers refuse the connection", after: .seconds(1)) }

  /// Takes notice of whether an answer was of use. A server that the others cannot reach keeps its
  /// connections, and answers nothing, or that it cannot help: after a while another one is tried.
  func wasAnswered(usefully isUseful: Bool) {
    let patience = options.requestTimeout * 3
    let movesOn = content.withLock { content in
      if isUseful {
        content.useless = nil
        return false
      }
      guard content.isConnected else { return false }
      let now = ContinuousClock.now
      var useless = content.useless ?? (now, now)
      if now - useless.last > patience { useless.since = now }
      content.useless = (useless.since, now)
      return now - useless.since >= patience
    }
    let wait = DispatchTimeInterval.milliseconds(Int(max(1, options.reconnectWait.milliseconds)))
    if movesOn { beginAnew("the server is of no use; trying others", after: wait) }
  }

  /// Closes the connection, and makes another one to any of the servers.
  private func beginAnew(_ reason: String, after wait: DispatchTimeInterval) {
    let old = content.withLock { content -> Pointers? in
      guard !content.isClosed, content.pointers.connection != nil else { return nil }
      content.isConnected = false
      content.reason = reason
      content.noticeSubject = nil
      content.useless = nil
      defer { content.pointers = Pointers() }
      return content.pointers
    }
    guard let old else { return }
    failAll(reason)
    queue.async {
      let servers = old.servers
      if !servers.isEmpty { self.content.withLock { $0.servers = servers } }
      old.destroy()
    }
    reopenLater(wait)
  }

  private func reopenLater(_ wait: DispatchTimeInterval) {
    queue.asyncAfter(deadline: .now() + wait) { [weak self] in
      guard let self, !content.withLock({ $0.isClosed }) else { return }
      if case .failure = openNow(retrying: true) { reopenLater(.seconds(1)) }
    }
  }
}

#endif
