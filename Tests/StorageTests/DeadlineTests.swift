import AnnalsTestSupport
import Foundation
import Testing

/// A wait that never ends fails its test, and no other.
@Suite struct DeadlineTests {
  @Test func whatEndsInTimeIsAsWithoutOne() async throws {
    try await withDeadline(seconds: 3_600) { try await Task.sleep(for: .milliseconds(1)) }
    await #expect(throws: TestFailure.self) {
      try await withDeadline(seconds: 3_600) { throw TestFailure("at once") }
    }
    for _ in 0..<200 { try await withDeadline(seconds: 3_600) { await Task.yield() } }
  }

  @Test func aTaskThatWaitsIsCancelled() async throws {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    try await expectLate { for await number in stream { Issue.record("\(number)") } }
    continuation.finish()
  }

  @Test func aThreadThatWaitsGoesOn() async throws {
    try await expectLate { DispatchSemaphore(value: 0).waitUnlessCancelled() }
    try await expectLate {
      let group = DispatchGroup()
      group.enter()
      group.waitUnlessCancelled()
      group.leave()
    }
    try await expectLate { until { false } }
  }

  /// More of them than the concurrency pool has threads.
  @Test func manyWaitAtOnce() async throws {
    try await withThrowingTaskGroup { group in
      for _ in 0..<8 {
        group.addTask { try await expectLate { DispatchSemaphore(value: 0).waitUnlessCancelled() } }
      }
      try await group.waitForAll()
    }
  }

  @Test func aThreadThatCannotBeCancelledEndsTheProcess() async {
    await #expect(processExitsWith: .failure) {
      try await expectLate(grace: 1) { DispatchSemaphore(value: 0).wait() }
    }
  }
}

/// Records an issue unless the body passes its deadline, and ends then. On a crowded machine the
/// end of its wait may take long.
private func expectLate(
  grace: Int = 300, _ body: @escaping @Sendable () async throws -> Void
) async throws {
  try await withKnownIssue {
    try await withDeadline(seconds: 1, grace: grace) { try await body() }
  } matching: {
    "\($0)".contains("did not end in 1 s")
  }
}
