import Foundation
import Testing

/// Runs tests on threads of their own: they wait for the server, which needs the threads of Swift's
/// pool.
struct ApartTrait: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withoutActuallyEscaping(function) { function in
      try await Task(executorPreference: ThreadForEachJob()) { try await function() }.value
    }
  }
}

extension Trait where Self == ApartTrait {
  /// On threads of their own.
  static var apart: Self { ApartTrait() }
}

/// Runs each job on a new thread.
private final class ThreadForEachJob: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
