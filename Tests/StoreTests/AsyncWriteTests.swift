import Annals
import AnnalsTestSupport
import Foundation
import Testing

/// Writing from tasks.
@Suite(.deadline) struct AsyncWriteTests {
  private func store() throws -> Store {
    try Store(
      .memory, schema: Schema { Entity("Note") { Attribute("text", .string) } },
      environment: .fixed())
  }

  @Test func tasksWriteAtTheSameTime() async throws {
    let store = try store()
    try await withThrowingTaskGroup(of: Token.self) { group in
      for number in 0..<50 {
        group.addTask {
          try await store.commit(author: "task") { tx in
            try tx.insert("Note", ["text": .string("\(number)")])
          }.token
        }
      }
      var numbers: Set<Int64> = []
      for try await token in group { numbers.insert(token.number) }
      #expect(numbers == Set(2...51))
    }
    #expect(try store.snapshot().count(of: "Note") == 50)
  }

  @Test func aTaskGetsWhatTheClosureReturns() async throws {
    let store = try store()
    let note = try await store.write(author: "task") { tx in
      try tx.insert("Note", ["text": "x"])
    }
    #expect(try store.snapshot().object(note)?["text"] == "x")
    let commit = try await store.commit { tx in
      try tx.update(note, ["text": "y"])
      return try tx.count(of: "Note")
    }
    #expect(commit.value == 1)
    #expect(commit.token == store.token)
  }

  @Test func aCancelledTaskRecordsNothing() async throws {
    let store = try store()
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      try await store.write { tx in _ = try tx.insert("Note") }
    }
    task.cancel()
    let error = await #expect(throws: AnnalsError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    #expect(try store.snapshot().count(of: "Note") == 0)
  }

  // Such a task once waited on for the lock, and then its closure ran and was recorded.
  @Test func aTaskThatIsCancelledWhileItWaitsForTheLockReturnsAtOnce() async throws {
    let location = memoryFile()
    let store = try noteStore(location)
    let holder = try LockHeld(by: noteStore(location, seed: 2))
    let tasks = (1...3).map { number in
      Task {
        try await store.commit { tx in _ = try tx.insert("Note", ["id": .string("\(number)")]) }
      }
    }
    // The thread waits for the lock with one of them; the others wait for the thread.
    for task in tasks {
      task.cancel()
      let error = await #expect(throws: AnnalsError.self) { try await task.value }
      #expect(error?.code == .cancelled)
    }
    holder.release()
    let kept = try await store.write { tx in try tx.insert("Note", ["id": "kept"]) }
    #expect(try store.ids() == ["kept"])
    #expect(kept.row == 1 && store.token.number == 2)
  }

  @Test func aTaskIsNotCancelledOnceItsClosureRuns() async throws {
    let store = try noteStore()
    let (begun, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let task = Task(executorPreference: ThreadPerJob()) {
      try await store.write { tx in
        begun.signal()
        #expect(goOn.wait(timeout: .now() + 600) == .success, "nobody ended the write")
        _ = try tx.insert("Note", ["id": "kept"])
      }
    }
    await Task.detached { begun.waitOutsideTasks() }.value
    task.cancel()
    goOn.signal()
    try await task.value
    #expect(try store.ids() == ["kept"])
  }

  @Test func whatTheClosureThrowsIsThrown() async throws {
    struct Refusal: Error {}
    let store = try store()
    await #expect(throws: Refusal.self) {
      try await store.write { tx in
        try tx.insert("Note")
        throw Refusal()
      }
    }
    #expect(store.token.number == 1)
  }
}

extension DispatchSemaphore {
  /// As `wait`, where the compiler sees a task.
  fileprivate func waitOutsideTasks() { wait() }
}
