#if JetStream

import AnnalsStorage

/// A consumer on the servers that delivers messages of a stream in their order.
struct Reader: Sendable {
  let stream: String
  let filter: String?
  let consumer: String
  /// The connection on which it was made.
  let generation: UInt64
  /// The number of the message that comes next, as its reader counts them.
  var next: UInt64
}

/// Messages that somebody wants of a stream, one after the other.
struct ReaderPage: Sendable {
  var stream: String
  /// The subjects whose messages are wanted; nil for all.
  var filter: String?
  /// The number of the first, as the reader counts them.
  var first: UInt64
  var count: Int
  /// Whether to wait for messages that the consumer's server has not yet.
  var waits: Bool
  /// The most bytes of all together.
  var bytes: Int?
}

extension JetStreamLog {
  /// How long to do without consumers after one has failed.
  private static let pauseOfReaders = Duration.seconds(10)

  /// The messages of a page, or some of them, or none if the consumer fails.
  ///
  /// Goes on with the consumer of the page before it, if there is one. `start` is the sequence of
  /// the first message, nil if there is none; `next` tells from messages that all came what number
  /// comes after them, nil if the consumer is of no use for another page.
  func pull(
    _ page: ReaderPage, _ generation: UInt64, start: @Sendable () async -> UInt64?,
    next: @Sendable ([NATSMessage]) -> UInt64?
  ) async -> [NATSMessage] {
    guard inside.withLock({ $0.readersFrom }) < .now else { return [] }
    for _ in 0..<2 {
      let known = inside.withLock { $0.readers.removeValue(forKey: page.stream) }
      var reader = known
      if known?.next != page.first || known?.generation != generation
        || known?.filter != page.filter
      {
        if let known { delete(known) }
        guard let sequence = await start() else { return [] }
        reader = await makeReader(page, generation, sequence)
      }
      guard var reader else { break }
      let (messages, end) = await connection.askMany(
        "\(names.api).CONSUMER.MSG.NEXT.\(reader.stream).\(reader.consumer)", request(for: page),
        count: page.count
      ) { $0.status != nil }
      // After a status or a failure it is not known what the consumer still delivers.
      if end == nil, let number = next(messages) {
        reader.next = number
        keep(reader)
      } else {
        delete(reader)
      }
      if !messages.isEmpty { return messages }
      if case .success = end, !page.waits { return [] }
      // A consumer that waited too long for its next page is gone: make another one.
      if known == nil { break }
    }
    inside.withLock { $0.readersFrom = .now + JetStreamLog.pauseOfReaders }
    return []
  }

  private func request(for page: ReaderPage) -> [UInt8] {
    let bytes = page.bytes.map { ",\"max_bytes\":\($0)" } ?? ""
    let patience =
      page.waits ? "\"expires\":\(options.requestTimeout.nanoseconds)" : "\"no_wait\":true"
    return Array("{\"batch\":\(page.count)\(bytes),\(patience)}".utf8)
  }

  /// Keeps a consumer for the next page, in place of another one.
  private func keep(_ reader: Reader) {
    let old = inside.withLock { $0.readers.updateValue(reader, forKey: reader.stream) }
    if let old { delete(old) }
  }

  private func delete(_ reader: Reader) {
    connection.tell("\(names.api).CONSUMER.DELETE.\(reader.stream).\(reader.consumer)")
  }

  /// Makes a consumer that the servers forget when it is not used for a while.
  private func makeReader(
    _ page: ReaderPage, _ generation: UInt64, _ sequence: UInt64
  ) async -> Reader? {
    let filter = page.filter.map { "\"filter_subject\":\"\($0)\"," } ?? ""
    let json = """
      {"stream_name":"\(page.stream)","config":{"deliver_policy":"by_start_sequence",\
      "opt_start_seq":\(sequence),\(filter)"ack_policy":"none","replay_policy":"instant",\
      "inactive_threshold":30000000000,"num_replicas":1,"mem_storage":true}}
      """
    guard let answer = try? await ask("CONSUMER.CREATE.\(page.stream)", json),
      answer.error == nil, let name = answer.json["name"]?.text
    else { return nil }
    return Reader(
      stream: page.stream, filter: page.filter, consumer: name, generation: generation,
      next: page.first)
  }
}

#endif
