import Annals
import AnnalsStorage
import Foundation
import Testing

/// A store that gives up its lock before its process may be stopped.
@Suite(.timeLimit(.minutes(20))) struct SuspensionTests {
  private var impatient: StoreOptions {
    var options = StoreOptions()
    options.lockTimeout = .zero
    return options
  }

  @Test(arguments: [StoreOptions.LockMode.shared, .exclusive])
  func aSuspendedStoreHoldsNoLockAndWritesNothing(_ mode: StoreOptions.LockMode) throws {
    // The run never ends by itself, so that with `.deferred` the lock is kept.
    let location = StoreLocation(
      fileSystem: MemoryFileSystem(), path: "/test.annals", commitRun: .seconds(3_600))
    var options = StoreOptions.deferred
    options.lockMode = mode
    let store = try noteStore(location, options: options)
    let other = try Store(location, creates: false, options: impatient)
    for number in 1...3 { try store.note("\(number)") }
    #expect(#expect(throws: AnnalsError.self) { try other.note("b") }?.code == .busy)
    try store.suspend()
    try store.suspend()
    #expect(#expect(throws: AnnalsError.self) { try store.note("4") }?.code == .suspended)
    #expect(#expect(throws: AnnalsError.self) { try store.checkpoint() }?.code == .suspended)
    #expect(#expect(throws: AnnalsError.self) { try store.compact() }?.code == .suspended)
    try other.note("b")
    #expect(try store.ids().count == 3)
    try store.refresh()
    #expect(try store.ids() == ["1", "2", "3", "b"])
    try store.resume()
    try store.note("4")
    try other.refresh()
    #expect(try other.ids() == ["1", "2", "3", "b", "4"])
    try store.close()
    #expect(try other.verifyHistory() == [])
  }

  @Test func aSuspendedStoreCanBeClosed() throws {
    let location = memoryFile()
    let store = try noteStore(location)
    try store.note("1")
    try store.suspend()
    try store.close()
    #expect(try noteStore(location, seed: 2).ids() == ["1"])
  }

  @Test func whatWaitsForAnotherProcessEndsAtOnce() throws {
    let location = memoryFile()
    let store = try noteStore(location)
    let holder = try LockHeld(by: noteStore(location, seed: 2))
    let ended = DispatchSemaphore(value: 0)
    let code = Locked<AnnalsError.Code?>(nil)
    Thread.detachNewThread {
      do { try store.note("late") } catch {
        code.withLock { $0 = (error as? AnnalsError)?.code }
      }
      ended.signal()
    }
    try store.suspend()
    ended.wait()
    #expect(code.withLock { $0 } == .suspended)
    holder.release()
    try store.resume()
    #expect(try store.ids() == [])
  }

  @Test func whatIsUnderWayIsAcknowledgedFirst() throws {
    let store = try noteStore()
    let holder = try LockHeld(by: store) { try $0.insert("Note", ["id": "under way"]) }
    let suspended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      #expect(throws: Never.self) { try store.suspend() }
      #expect(store.token.number == 2)
      suspended.signal()
    }
    holder.release()
    suspended.wait()
    #expect(try store.ids() == ["under way"])
  }

  @Test func aSuspensionInsideAWriteIsRefused() throws {
    let store = try noteStore()
    try store.write { _ in
      #expect(#expect(throws: AnnalsError.self) { try store.suspend() }?.code == .nestedWrite)
    }
    try store.note("1")
  }
}

/// A write on a thread of its own, whose closure does not end before it is told to; at the latest
/// after an hour, which is then an issue.
final class LockHeld: Sendable {
  private let (begun, goOn, ended) = (
    DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
  )

  /// Returns when the closure runs.
  init(
    by store: Store, _ body: @escaping @Sendable (WriteTransaction) throws -> Void = { _ in }
  ) throws {
    Thread.detachNewThread { [self] in
      #expect(throws: Never.self) {
        try store.write { tx in
          try body(tx)
          begun.signal()
          #expect(goOn.wait(timeout: .now() + 3_600) == .success, "nobody ended the write")
        }
      }
      ended.signal()
    }
    begun.wait()
  }

  /// Ends the write, and returns when it is acknowledged.
  func release() {
    goOn.signal()
    ended.wait()
  }
}
