/// The writers that a group's end released, and that are expected in the next group.
struct ReturningWriters {
  /// How many commits the next group has when all are back; 0 if none is expected.
  private(set) var expected = 0
  /// Until when they are waited for.
  private(set) var deadline: ContinuousClock.Instant?
  /// How many groups will not wait, and how many did not the last time.
  private var groupsLeft = 0
  private var groupsSkipped = 0

  private static let longestWait = Duration.milliseconds(1)
  private static let mostSkipped = 64

  /// Starts to expect the released writers, in addition to those that have joined meanwhile.
  /// `start` is when the sync began; nil if it was for a single commit, whose writer nobody waits
  /// for.
  mutating func begin(released: Int, joined: Int, since start: ContinuousClock.Instant?) {
    guard released + joined > 1 else { return }
    if groupsLeft > 0 {
      groupsLeft -= 1
      return
    }
    let now = ContinuousClock.now
    let length = start.map { $0.duration(to: now) } ?? ReturningWriters.longestWait
    expected = released + joined
    deadline = now.advanced(by: min(length, ReturningWriters.longestWait))
  }

  /// Whether the last expected writer has come; it becomes the leader.
  mutating func isComplete(_ count: Int) -> Bool {
    guard expected > 0, count >= expected else { return false }
    groupsSkipped = 0
    forget()
    return true
  }

  /// Ends the wait when the group closes. If the writers did not come, the next groups do not wait:
  /// twice as many each time.
  mutating func end(with count: Int) {
    guard expected > 0 else { return }
    if count < expected - expected / 4 {
      groupsSkipped = min(max(1, groupsSkipped * 2), ReturningWriters.mostSkipped)
      groupsLeft = groupsSkipped
    }
    forget()
  }

  /// Expects nobody any more, for now.
  mutating func forget() {
    expected = 0
    deadline = nil
  }
}
