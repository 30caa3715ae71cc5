#if JetStream

/// A message as its stream has it.
struct StoredMessage: Sendable {
  var sequence: UInt64
  /// The identifier that its publisher gave it.
  var id: String?
  var bytes: [UInt8]

  /// Reads the message in a server's answer; nil if it has none.
  init?(_ message: JSON) {
    guard let sequence = message["seq"]?.number(as: UInt64.self) else { return nil }
    self.sequence = sequence
    let headers = message["hdrs"]?.decodedBytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
    let key = "Nats-Msg-Id: "
    let found = headers.split(separator: "\r\n").first { $0.hasPrefix(key) }
    id = found.map { String($0.dropFirst(key.utf8.count)) }
    bytes = message["data"]?.decodedBytes ?? []
  }
}

#endif
