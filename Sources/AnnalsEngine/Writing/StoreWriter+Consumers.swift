import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Synchronization

// Consumers: registering them is written and synced at once, what they have seen with the next
// commit, or alone at most once a second and at the close.

extension StoreWriter {
  /// Writes what `body` makes of the consumers, which are those of all processes then, and syncs
  /// it. Throws what `body` throws: then nothing was written; and as a commit does.
  package func changeConsumers(
    _ body: (StoreWriter) throws -> [ConsumerChange]
  ) throws {
    try writeAlone { writer in
      try writer.append(try body(writer))
      _ = try writer.sync()
    }
  }

  /// Writes how much history is kept from now on, and syncs it. Throws as a commit does.
  package func keep(_ retention: RetentionPolicy) throws(AnnalsError) {
    try AnnalsError.narrowing {
      try writeAlone { writer in
        if writer.log.retention != retention {
          do throws(LogError) {
            try writer.log.append(retention)
          } catch {
            throw AnnalsError(error)
          }
          writer.adopt(writer.newest.state)
        }
        _ = try writer.sync()
      }
    }
  }

  /// Notes what a consumer has seen. Throws `.readOnly`, `.closed` or `.poisoned` if it can never
  /// be written; what keeps it from being written now is left for the next call to meet.
  package func note(_ advance: ConsumerAdvance) throws(AnnalsError) {
    let isDue: Bool
    do throws(LogError) {
      isDue = try log.note(advance)
    } catch {
      throw AnnalsError(error, opening: log.path)
    }
    // Within the closure of a write it goes with that.
    guard isDue, writingThread.load(ordering: .relaxed) != CurrentThread.number else { return }
    notingFailure(waiting: LockWait.none) { try $0.appendAdvances() }
  }

  /// Appends what waits to be written of consumers, for the only writer.
  package func appendAdvances() throws(AnnalsError) { try append([]) }

  private func append(_ changes: [ConsumerChange]) throws(AnnalsError) {
    let isAppended: Bool
    do throws(LogError) {
      isAppended = try log.append(consumers: changes)
    } catch {
      throw AnnalsError(error)
    }
    if isAppended { adopt(newest.state) }
  }
}
