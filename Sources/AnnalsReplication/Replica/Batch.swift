import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel

/// Writes that were run one on the other, to be given to the log together.
struct Batch: Sendable {
  /// A write, and what its closure came to on the state with the transactions before it.
  struct Item: Sendable {
    let submission: Submission
    let outcome: Outcome

    /// The transaction; nil for a write that comes to nothing.
    var made: Made? {
      if case .transaction(let made) = outcome { made } else { nil }
    }
  }

  /// What a closure came to.
  enum Outcome: Sendable {
    case transaction(Made)
    case nothing
    case failure(any Error)
  }

  /// A transaction in the forms that it is needed in.
  struct Made: Sendable {
    let proposed: ProposedTransaction
    let transaction: PortableTransaction
    let record: SharedRecord

    /// What its write comes to.
    var ending: Submission.Ending { .committed(proposed.result(at: transaction.token)) }
  }

  /// The most writes in one.
  static let mostWrites = 256
  /// The most bytes of their records, but for the last one.
  static let mostBytes = 1 << 20

  /// What was run, in order.
  private(set) var items: [Item] = []
  /// What was not, since the batch was full, or it has to go alone.
  private(set) var rest: [Submission] = []
  /// The place that the first transaction follows on.
  let place: ReplicaPlace

  /// Runs writes, for the holder of the writer's turn: each on the state with the transactions of
  /// those before it. One that throws, or comes to nothing, is as if it were not among them.
  ///
  /// `known` is how far the file had come, as far as the replica has seen.
  init(
    _ submissions: [Submission], on writer: StoreWriter, after known: ReplicaPlace,
    longestRecord: Int
  ) throws {
    let version = writer.newest
    place = try version.newestPlace(knowing: known)
    var state = try PendingState(on: version)
    var digest = place.digest
    var bytes = 0
    for (index, submission) in submissions.enumerated() {
      if submission.isCancelled {
        submission.end(.failure(AnnalsError.cancelledWrite))
        continue
      }
      var after: PendingState?
      do {
        switch try submission.run(writer, state) {
        case .nothing:
          items.append(Item(submission: submission, outcome: .nothing))
          continue
        case .alone:
          leave(submissions[index...])
          return
        case .transaction(let proposed, let next):
          let transaction = try PortableTransaction(proposed, after: digest)
          let record = SharedRecord(
            id: transaction.digest.description, bytes: RecordForm.whole(transaction.bytes).bytes)
          guard record.bytes.count <= longestRecord else {
            leave(submissions[index...])
            return
          }
          let made = Made(proposed: proposed, transaction: transaction, record: record)
          items.append(Item(submission: submission, outcome: .transaction(made)))
          after = next
          digest = transaction.digest
          bytes += record.bytes.count
        }
      } catch {
        items.append(Item(submission: submission, outcome: .failure(error)))
        continue
      }
      guard let after, bytes < Batch.mostBytes else {
        rest = Array(submissions[(index + 1)...])
        return
      }
      state = after
    }
  }

  /// Ends the batch before writes of which the first one has to go alone.
  private mutating func leave(_ others: ArraySlice<Submission>) {
    others.first?.goesAlone = true
    rest = Array(others)
  }
}

/// How many batches of several transactions were made; for tests.
package struct BatchCounts: Sendable {
  /// The batches.
  package var batches = 0
  /// The transactions in them.
  package var transactions = 0

  mutating func note(_ batch: Batch) {
    let count = batch.items.count { $0.made != nil }
    if count < 2 { return }
    batches += 1
    transactions += count
  }
}
