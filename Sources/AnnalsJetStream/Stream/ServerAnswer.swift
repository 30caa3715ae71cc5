#if JetStream

import AnnalsReplication

/// The answer of a server of JetStream: JSON, or an error in it.
struct ServerAnswer: Sendable {
  let json: JSON
  let error: ServerError?

  /// Reads an answer; nil if it is none.
  init?(_ message: NATSMessage) {
    guard let json = JSON(message.bytes) else { return nil }
    self.json = json
    error = json["error"].map { error in
      ServerError(
        code: error["code"]?.number() ?? 500, number: error["err_code"]?.number() ?? 0,
        text: error["description"]?.text ?? "an error without a description")
    }
  }
}

/// An error that a server names.
struct ServerError: Error, Hashable, Sendable {
  /// As in HTTP: from 500 on it may be other than this later.
  var code: Int
  /// The number of the error.
  var number: Int
  /// The server's words.
  var text: String

  /// The number that ends the server's words; nil if none does.
  var lastNumber: UInt64? {
    text.split(separator: " ").last.flatMap { UInt64($0) }
  }

  static let messageTooLong = 10_054
  static let noMessage = 10_037
  static let noConsumer = 10_014
  static let noStream = 10_059
  static let nameInUse = 10_058
  /// A cluster that has just been started, or lacks servers, has not enough for a stream yet.
  static let noPeers = 10_005
  static let notStored = 10_077
  static let wrongLastIdentifier = 10_070
  static let wrongLastSequence = 10_071

  /// What it means to a caller for whom it is nothing special.
  var asLogError: SharedLogError {
    let isPassing = code >= 500 || number == ServerError.noPeers
    return isPassing
      ? .unavailable("the server says: \(text)") : .refused("the server says: \(text)")
  }
}

extension NATSFailure {
  /// The error of a call that only reads.
  var ofReading: SharedLogError {
    switch self {
    case .notSent(let text), .noAnswer(let text): .unavailable(text)
    case .denied(let text): .refused(text)
    case .tooLong: .refused("the request is longer than the server takes")
    }
  }

  /// The error of a call that changes something.
  func ofWriting(_ limit: Int) -> SharedLogError {
    switch self {
    case .notSent(let text): .unavailable(text)
    case .denied(let text): .refused(text)
    case .noAnswer(let text): .unknownOutcome(text)
    case .tooLong: .tooLong(limit: limit)
    }
  }
}

#endif
