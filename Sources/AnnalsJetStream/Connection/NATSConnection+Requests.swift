#if JetStream

import AnnalsStorage
import CNATS
import Dispatch

/// A request that waits for its answer.
struct NATSRequest: Sendable {
  var deadline: ContinuousClock.Instant
  let timeout: Duration
  /// Takes a message or the failure. For a request with many answers it returns whether it wants no
  /// more; it may then be called by two threads, the last time with a failure.
  let receive: @Sendable (Result<NATSMessage, NATSFailure>) -> Bool
  let hasManyAnswers: Bool
}

extension NATSConnection {
  /// Sends a request, and waits for its answer. Throws also if nobody listens to the subject.
  func ask(
    _ subject: String, _ bytes: [UInt8] = [], headers: [(key: String, value: String)] = []
  ) async throws(NATSFailure) -> NATSMessage {
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<NATSMessage, NATSFailure>, Never>) in
      send(subject, bytes, headers: headers, many: false) {
        continuation.resume(returning: $0)
        return true
      }
    }
    let message = try result.get()
    if message.isNoResponders { throw .notSent("no server answers for \(subject)") }
    return message
  }

  /// Sends requests to a subject in this order, none of which waits for the answer to another, and
  /// waits for the answers to all.
  func askAll(
    _ subject: String, _ messages: [(bytes: [UInt8], headers: [(key: String, value: String)])]
  ) async -> [Result<NATSMessage, NATSFailure>] {
    struct Gathered {
      var answers: [Result<NATSMessage, NATSFailure>]
      var missing: Int
    }
    if messages.isEmpty { return [] }
    let gathered = Gathering(
      Gathered(
        answers: messages.map { _ in .failure(.noAnswer("no answer came")) },
        missing: messages.count))
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      for (index, message) in messages.enumerated() {
        send(subject, message.bytes, headers: message.headers, many: false) { answer in
          let isLast = gathered.locked.withLock { gathered in
            gathered.answers[index] = answer
            gathered.missing -= 1
            return gathered.missing == 0
          }
          if isLast { continuation.resume() }
          return true
        }
      }
    }
    return gathered.locked.withLock { $0.answers }
  }

  /// Sends a request with many answers, and gathers them until `isLast` says so of one, which is
  /// not among them, or until `count` are there, or none came for a while.
  func askMany(
    _ subject: String, _ bytes: [UInt8], count: Int,
    isLast: @escaping @Sendable (NATSMessage) -> Bool
  ) async -> (messages: [NATSMessage], end: Result<NATSMessage, NATSFailure>?) {
    struct Gathered {
      var messages: [NATSMessage] = []
      var isDone = false
    }
    let gathered = Gathering(Gathered())
    var number: UInt64?
    let end = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<NATSMessage, NATSFailure>?, Never>) in
      number = send(subject, bytes, headers: [], many: true) { arrival in
        enum Next {
          case more
          case done(Result<NATSMessage, NATSFailure>?)
          case late
        }
        let next: Next = gathered.locked.withLock { gathered in
          if gathered.isDone { return .late }
          if case .success(let message) = arrival, !isLast(message) {
            gathered.messages.append(message)
            if gathered.messages.count < count { return .more }
            gathered.isDone = true
            return .done(nil)
          }
          gathered.isDone = true
          return .done(arrival)
        }
        switch next {
        case .more: return false
        case .late: return true
        case .done(let end):
          continuation.resume(returning: end)
          return true
        }
      }
    }
    if let number { unsubscribe(number) }
    return (gathered.locked.withLock { $0.messages }, end)
  }

  /// Sends a message to which nobody answers; it may be lost.
  func tell(
    _ subject: String, _ bytes: [UInt8] = [], headers: [(key: String, value: String)] = []
  ) {
    guard state.isConnected else { return }
    queue.async { _ = self.publish(subject, nil, bytes, headers) }
  }

  private final class Gathering<Value>: Sendable {
    let locked: Locked<Value>

    init(_ value: sending Value) { locked = Locked(value) }
  }

  // MARK: Sending

  /// Sends a request. Returns its number; nil if it failed at once.
  @discardableResult
  private func send(
    _ subject: String, _ bytes: [UInt8], headers: [(key: String, value: String)], many: Bool,
    receive: @escaping @Sendable (Result<NATSMessage, NATSFailure>) -> Bool
  ) -> UInt64? {
    let timeout = options.requestTimeout
    let request = NATSRequest(
      deadline: .now + timeout, timeout: timeout, receive: receive, hasManyAnswers: many)
    let (number, reason, sweeps) = content.withLock {
      content -> (UInt64?, reason: String, sweeps: Bool) in
      guard content.isConnected else { return (nil, content.reason, false) }
      let number = content.nextRequest
      content.nextRequest += 1
      content.requests[number] = request
      defer { content.isSweeping = true }
      return (number, "", !content.isSweeping)
    }
    guard let number else {
      _ = receive(.failure(.notSent(reason)))
      return nil
    }
    if sweeps { sweepLater() }
    queue.async {
      // A message that a consumer delivers bears its own subject, not that of the request's
      // answers: only by its subscription is it known what it answers.
      let reply = many ? "\(self.inbox).many.\(number)" : "\(self.inbox).\(number)"
      if many, let failure = self.subscribe(number, to: reply) {
        _ = self.take(number)?.receive(.failure(failure))
        return
      }
      guard let failure = self.publish(subject, reply, bytes, headers) else { return }
      _ = self.take(number)?.receive(.failure(failure))
    }
    return number
  }

  /// Subscribes to the answers of a request; on the queue.
  private func subscribe(_ request: UInt64, to reply: String) -> NATSFailure? {
    guard let connection = content.withLock({ $0.pointers }).connection else {
      return .notSent("there is no connection")
    }
    var subscription: OpaquePointer?
    let status = natsConnection_Subscribe(
      &subscription, connection, reply,
      { _, _, message, closure in
        guard let message else { return }
        defer { natsMsg_Destroy(message) }
        let request = NATSRegistry.request(closure)
        NATSRegistry.connection(closure)?.receive(message, for: request)
      }, NATSRegistry.closure(number, request: request))
    guard status == NATS_OK, let subscription else {
      return .notSent(NATSConnection.text(of: status))
    }
    natsSubscription_SetPendingLimits(subscription, -1, -1)
    let isOpen = content.withLock { content in
      if content.isClosed || content.pointers.connection != connection { return false }
      content.pointers.answers[request] = subscription
      return true
    }
    if isOpen { return nil }
    natsSubscription_Destroy(subscription)
    return .notSent("the connection was closed")
  }

  /// Ends the subscription to the answers of a request, if it has one.
  private func unsubscribe(_ request: UInt64) {
    queue.async {
      let old = self.content.withLock { $0.pointers.answers.removeValue(forKey: request) }
      if let old { natsSubscription_Destroy(old) }
    }
  }

  /// Hands a message to the library; on the queue. Returns why it could not.
  private func publish(
    _ subject: String, _ reply: String?, _ bytes: [UInt8],
    _ headers: [(key: String, value: String)]
  ) -> NATSFailure? {
    guard let connection = content.withLock({ $0.pointers }).connection else {
      return .notSent("there is no connection")
    }
    var message: OpaquePointer?
    var status = bytes.withUnsafeBytes {
      natsMsg_Create(
        &message, subject, reply, $0.baseAddress?.assumingMemoryBound(to: CChar.self),
        Int32(bytes.count))
    }
    defer { natsMsg_Destroy(message) }
    for (key, value) in headers where status == NATS_OK {
      status = natsMsgHeader_Set(message, key, value)
    }
    guard status == NATS_OK else { return .notSent(NATSConnection.text(of: status)) }
    status = natsConnection_PublishMsg(connection, message)
    switch status {
    case NATS_OK: return nil
    case NATS_MAX_PAYLOAD: return .tooLong
    case NATS_CONNECTION_CLOSED, NATS_CONNECTION_DISCONNECTED, NATS_INSUFFICIENT_BUFFER,
      NATS_INVALID_ARG, NATS_INVALID_SUBJECT, NATS_NO_SERVER_SUPPORT, NATS_DRAINING:
      return .notSent(NATSConnection.text(of: status))
    default:
      // Some of it may have left.
      return .noAnswer(NATSConnection.text(of: status))
    }
  }

  // MARK: Answers

  private func take(_ number: UInt64) -> NATSRequest? {
    content.withLock { $0.requests.removeValue(forKey: number) }
  }

  /// Takes an answer to the request that its subject names; on the library's thread.
  func receive(_ message: OpaquePointer) {
    guard let subject = natsMsg_GetSubject(message),
      let dot = String(cString: subject).lastIndex(of: "."),
      let number = UInt64(String(cString: subject)[dot...].dropFirst())
    else { return }
    receive(message, for: number)
  }

  /// Takes an answer to a request; on a thread of the library.
  private func receive(_ message: OpaquePointer, for number: UInt64) {
    let now = ContinuousClock.now
    let request = content.withLock { content -> NATSRequest? in
      guard let request = content.requests[number] else { return nil }
      if request.hasManyAnswers {
        content.requests[number]?.deadline = now + request.timeout
      } else {
        content.requests[number] = nil
      }
      return request
    }
    guard let request else { return }
    if request.receive(.success(NATSMessage(message))), request.hasManyAnswers {
      _ = take(number)
    }
  }

  /// Fails all requests that were sent.
  func failAll(_ reason: String) {
    let requests = content.withLock { content in
      defer { content.requests = [:] }
      return content.requests
    }
    for request in requests.values { _ = request.receive(.failure(.noAnswer(reason))) }
  }

  /// Fails what is overdue, now and then, as long as there are requests. Not on `queue`, which a
  /// server that reads nothing may block.
  private func sweepLater() {
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) { [weak self] in
      self?.sweep()
    }
  }

  private func sweep() {
    let now = ContinuousClock.now
    let (overdue, goesOn) = content.withLock { content -> ([NATSRequest], Bool) in
      let numbers = content.requests.filter { $0.value.deadline <= now }.map(\.key)
      let overdue = numbers.compactMap { content.requests.removeValue(forKey: $0) }
      content.isSweeping = !content.requests.isEmpty
      return (overdue, content.isSweeping)
    }
    for request in overdue {
      _ = request.receive(.failure(.noAnswer("no answer came in \(request.timeout)")))
    }
    if goesOn { sweepLater() }
  }
}

#endif
