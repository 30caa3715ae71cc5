import Annals
import AnnalsEngine
import AnnalsFaults
import AnnalsTestSupport
import Foundation

/// Threads that write one note each, and what became of them.
final class Writers: @unchecked Sendable {
  private let store: Store
  private let lock = NSLock()
  private var results: [String: Result<Void, any Error>] = [:]
  private let running = DispatchGroup()

  init(_ store: Store) { self.store = store }

  /// Starts a thread that writes a note, and returns when the commit is appended and waits for its
  /// sync.
  func append(_ ids: String...) throws {
    for id in ids {
      let inside = DispatchSemaphore(value: 0)
      start(id) { inside.signal() }
      inside.waitUnlessCancelled()
    }
    // It has its turn when the last of them has ended its own.
    try store.refresh()
  }

  /// Starts a thread that writes a note, and returns at once.
  func start(_ id: String, inside: @escaping @Sendable () -> Void = {}) {
    run(id) { store in
      defer { inside() }
      try store.write { tx in
        inside()
        _ = try tx.insert("Note", ["id": .string(id)])
      }
    }
  }

  /// Starts a thread that does something else with the store.
  func run(_ name: String, _ body: @escaping @Sendable (Store) throws -> Void) {
    running.enter()
    Thread.detachNewThread { [self] in
      let result = Result { try body(store) }
      lock.withLock { results[name] = result }
      running.leave()
    }
  }

  /// Returns when all threads have ended.
  func wait() { running.waitUnlessCancelled() }

  /// Who got no error, sorted.
  var acknowledged: [String] {
    lock.withLock { results.filter { (try? $0.value.get()) != nil }.keys.sorted() }
  }

  /// The codes of the errors of those who got one.
  var failures: [String: AnnalsError.Code] {
    lock.withLock {
      results.compactMapValues { result in
        guard case .failure(let error) = result else { return nil }
        return (error as? AnnalsError)?.code
      }
    }
  }
}

/// A store whose turns do not end after a time, however slow the machine is.
func exclusiveStore(on disk: FaultyFileSystem) throws -> Store {
  var options = StoreOptions()
  options.lockMode = .exclusive
  return try noteStore(StoreLocation(fileSystem: disk, path: "/a.annals"), options: options)
}
