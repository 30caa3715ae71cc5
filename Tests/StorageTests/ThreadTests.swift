import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

@Suite(.deadline) struct ThreadTests {
  @Test func workRunsInOrderOnOneThreadOfItsOwn() throws {
    let worker = try WorkerThread(name: "worker")
    let seen = Locked<[(Int, Bool)]>([])
    for number in 0..<1_000 {
      #expect(worker.submit { seen.withLock { $0.append((number, worker.isCurrent)) } })
    }
    #expect(!worker.isCurrent)
    worker.stop()
    #expect(seen.withLock { $0.map(\.0) } == Array(0..<1_000), "stop waits for all of it")
    #expect(seen.withLock { $0.allSatisfy(\.1) })
    #expect(!worker.submit {}, "a stopped worker takes nothing")
    worker.stop()
  }

  @Test(.enabled(if: _isDebugAssertConfiguration(), "a debug build alone asserts it"))
  func locksAreTakenInTheirOrder() async {
    let (writer, other) = (ConditionLock(.writer), ConditionLock(.writer))
    let group = ConditionLock(.group)
    for _ in 0..<3 {
      // A write to one store inside a write to another.
      writer.lock()
      other.lock()
      group.lock()
      other.unlock()
      group.unlock()
      writer.unlock()
    }
    await #expect(processExitsWith: .failure) {
      let (writer, group) = (ConditionLock(.writer), ConditionLock(.group))
      group.lock()
      writer.lock()
    }
    await #expect(processExitsWith: .failure) { ConditionLock(.writer).unlock() }
  }

  @Test func workMayStopAndReleaseItsOwnThread() throws {
    let ended = Monitor(false)
    do {
      let worker = try WorkerThread(name: "worker")
      worker.submit {
        worker.stop()
        ended.withLock { $0 = true }
      }
    }
    #expect(ended.wait(until: .now + .seconds(3_600)) { $0 ? true : nil } == true)
  }

  @Test func aReleasedWorkerStillDoesWhatItTook() throws {
    let count = Monitor(0)
    do {
      let worker = try WorkerThread(name: "worker")
      for _ in 0..<10 { worker.submit { count.withLock { $0 += 1 } } }
    }
    #expect(count.wait(until: .now + .seconds(3_600)) { $0 == 10 ? $0 : nil } == 10)
  }

  @Test func aWaitEndsWithTheChangeOrAtTheDeadline() throws {
    let monitor = Monitor(0)
    let start = ContinuousClock.now
    #expect(monitor.wait(until: start + .milliseconds(20)) { $0 == 1 ? $0 : nil } == nil)
    #expect(ContinuousClock.now - start >= .milliseconds(20))
    let worker = try WorkerThread(name: "worker")
    worker.submit {
      Thread.sleep(forTimeInterval: 0.01)
      monitor.withLock { $0 = 1 }
    }
    #expect(monitor.wait { $0 == 1 ? $0 : nil } == 1)
    #expect(monitor.wait(until: .now - .seconds(1)) { $0 == 1 ? $0 : nil } == 1)
    worker.stop()
  }

  @Test func conditionsWakeOneOrAll() throws {
    let condition = ConditionLock()
    let state = SharedCounts()
    let workers = try (0..<4).map { try WorkerThread(name: "waiter \($0)") }
    for worker in workers {
      worker.submit {
        condition.withLock {
          state.waiting += 1
          while state.permits == 0 { condition.wait() }
          state.permits -= 1
          state.passed += 1
        }
      }
    }
    until { condition.withLock { state.waiting == 4 } }
    condition.withLock {
      state.permits = 1
      condition.signal()
    }
    until { condition.withLock { state.passed >= 1 } }
    #expect(condition.withLock { state.passed } == 1)
    condition.withLock {
      state.permits = 3
      condition.broadcast()
    }
    for worker in workers { worker.stop() }
    #expect(state.passed == 4)
    // A wait may end without a reason; not one at the deadline or behind it.
    let deadline = ContinuousClock.now + .milliseconds(5)
    condition.withLock { while condition.wait(until: deadline) {} }
    #expect(ContinuousClock.now >= deadline)
  }

  @Test func theSystemTellsWhoRuns() {
    #expect(ProcessIdentity.id == Int64(ProcessInfo.processInfo.processIdentifier))
  }
}

/// Counts that threads share under the mutex of a `ConditionLock`.
private final class SharedCounts: @unchecked Sendable {
  var waiting = 0
  var permits = 0
  var passed = 0
}
