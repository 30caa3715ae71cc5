import AnnalsStorage
import Synchronization

/// The thread that writes to a store, or runs the closure of a write.
///
/// All stores of the process are known here, so that a write to one inside the closure of a write
/// to another of the same file is an error at once: it would wait for a lock that its own thread
/// holds.
final class WritingThread: Sendable {
  private let path: String
  /// The number of the thread; 0 for none.
  private let number = Atomic<UInt64>(0)

  private struct Reference { weak var thread: WritingThread? }

  private static let all = Locked<[Reference]>([])

  /// The thread of a store at this path, which has all symbolic links followed.
  init(path: String) {
    self.path = path
    WritingThread.all.withLock { all in
      all.removeAll { $0.thread == nil }
      all.append(Reference(thread: self))
    }
  }

  /// Whether this thread writes.
  func isThread(_ thread: UInt64) -> Bool { number.load(ordering: .relaxed) == thread }

  /// Notes that this thread writes; 0 for none.
  func store(_ thread: UInt64) { number.store(thread, ordering: .relaxed) }

  /// Whether the calling thread writes to the same file through another store.
  var isInsideAnother: Bool {
    let thread = CurrentThread.number
    let others = WritingThread.all.withLock { $0.compactMap(\.thread) }
    return others.contains {
      $0 !== self && $0.isThread(thread) && $0.path.utf8.elementsEqual(path.utf8)
    }
  }
}
