import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Synchronization

// Consumers. Registrations are written and synced at once. Advances go with the next commit, or
// alone: at most once a second, and at the close.

extension StoreWriter {
  /// Writes the consumer changes that `body` returns, and syncs them. `body` sees the consumers of
  /// all processes. Throws what `body` throws, with nothing written; and as a commit does.
  package func changeConsumers(
    _ body: (StoreWriter) throws -> [ConsumerChange]
  ) throws {
    try writeAlone { writer in
      try writer.append(try body(writer))
      _ = try writer.sync()
    }
  }

  /// Writes the retention policy, and syncs it. Throws as a commit does.
  package func setRetention(_ retention: RetentionPolicy) throws(AnnalsError) {
    try AnnalsError.translating {
      try writeAlone { writer in
        if writer.log.retention != retention {
          try writer.log.append(.retention(retention))
          writer.adopt(writer.newest.state)
        }
        _ = try writer.sync()
      }
    }
  }

  /// Notes that a consumer has advanced. Throws `.readOnly`, `.closed` or `.poisoned` if that can
  /// never be written; the next call will meet any other error.
  package func note(_ advance: ConsumerAdvance) throws(AnnalsError) {
    try requireOwner()
    let isDue: Bool
    do throws(LogError) {
      isDue = try log.note(advance)
    } catch {
      throw AnnalsError(error, opening: log.path)
    }
    // Inside the closure of a write, the advance goes with that commit.
    guard isDue, !writingThread.isThread(CurrentThread.number) else { return }
    ignoringFailure(waiting: LockWait.none) { try $0.appendAdvances() }
  }

  /// Appends the pending advances. For the only writer.
  package func appendAdvances() throws(AnnalsError) { try append([]) }

  private func append(_ changes: [ConsumerChange]) throws(AnnalsError) {
    let isAppended = try AnnalsError.translating { try log.append(consumers: changes) }
    if isAppended { adopt(newest.state) }
  }
}
