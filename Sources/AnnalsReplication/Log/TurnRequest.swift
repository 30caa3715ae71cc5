/// What a replica tells the others of a log that were first with their records each time: to leave
/// the log to it for a moment.
///
/// Nothing rests on it but who is next.
public struct TurnRequest: Hashable, Sendable {
  /// Who asks; the same for all requests of one opened replica, and of no other.
  public var asker: UInt64
  /// For how long, from when the request is heard.
  public var length: Duration

  /// Creates a request from its parts.
  public init(asker: UInt64, length: Duration) {
    self.asker = asker
    self.length = length
  }

  /// The longest time that anybody is left the log to.
  static let longest = Duration.seconds(1)
}

extension SharedLog {
  /// Does nothing: a log without a way to tell others.
  public func ask(for turn: TurnRequest) {}

  /// None, ended at once.
  public func turnRequests() -> AsyncStream<TurnRequest> { AsyncStream { $0.finish() } }
}

extension TurnRequest: LosslessStringConvertible {
  /// `6f2a91c04be7d355 40`: who asks, and for how many milliseconds.
  public var description: String {
    "\(String(asker, radix: 16)) \(Int64((length / .milliseconds(1)).rounded(.up)))"
  }

  /// Reads the form of `description`; nil for anything else.
  public init?(_ description: String) {
    let words = description.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, let asker = UInt64(words[0], radix: 16), let count = UInt32(words[1])
    else { return nil }
    self.init(asker: asker, length: .milliseconds(Int64(count)))
  }
}
