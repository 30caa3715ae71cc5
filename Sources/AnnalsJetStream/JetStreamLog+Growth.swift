#if JetStream

import AnnalsReplication
import AnnalsStorage

extension JetStreamLog {
  /// Somebody who is told of new records.
  struct Listener: Sendable {
    /// The newest sequence that it knows.
    var known: UInt64
    let continuation: AsyncStream<UInt64>.Continuation
  }

  /// Tells of new records; see `SharedLog`.
  ///
  /// The stream announces each record that it took, by its headers alone, on a subject of its own;
  /// that costs the servers nothing per listener that they would have to remember. Announcements
  /// may be lost: the log's end is also looked at on each new connection, and every
  /// `JetStreamOptions.pollInterval`. A stream that was made without announcements is looked at
  /// every second.
  public func growth(after sequence: UInt64) -> AsyncStream<UInt64> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: UInt64.self, bufferingPolicy: .bufferingNewest(1))
    let number = inside.withLock { inside in
      defer { inside.nextListener += 1 }
      inside.listeners[inside.nextListener] = Listener(known: sequence, continuation: continuation)
      return inside.nextListener
    }
    continuation.onTermination = { [weak self] _ in
      self?.inside.withLock { inside in
        inside.listeners[number] = nil
        if inside.listeners.isEmpty {
          inside.poll?.cancel()
          inside.poll = nil
        }
      }
    }
    startPolling()
    return stream
  }

  /// Asks for a turn on the subject of the stream's announcements; see `SharedLog`. A log that was
  /// made without them has none.
  public func ask(for turn: TurnRequest) {
    guard let subject = inside.withLock({ $0.noticeSubject }) else { return }
    connection.tell(subject, headers: [(NATSMessage.turnKey, "\(turn)")])
  }

  /// What is asked for; see `SharedLog`.
  public func turnRequests() -> AsyncStream<TurnRequest> { turnListeners.add() }

  /// Takes what happened to the connection.
  func take(_ event: NATSConnection.Event) {
    switch event {
    case .notice(let message):
      if let sequence = message.sequence { announce(sequence, isCertain: false) }
      if let request = message.turn.flatMap({ TurnRequest($0) }) { turnListeners.tell(request) }
    case .connected:
      Task { [weak self] in await self?.look() }
    }
  }

  /// Tells those who know of less. If the sequence is certainly the log's last one, also those who
  /// know of more: the log has lost its tail.
  private func announce(_ sequence: UInt64, isCertain: Bool) {
    inside.withLock { inside in
      for (number, listener) in inside.listeners {
        guard sequence > listener.known || isCertain && sequence < listener.known else { continue }
        inside.listeners[number]?.known = sequence
        listener.continuation.yield(sequence)
      }
    }
  }

  /// Asks for the log's end, if anybody wants to know.
  private func look() async {
    guard inside.withLock({ !$0.listeners.isEmpty }) else { return }
    guard (try? await ready()) != nil, let ends = try? await ends() else { return }
    announce(ends.last, isCertain: true)
  }

  private func startPolling() {
    let interval = options.pollInterval
    inside.withLock { inside in
      inside.poll?.cancel()
      inside.poll = Task { [weak self] in
        while !Task.isCancelled {
          await self?.look()
          guard let hasNotices = self?.inside.withLock({ $0.noticeSubject != nil }) else { return }
          let pause = hasNotices ? interval : min(interval, .seconds(1))
          guard (try? await Task.sleep(for: pause)) != nil else { return }
        }
      }
    }
  }
}

#endif
