#if JetStream

import CNATS

/// A message that came, as far as anybody here asks.
struct NATSMessage: Sendable {
  /// What it says.
  var bytes: [UInt8]
  /// The identifier that its publisher gave it.
  var id: String?
  /// The sequence in the stream that delivers or announces it.
  var sequence: UInt64?
  /// The number that its subject ends with: that of a piece of an object.
  var index: Int?
  /// What a replica asks the others for, in the words of `TurnRequest`.
  var turn: String?
  /// The status, for messages that say how a request went: 404, 408, 409, 503.
  var status: Int?

  /// Nobody listens to the subject of the request.
  var isNoResponders: Bool { status == 503 && bytes.isEmpty }
}

extension NATSMessage {
  /// The header that asks for a turn.
  static let turnKey = "Annals-Turn"

  /// Copies a message of the C library.
  init(_ message: OpaquePointer) {
    let count = Int(natsMsg_GetDataLength(message))
    bytes = []
    if count > 0, let data = natsMsg_GetData(message) {
      bytes = Array(UnsafeRawBufferPointer(start: data, count: count))
    }
    id = NATSMessage.header("Nats-Msg-Id", of: message)
    if bytes.isEmpty {
      status = NATSMessage.header("Status", of: message).flatMap { Int($0) }
      sequence = NATSMessage.header("Nats-Sequence", of: message).flatMap { UInt64($0) }
      turn = NATSMessage.header(NATSMessage.turnKey, of: message)
    }
    index = natsMsg_GetSubject(message).flatMap { NATSMessage.index(inSubject: $0) }
    if sequence == nil, let reply = natsMsg_GetReply(message) {
      sequence = NATSMessage.sequence(inReply: reply)
    }
  }

  private static func header(_ key: String, of message: OpaquePointer) -> String? {
    var value: UnsafePointer<CChar>?
    guard natsMsgHeader_Get(message, key, &value) == NATS_OK, let value else { return nil }
    return String(cString: value)
  }

  /// The sequence in the reply subject of a message from a consumer: `$JS.ACK.`, stream, consumer,
  /// deliveries, *sequence*, and three more; or with domain and account before the stream.
  private static func sequence(inReply reply: UnsafePointer<CChar>) -> UInt64? {
    let text = UnsafeRawBufferPointer(start: reply, count: length(reply))
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count >= 9, parts[0].elementsEqual("$JS".utf8), parts[1].elementsEqual("ACK".utf8)
    else { return nil }
    return number(parts[parts.count >= 11 ? 7 : 5])
  }

  private static func index(inSubject subject: UnsafePointer<CChar>) -> Int? {
    let text = UnsafeRawBufferPointer(start: subject, count: length(subject))
    guard let dot = text.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    return number(text[(dot + 1)...]).flatMap { Int(exactly: $0) }
  }

  private static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> UInt64? {
    if digits.isEmpty { return nil }
    var number: UInt64 = 0
    for digit in digits {
      guard digit >= 48, digit < 58 else { return nil }
      number = number &* 10 &+ UInt64(digit - 48)
    }
    return number
  }
}

private func length(_ text: UnsafePointer<CChar>) -> Int {
  var count = 0
  while text[count] != 0 { count += 1 }
  return count
}

/// Why a request has no answer.
enum NATSFailure: Error, Hashable, Sendable {
  /// It did not leave this process, or nobody listens: what was asked is not done.
  case notSent(String)
  /// It may have arrived.
  case noAnswer(String)
  /// The server does not know who is connecting.
  case denied(String)
  /// It has more bytes than the server takes.
  case tooLong
}

#endif
