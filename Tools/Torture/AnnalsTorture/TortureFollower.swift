import Annals
import AnnalsModel
import AnnalsStorage
import Foundation

/// Follows a store like a program with a user interface: with a live view of all notes and a stream
/// of transactions, both open all the time. Checks that nothing is missing or torn.
final class TortureFollower: Sendable {
  private struct Progress {
    /// The last transaction that each has received.
    var stream: Int64 = 0
    var view: Int64 = 0
    var failure: String?
  }

  private let progress = Monitor(Progress())
  private let tasks: [Task<Void, Never>]

  /// How long a committed transaction may take to arrive on a busy machine.
  private static let patience = Duration.seconds(300)

  /// Begins to follow a store.
  init(_ store: Store) {
    let progress = progress
    let report = { @Sendable (error: any Error) in
      if !Task.isCancelled { progress.withLock { $0.failure = $0.failure ?? "\(error)" } }
    }
    tasks = [
      Task.detached {
        do {
          try await TortureFollower.readStream(store) { number in
            progress.withLock { $0.stream = number }
          }
        } catch {
          report(error)
        }
      },
      Task.detached {
        do {
          try await TortureFollower.readView(store) { number in
            progress.withLock { $0.view = number }
          }
        } catch {
          report(error)
        }
      },
    ]
  }

  deinit { for task in tasks { task.cancel() } }

  /// Waits until both have received a transaction.
  ///
  /// - Throws: `BrokenPromise` for an error that they found, or if the transaction does not arrive.
  func wait(for number: Int64) throws {
    let end = ContinuousClock.now.advanced(by: TortureFollower.patience)
    let found = progress.wait(until: end) { progress -> Progress? in
      let isThere = progress.stream >= number && progress.view >= number
      return isThere || progress.failure != nil ? progress : nil
    }
    if let failure = found?.failure { throw BrokenPromise("following: \(failure)") }
    if found == nil {
      let last = progress.withLock { $0 }
      throw BrokenPromise(
        "transaction \(number) did not arrive: the stream is at \(last.stream), the view at "
          + "\(last.view)")
    }
  }

  /// Reads the stream. No transaction may be left out, except pruned ones.
  private static func readStream(_ store: Store, _ note: (Int64) -> Void) async throws {
    var last = store.base.number
    while !Task.isCancelled {
      do {
        for try await transaction in try store.changes(after: last) {
          guard transaction.number == last + 1 else {
            throw BrokenPromise("transaction \(transaction.number) came after \(last)")
          }
          last = transaction.number
          note(last)
        }
        return
      } catch let error as AnnalsError where error.code == .pruned {
        last = store.base.number
      }
    }
  }

  /// Reads the view. In every update the tally must be the number of the other notes, and the
  /// difference must lead from the previous rows to the present ones.
  private static func readView(_ store: Store, _ note: (Int64) -> Void) async throws {
    var count = 0
    for try await update in store.live("Note") {
      let number = update.token.number
      let rows = update.rows
      guard rows.count == count + update.diff.inserts.count - update.diff.deletes.count else {
        throw BrokenPromise("the difference at \(number) does not lead to \(rows.count) rows")
      }
      count = rows.count
      let tally = try rows.snapshot.object(
        of: "Note", where: "id", is: .string(TortureChild.tallyKey))
      guard count == 0 || tally?["count"] == .int(Int64(count - 1)) else {
        throw BrokenPromise(
          "the view at \(number) has \(count) rows; counted \(tally?["count"] ?? .null)")
      }
      note(number)
    }
  }
}
