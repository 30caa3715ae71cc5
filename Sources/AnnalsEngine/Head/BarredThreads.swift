import AnnalsModel
import AnnalsStorage
import Synchronization

/// The threads that run a program's code inside an operation of the store.
///
/// Such code must not call back into a waiting operation: the thread it would wait for may be
/// waiting for it.
package final class BarredThreads: Sendable {
  private let count = Atomic<Int>(0)
  private let threads = Locked<[UInt64]>([])

  /// Runs `body` with the calling thread barred.
  package func run<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    let thread = CurrentThread.number
    threads.withLock { $0.append(thread) }
    count.wrappingAdd(1, ordering: .relaxed)
    defer {
      count.wrappingSubtract(1, ordering: .relaxed)
      threads.withLock { threads in
        if let index = threads.lastIndex(of: thread) { threads.remove(at: index) }
      }
    }
    return try body()
  }

  /// Traps if the calling thread is barred; `what` names the operation in the message.
  package func requireOutside(_ what: @autoclosure () -> String) {
    // A thread only ever sees its own count.
    guard count.load(ordering: .relaxed) != 0 else { return }
    let thread = CurrentThread.number
    insist(
      !threads.withLock { $0.contains(thread) },
      "\(what()) inside the code of a projection of the same store; it is given all it may use")
  }
}
