import Annals
import AnnalsEngine
import AnnalsModel

/// How far a batch has come.
struct BatchCourse: Sendable {
  /// The writes that are not decided, in order.
  private(set) var rest: ArraySlice<Batch.Item>
  /// The place of the last transaction that the log has taken, or of the one before the batch.
  private(set) var place: ReplicaPlace
  /// Whether the log was asked.
  var wasAsked = false
  /// When it was last asked.
  var asked = ContinuousClock.now
  /// Whether the log may have what is left, or may yet get it: it stays the same.
  var isDoubtful = false
  private let store: Store

  /// A batch for a replica's store, before the log was asked.
  init(_ batch: Batch, for store: Store) {
    self.store = store
    rest = batch.items[...]
    place = batch.place
  }

  /// Whether no transaction is left.
  var isDone: Bool { rest.allSatisfy { $0.made == nil } }

  /// The writes that are left.
  var submissions: [Submission] { rest.map(\.submission) }

  /// The write whose transaction is the next one.
  var first: Submission? { rest.first { $0.made != nil }?.submission }

  /// The transactions that are left.
  var transactions: [PortableTransaction] { rest.compactMap(\.made?.transaction) }

  /// Their records.
  var records: [SharedRecord] { rest.compactMap(\.made?.record) }

  /// The next transactions, with the sequences that they get.
  func arrivals(_ count: Int) -> [LogReading.Arrival] {
    transactions.prefix(count).enumerated().map { offset, transaction in
      LogReading.Arrival(place.sequence + 1 + UInt64(offset), transaction)
    }
  }

  /// Ends the next writes up to so many transactions, which the log has, with what `result` says of
  /// each; and those behind these that came to nothing.
  mutating func take(
    _ count: Int, _ result: (Batch.Made) -> Result<Submission.Ending, any Error>
  ) {
    var left = count
    while let item = rest.first {
      if let made = item.made {
        if left == 0 { return }
        left -= 1
        place = ReplicaPlace(
          number: made.transaction.number, sequence: place.sequence + 1,
          digest: made.transaction.digest)
        item.submission.end(result(made))
      } else {
        endFirst()
      }
      rest.removeFirst()
    }
  }

  /// Ends the first writes that came to nothing on a state without others of the batch.
  mutating func decide(where condition: (Submission) -> Bool = { _ in true }) {
    while let item = rest.first, item.made == nil, condition(item.submission) {
      endFirst()
      rest.removeFirst()
    }
  }

  private func endFirst() {
    guard let item = rest.first else { return }
    switch item.outcome {
    case .failure(let error): item.submission.end(.failure(error))
    case .nothing: item.submission.end(.success(.nothing(store.token)))
    case .transaction: break
    }
  }

  /// The pauses of the first write whose deadline has not passed.
  var patience: Retries? { patient?.patience }

  private var patient: Submission? {
    rest.first { !$0.submission.isEnded && !$0.submission.isOver }?.submission
  }

  /// Pauses as long as that write says.
  func pause() async {
    guard let patient, var patience = patient.patience else { return }
    _ = await patience.wait()
    patient.patience = patience
  }
}
