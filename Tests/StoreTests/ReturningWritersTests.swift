import Testing

@testable import AnnalsEngine

/// Whether a group waits for the writers that the one before has released.
@Suite struct ReturningWritersTests {
  /// Starts and ends groups of two, to which this many come, until one waits again; returns how
  /// many did not wait.
  private func skipped(_ writers: inout ReturningWriters) -> Int {
    for count in 0..<1_000 {
      writers.begin(released: 2, joined: 0, since: nil)
      if writers.expected > 0 { return count }
    }
    return 1_000
  }

  @Test func whoDoesNotComeIsWaitedForHalfAsOften() {
    var writers = ReturningWriters()
    var pauses: [Int] = []
    for _ in 0..<9 {
      pauses.append(skipped(&writers))
      writers.end(with: 1)
    }
    #expect(pauses == [0, 1, 2, 4, 8, 16, 32, 64, 64])
    #expect(writers.deadline == nil && writers.expected == 0)
  }

  @Test func whoComesIsWaitedForAsBefore() {
    var writers = ReturningWriters()
    for _ in 0..<3 {
      #expect(skipped(&writers) < 4)
      writers.end(with: 1)
    }
    #expect(skipped(&writers) == 4)
    #expect(!writers.isComplete(1) && writers.isComplete(2))
    #expect(skipped(&writers) == 0)
    writers.end(with: 1)
    #expect(skipped(&writers) == 1)
  }

  @Test func nobodyWaitsForOneAlone() {
    var writers = ReturningWriters()
    writers.begin(released: 1, joined: 0, since: .now)
    #expect(writers.expected == 0 && writers.deadline == nil)
    writers.begin(released: 1, joined: 1, since: .now)
    #expect(writers.expected == 2 && writers.deadline != nil)
  }
}
