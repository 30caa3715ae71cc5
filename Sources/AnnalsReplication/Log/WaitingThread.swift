import AnnalsStorage

/// Runs a task, and blocks the calling thread until it has ended: for programs that have no tasks
/// of their own. Never on a thread of Swift's pool, which the task may need. Throws what it throws.
package func blockingThread<Value: Sendable>(
  _ body: @escaping @Sendable () async throws -> Value
) throws -> Value {
  let result = Monitor<Result<Value, any Error>?>(nil)
  Task {
    let found: Result<Value, any Error>
    do { found = .success(try await body()) } catch { found = .failure(error) }
    result.withLock { $0 = found }
  }
  return try result.wait { $0 }.get()
}
