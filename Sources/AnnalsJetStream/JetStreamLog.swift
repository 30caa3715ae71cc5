#if JetStream

import AnnalsReplication
import AnnalsStorage

/// A shared log that is a stream of NATS JetStream: its sequences are the log's, and a record's
/// identifier is the message's.
///
/// - **Appending** publishes with the expected last sequence and the expected last identifier; the
///   stream's leader compares both. The servers acknowledge before a sync of their disks, and a
///   stream that was restored or lost its tail goes on with other records under the same sequences.
///   So whenever the connection is new, or the last append did not end cleanly, the last record is
///   read and compared first; acknowledgements that say something unexpected are checked against
///   the record that they name.
/// - **Reading** asks the stream's leader where the log ends. Few records are asked for one by one,
///   of the leader; many come through a consumer up to that end, however far its server lags.
///   Direct access, which any server of the stream answers from what it has, is not used.
/// - **Objects** are in a second stream: a message for each piece, and one that completes it.
///   Several pieces come through a consumer, too.
///
/// Calls block no thread of Swift's tasks. All may come from any task at any time.
///
/// Whoever may publish to the stream's subject, or purge it, can harm the log: replicas find that
/// out by the digests of their transactions, but give the account to programs that keep to this.
public final class JetStreamLog: SharedLog {
  struct Inside {
    /// The connection, by its generation, on which the streams were found as they should be.
    var verified: UInt64 = 0
    /// The connection on which the last append ended cleanly.
    var trusted: UInt64 = 0
    var recordSubject: String
    /// Where the stream announces what it took; nil if it does not.
    var noticeSubject: String?
    var longestRecord = JetStreamLog.usualMessage - JetStreamLog.headerRoom
    var longestPiece = JetStreamLog.usualMessage - JetStreamLog.headerRoom
    /// The consumers that a page was read from, for the next one, by their streams.
    var readers: [String: Reader] = [:]
    /// From when on consumers are tried again, after one has failed.
    var readersFrom = ContinuousClock.now
    var listeners: [Int: Listener] = [:]
    var nextListener = 0
    var poll: Task<Void, Never>?
  }

  /// The most bytes of a message that servers take unless they are told otherwise.
  static let usualMessage = 1 << 20
  /// What a message's headers may take of that.
  static let headerRoom = 1_024

  let options: JetStreamOptions
  let names: StreamNames
  let connection: NATSConnection
  let inside: Locked<Inside>
  let turnListeners = TurnListeners()

  private init(_ options: JetStreamOptions) {
    self.options = options
    names = StreamNames(options)
    connection = NATSConnection(options)
    inside = Locked(Inside(recordSubject: names.recordSubject))
    connection.listen { [weak self] event in self?.take(event) }
  }

  deinit { close() }

  /// Connects to the servers, and looks at the streams; makes them if told.
  ///
  /// A stream that is there must keep what it is given: in files, without limits of age, count or
  /// bytes that drop old messages, on as many servers as the options say, with one subject.
  ///
  /// - Returns: the log. Its connection is kept up until it is closed or let go.
  /// - Throws: `.unavailable` if no server could be reached in time, or the cluster has no leader,
  ///   `.refused` if there is no stream, if it would lose data, or if the options make no sense.
  ///   Nothing remains but streams that were made.
  public static func connect(
    _ options: JetStreamOptions
  ) async throws(SharedLogError) -> JetStreamLog {
    if let fault = options.fault { throw .refused(fault) }
    let log = JetStreamLog(options)
    let end = ContinuousClock.now + options.connectTimeout
    do {
      try await log.connection.open(retrying: options.startsOffline)
    } catch {
      throw error.ofReading
    }
    if options.startsOffline, !log.connection.state.isConnected { return log }
    while true {
      do throws(SharedLogError) {
        try await log.verifyStreams()
        return log
      } catch {
        guard case .unavailable = error else {
          log.close()
          throw error
        }
        if options.startsOffline { return log }
        // A cluster that has just been started has no leader yet.
        guard .now < end, (try? await Task.sleep(for: .milliseconds(100))) != nil else {
          log.close()
          throw error
        }
      }
    }
  }

  /// Closes the connection and ends all streams of growth. Calls under way fail, later ones throw
  /// `.unavailable`. May be called twice.
  public func close() {
    connection.close()
    turnListeners.finish()
    let (listeners, poll) = inside.withLock { inside in
      defer {
        inside.listeners = [:]
        inside.poll = nil
      }
      return (inside.listeners, inside.poll)
    }
    poll?.cancel()
    for listener in listeners.values { listener.continuation.finish() }
  }

  /// The most bytes of one record: what the server and the stream take, less the headers.
  public var longestRecord: Int { inside.withLock { $0.longestRecord } }

  /// The most bytes of one piece of an object.
  public var longestPiece: Int { inside.withLock { $0.longestPiece } }

  // MARK: The streams

  /// What every call begins with: there is a connection, and its streams are as they should be.
  /// Returns the connection's generation.
  func ready() async throws(SharedLogError) -> UInt64 {
    let generation = connection.state.generation
    if inside.withLock({ $0.verified }) != generation || generation == 0 {
      try await verifyStreams()
    }
    return generation
  }

  /// Looks at both streams. Makes them only before they were seen: one that vanished later is not
  /// replaced by an empty one.
  private func verifyStreams() async throws(SharedLogError) {
    let generation = connection.state.generation
    let makes = options.opening == .creating && inside.withLock { $0.verified } == 0
    let records = try await settings(
      of: names.records, makes ? names.recordStream(replicas: options.replicas) : nil, nil)
    let objects = try await settings(
      of: names.objects, makes ? names.objectStream(replicas: options.replicas) : nil, 1)
    guard records.subjects.count == 1, let subject = records.subjects.first,
      !subject.contains(where: { $0 == "*" || $0 == ">" })
    else {
      let subjects = records.subjects.joined(separator: ", ")
      throw .refused(
        "the stream \(names.records) takes messages of \(subjects): it must have one subject, "
          + "without wildcards")
    }
    let message = await connection.greatestMessage() ?? JetStreamLog.usualMessage
    if let notices = records.notices { await connection.subscribe(to: notices) }
    inside.withLock { inside in
      inside.verified = generation
      inside.recordSubject = subject
      inside.noticeSubject = records.notices
      inside.longestRecord =
        min(message, records.longestMessage ?? message) - JetStreamLog.headerRoom
      inside.longestPiece =
        min(message, objects.longestMessage ?? message) - JetStreamLog.headerRoom
    }
  }

  /// The settings of a stream; makes it from `new` if there is none.
  private func settings(
    of name: String, _ new: String?, _ perSubject: Int64?
  ) async throws(SharedLogError) -> StreamSettings {
    var answer = try await ask("STREAM.INFO.\(name)")
    if answer.error?.number == ServerError.noStream {
      guard let new else {
        let text = "the servers have no stream \(name)"
        // Where it was before, it may be again: servers come back, backups are restored.
        if inside.withLock({ $0.verified }) > 0 { throw .unavailable(text) }
        throw .refused(text)
      }
      answer = try await ask("STREAM.CREATE.\(name)", new)
      if answer.error?.number == ServerError.nameInUse {
        answer = try await ask("STREAM.INFO.\(name)")
      }
    }
    if let error = answer.error { throw error.asLogError }
    return try StreamSettings(
      answer.json, name: name, replicas: options.replicas, perSubject: perSubject)
  }

  /// Asks the interface of JetStream for something that may be asked twice.
  func ask(_ subject: String, _ json: String = "") async throws(SharedLogError) -> ServerAnswer {
    do {
      return try await request("\(names.api).\(subject)", Array(json.utf8))
    } catch {
      throw error.ofReading
    }
  }

  /// Sends a request to a server of JetStream, and waits for its answer.
  func request(
    _ subject: String, _ bytes: [UInt8], headers: [(key: String, value: String)] = []
  ) async throws(NATSFailure) -> ServerAnswer {
    let message: NATSMessage
    do {
      message = try await connection.ask(subject, bytes, headers: headers)
    } catch {
      noteFailure(error)
      throw error
    }
    return try answer(message, for: subject)
  }

  /// Notes a request that was not answered.
  func noteFailure(_ failure: NATSFailure) {
    if failure != .tooLong { connection.wasAnswered(usefully: false) }
  }

  /// Reads an answer, and notes whether it was of use.
  func answer(_ message: NATSMessage, for subject: String) throws(NATSFailure) -> ServerAnswer {
    guard let answer = ServerAnswer(message) else {
      throw .noAnswer("the server's answer for \(subject) cannot be read")
    }
    if let error = answer.error, error.code == 503 {
      connection.wasAnswered(usefully: false)
    } else if !subject.contains(".STREAM.INFO.") {
      // A leader that is cut off from the others says for a long time yet where its stream ends.
      connection.wasAnswered(usefully: true)
    }
    return answer
  }
}

#endif
