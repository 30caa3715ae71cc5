import Foundation
import Testing

/// Fails a test that does not end in time: records an issue and cancels the test's task. That ends
/// waits for tasks, and those for threads that `until` makes. If the test does not end even then,
/// the process exits.
package struct Deadline: SuiteTrait, TestTrait, TestScoping {
  let seconds: Int

  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withDeadline(seconds: seconds, function)
  }
}

extension Trait where Self == Deadline {
  /// The deadline of tests that wait for other threads, tasks or processes.
  package static var deadline: Self { Deadline(seconds: isSlow ? 1_800 : 180) }
}

/// Runs the body on threads of its own; so no wait in it keeps other tests from running. Records an
/// issue if it does not end in so many seconds, and cancels it.
///
/// A second counts when the concurrency pool has had a turn, too: a crowded machine gets more time.
/// `grace` is how many more seconds the body has, once it is cancelled, before the process exits.
/// - Throws: what the body throws.
package func withDeadline(
  seconds: Int, grace: Int = 30, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: @Sendable () async throws -> Void
) async throws {
  try await withoutActuallyEscaping(body) { body in
    let work = Task(executorPreference: ThreadPerJob()) { try await body() }
    let clock = Task {
      try await elapse(seconds: seconds)
      Issue.record("the test did not end in \(seconds) s", sourceLocation: sourceLocation)
      work.cancel()
      try await elapse(seconds: grace)
      FileHandle.standardError.write(Data("A test cannot be ended: the process exits.\n".utf8))
      exit(EXIT_FAILURE)
    }
    defer { clock.cancel() }
    try await withTaskCancellationHandler {
      try await work.value
    } onCancel: {
      work.cancel()
    }
  }
}

/// Returns when the condition holds, which other threads bring about, or when the deadline of the
/// test has cancelled it.
package func until(_ condition: () -> Bool) {
  while !condition(), !Task.isCancelled { Thread.sleep(forTimeInterval: 0.000_05) }
}

extension DispatchSemaphore {
  /// `wait()` that ends when the deadline of the test has cancelled it, too.
  package func waitUnlessCancelled() {
    until { wait(timeout: .now() + .milliseconds(100)) == .success }
  }
}

extension DispatchGroup {
  /// `wait()` that ends when the deadline of the test has cancelled it, too.
  package func waitUnlessCancelled() {
    until { wait(timeout: .now() + .milliseconds(100)) == .success }
  }
}

private func elapse(seconds: Int) async throws {
  for _ in 0..<seconds { try await Task.sleep(for: .seconds(1)) }
}

/// Runs each job of a task on a new thread.
package final class ThreadPerJob: TaskExecutor {
  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
