import SystemPackage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A thread that runs pieces of work one after the other, in the order submitted.
///
/// For work that waits for a disk or a lock, which must not block a thread of Swift's tasks. The
/// thread ends when `stop` was called, or the worker was released, and all submitted work is done.
package final class WorkerThread: Sendable {
  /// The state that the thread and its owner share; the thread keeps nothing else alive.
  fileprivate struct Queue {
    var work: [@Sendable () -> Void] = []
    var isStopping = false
    var hasEnded = false
  }

  private let queue: Monitor<Queue>
  /// The thread's `CurrentThread.number`.
  private let thread: UInt64

  /// Starts the thread; debuggers show `name`.
  package init(name: String) throws(StorageError) {
    let queue = Monitor(Queue())
    let start = ThreadStart(queue: queue, name: name)
    do throws(Errno) {
      try startThread(start)
    } catch {
      throw StorageError(.startThread, name, error)
    }
    self.queue = queue
    thread = start.number.wait { $0 }
  }

  deinit { queue.withLock { $0.isStopping = true } }

  /// Submits `work`, to run after everything submitted before. Returns false, without running it,
  /// once `stop` was called.
  @discardableResult
  package func submit(_ work: @escaping @Sendable () -> Void) -> Bool {
    queue.withLock { queue in
      if queue.isStopping { return false }
      queue.work.append(work)
      return true
    }
  }

  /// Accepts no more work, and returns when all submitted work is done. Called on the thread
  /// itself, it returns at once. Safe to call again.
  package func stop() {
    queue.withLock { $0.isStopping = true }
    if isCurrent { return }
    queue.wait { $0.hasEnded ? () : nil }
  }

  /// Whether the caller runs on this thread.
  package var isCurrent: Bool { CurrentThread.number == thread }

  fileprivate static func run(_ queue: Monitor<Queue>) {
    while true {
      let work = queue.wait { queue -> [@Sendable () -> Void]? in
        if queue.work.isEmpty && !queue.isStopping { return nil }
        defer { queue.work = [] }
        return queue.work
      }
      // Stopped, and no work is left.
      if work.isEmpty { break }
      for piece in work { piece() }
    }
    queue.withLock { $0.hasEnded = true }
  }
}

/// The argument of a new thread.
private final class ThreadStart: Sendable {
  let queue: Monitor<WorkerThread.Queue>
  let name: String
  let number = Monitor<UInt64?>(nil)

  init(queue: Monitor<WorkerThread.Queue>, name: String) {
    self.queue = queue
    self.name = name
  }

  func run() {
    // On Darwin only: on Linux the header hides the call, and names end after 15 bytes.
    #if canImport(Darwin)
      pthread_setname_np(name)
    #endif
    number.withLock { $0 = CurrentThread.number }
    WorkerThread.run(queue)
  }
}

/// As much as a main thread has on Linux, since users' closures run on it. Defaults go down to 128
/// KiB (musl).
private let stackSize = 8 << 20

/// Starts a detached thread (C: `pthread_create`).
private func startThread(_ start: ThreadStart) throws(Errno) {
  let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
  pthread_attr_init(attributes)
  defer {
    pthread_attr_destroy(attributes)
    attributes.deallocate()
  }
  pthread_attr_setstacksize(attributes, stackSize)
  pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
  #if canImport(Glibc)
    var thread = pthread_t()
  #else
    var thread: pthread_t?
  #endif
  let argument = Unmanaged.passRetained(start)
  let result = pthread_create(&thread, attributes, threadBody, argument.toOpaque())
  if result != 0 {
    argument.release()
    throw Errno(rawValue: result)
  }
}

#if canImport(Darwin)
  private let threadBody: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = {
    Unmanaged<ThreadStart>.fromOpaque($0).takeRetainedValue().run()
    return nil
  }
#else
  private let threadBody: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    if let start = $0 { Unmanaged<ThreadStart>.fromOpaque(start).takeRetainedValue().run() }
    return nil
  }
#endif
