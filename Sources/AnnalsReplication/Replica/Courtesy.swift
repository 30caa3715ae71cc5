/// What a replica knows of who wants to be next, itself and others.
struct Courtesy: Sendable {
  /// How often others were faster since this replica was last first.
  private(set) var losses = 0
  /// Who this replica is, once it has asked.
  var asker: UInt64?
  /// The newest record that came from the log, and not from this replica.
  var heard: UInt64 = 0
  /// Until when another one is left the log to, unless a record has come after this one.
  private var asked: (end: ContinuousClock.Instant, heard: UInt64)?

  /// How often a replica is too slow before it asks for a turn.
  private static let patience = 2

  /// Whether it asks for turns itself; then it lets nobody in.
  var isAsking: Bool { losses >= Courtesy.patience }

  mutating func lose() { losses += 1 }

  mutating func win() { losses = 0 }

  /// Notes a request, unless it is this replica's own.
  mutating func note(_ request: TurnRequest, at now: ContinuousClock.Instant) {
    guard request.asker != asker else { return }
    asked = (now + min(max(request.length, .zero), TurnRequest.longest), heard)
  }

  /// Until when to let another one in; nil if nobody is to be let in.
  func end(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    guard !isAsking, let asked, asked.heard == heard, now < asked.end else { return nil }
    return asked.end
  }
}
