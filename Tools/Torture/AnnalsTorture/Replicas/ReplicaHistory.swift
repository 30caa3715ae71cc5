import Annals
import AnnalsStorage

/// What the writers and readers of replicas did, and what they were told: each write and read with
/// the moments at which it began and ended.
///
/// Each write inserts a mark with a name of its own and adds one to the total of marks.
package struct ReplicaHistory: Sendable {
  /// What a writer was told.
  package enum Outcome: Sendable, Equatable {
    /// The write is this transaction.
    case committed(Int64)
    /// Nothing was recorded.
    case refused
    /// Nobody knows.
    case unknown
  }

  /// A write, or a read of a whole state.
  package struct Event: Sendable {
    /// The replica.
    var replica: Int
    /// How often the replica was opened before.
    var opening: Int
    /// Moments, counted by all together.
    var began: Int
    var ended: Int
    var kind: Kind
  }

  /// What an event was.
  enum Kind: Sendable {
    case write(mark: String, Outcome)
    /// What was read: the number of the transaction, the count of marks, and the total.
    case read(number: Int64, marks: Int, total: Int)
  }

  /// The events, in no order.
  package private(set) var events: [Event] = []
  private var now = 0

  /// A history without events.
  package init() {}

  /// The next moment.
  mutating func moment() -> Int {
    now += 1
    return now
  }

  /// Notes an event that ends now.
  mutating func add(_ kind: Kind, by replica: Int, opening: Int, began: Int) {
    events.append(
      Event(replica: replica, opening: opening, began: began, ended: moment(), kind: kind))
  }

  /// How many writes were told to be committed.
  package var acknowledged: Int {
    events.count { if case .write(_, .committed) = $0.kind { true } else { false } }
  }

  /// How many transactions were proposed in batches, at least.
  package var batched = 0

  /// How many states were read.
  package var reads: Int {
    events.count { if case .read = $0.kind { true } else { false } }
  }

  // MARK: Checks

  /// Checks the history against the marks that a replica has in the end, by the number of their
  /// transaction.
  ///
  /// Nothing that was acknowledged is lost, doubled or has another number; nothing that was refused
  /// is there; numbers follow the order in which writes came after each other; each read saw all of
  /// one state; no replica goes back, and each sees what it has written.
  ///
  /// - Throws: `BrokenPromise`.
  package func check(_ marks: [Int64: String]) throws {
    try checkWrites(marks)
    let numbers = marks.keys.sorted()
    for event in events {
      guard case .read(let number, let count, let total) = event.kind else { continue }
      let expected = numbers.partitioningIndex { $0 > number }
      guard count == expected, total == expected else {
        throw BrokenPromise(
          "replica \(event.replica) had \(count) marks and a total of \(total) at transaction "
            + "\(number), where there are \(expected)")
      }
    }
    try checkOrder(of: events, "a write") { event, _ in
      guard case .write(_, .committed(let number)) = event.kind else { return nil }
      return number
    }
    for replica in Set(events.map(\.replica)) {
      let own = events.filter { $0.replica == replica }
      // What was acknowledged is synced; what was only read may not be yet when the power fails.
      for opening in Set(own.map(\.opening)) {
        try checkOrder(of: own.filter { $0.opening == opening }, "a read", isStrict: false) {
          event, isEnd in
          switch event.kind {
          case .read(let number, _, _): number
          case .write(_, .committed(let number)): isEnd ? number : nil
          case .write: nil
          }
        }
      }
      try checkOrder(of: own, "a read", isStrict: false) { event, isEnd in
        switch event.kind {
        case .read(let number, _, _): isEnd ? nil : number
        case .write(_, .committed(let number)): isEnd ? number : nil
        case .write: nil
        }
      }
    }
  }

  private func checkWrites(_ marks: [Int64: String]) throws {
    guard Set(marks.values).count == marks.count else {
      throw BrokenPromise("a mark was written twice")
    }
    let there = Set(marks.values)
    for event in events {
      guard case .write(let mark, let outcome) = event.kind else { continue }
      switch outcome {
      case .committed(let number) where marks[number] != mark:
        throw BrokenPromise(
          "the mark \(mark) was acknowledged as transaction \(number), which has "
            + (marks[number] ?? "none"))
      case .refused where there.contains(mark):
        throw BrokenPromise("the mark \(mark) was refused, and is there")
      default: break
      }
    }
  }

  /// Checks that whatever begins after something has ended has a greater number than that, or one
  /// that is not smaller. `number` returns the number that an event ends with, or that it has to
  /// begin behind; nil if it has none.
  private func checkOrder(
    of events: [Event], _ what: String, isStrict: Bool = true,
    _ number: (Event, _ isEnd: Bool) -> Int64?
  ) throws {
    let steps = events.flatMap { [($0.began, $0, false), ($0.ended, $0, true)] }
      .sorted { $0.0 < $1.0 }
    var newest = Int64.min
    var floors: [Int: Int64] = [:]
    for (moment, event, isEnd) in steps {
      if !isEnd {
        floors[moment] = newest
        continue
      }
      if let own = number(event, false), let floor = floors[event.began],
        isStrict ? own <= floor : own < floor
      {
        throw BrokenPromise(
          "\(what) of replica \(event.replica) has transaction \(own), and began after "
            + "transaction \(floor) had ended")
      }
      if let own = number(event, true) { newest = max(newest, own) }
    }
  }
}

/// A history that many write to.
final class HistoryBook: Sendable {
  private let history = Locked(ReplicaHistory())

  func withLock<Result>(_ body: (inout sending ReplicaHistory) -> sending Result) -> Result {
    history.withLock(body)
  }
}

/// Counts down from the number of those who work.
final class Countdown: Sendable {
  private let count: Locked<Int>

  init(_ count: Int) { self.count = Locked(count) }

  func step() { count.withLock { $0 -= 1 } }

  var isOver: Bool { count.withLock { $0 <= 0 } }
}

extension Array {
  /// The index of the first element that the predicate holds for, where it holds for all after it,
  /// too.
  fileprivate func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
