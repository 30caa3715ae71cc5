import AnnalsStorage
import Synchronization

/// Threads that run a program's code amid an operation of the store, from which it must not come
/// back: whoever it would wait for may be waiting for it.
package final class BarredThreads: Sendable {
  private let count = Atomic<Int>(0)
  private let threads = Locked<[UInt64]>([])

  /// Runs `body` with its thread barred.
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

  /// Traps if this thread is barred: `what` it is that it must not do.
  package func requireOutside(_ what: @autoclosure () -> String) {
    // A thread sees its own count.
    guard count.load(ordering: .relaxed) != 0 else { return }
    let thread = CurrentThread.number
    precondition(
      !threads.withLock { $0.contains(thread) },
      "\(what()) inside the code of a projection of the same store; it is given all it may use")
  }
}
