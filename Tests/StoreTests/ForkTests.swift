import Annals
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsEngine

/// Makes a copy of the process (C: `fork`), which Swift does not offer.
@_silgen_name("fork") private func forkProcess() -> Int32

/// A process that was forked while a store was open shares the lock of that store with its parent.
/// Parent and child once both wrote, each believing that it held the lock alone, and commits that
/// had been acknowledged were gone. Each test runs in a process of its own, which does nothing
/// else.
@Suite(.timeLimit(.minutes(20))) struct ForkTests {
  /// Runs `body` in a fork; returns what did not hold there: its lines, one below the other.
  private static func inFork(_ body: () throws -> [String]) throws -> String {
    let results = Pipe()
    let child = forkProcess()
    if child == 0 {
      var failed: [String]
      do { failed = try body() } catch { failed = ["thrown: \(error)"] }
      results.fileHandleForWriting.write(Data(failed.joined(separator: "\n").utf8))
      // As a program ends: with everything that runs at the exit.
      exit(0)
    }
    try results.fileHandleForWriting.close()
    let said = try results.fileHandleForReading.readToEnd() ?? Data()
    var status: Int32 = 0
    waitpid(child, &status, 0)
    return status == 0 ? String(decoding: said, as: UTF8.self) : "ended with \(status)"
  }

  /// What of these calls does not throw `.forked`.
  private static func notRefused(_ calls: [(String, () throws -> Void)]) -> [String] {
    calls.compactMap { name, call in
      do {
        try call()
        return "\(name) threw nothing"
      } catch {
        let code = (error as? AnnalsError)?.code
        return code == .forked ? nil : "\(name) threw \(error)"
      }
    }
  }

  @Test func theCallsOfAForkAreRefused() async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.path("a.annals") as String] in
      let store = try noteStore(.file(path))
      try store.note("1")
      let reader = try store.consumer("reader")
      let failed = try ForkTests.inFork {
        var failed = ForkTests.notRefused([
          ("write", { try store.note("2") }), ("sync", { try store.sync() }),
          ("checkpoint", { try store.checkpoint() }), ("refresh", { try store.refresh() }),
          ("compact", { try store.compact() }),
          ("advance", { try reader.advance(to: store.token) }),
          ("consumer", { _ = try store.consumer("other") }),
          ("suspend", { try store.suspend() }), ("resume", { try store.resume() }),
          ("listen", { _ = try store.writer.listen() }),
        ])
        // What is loaded can be read.
        if try store.ids() != ["1"] { failed.append("the state is another") }
        try store.close()
        // A store of its own is as any other.
        let own = try noteStore(.file(path), seed: 2)
        try own.note("of the fork")
        try own.close()
        return failed
      }
      #expect(failed == "")
      try store.note("3")
      #expect(try store.ids() == ["1", "of the fork", "3"])
      #expect(try store.verify().allSatisfy { $0.severity == .note })
      try store.close()
    }
  }

  @Test(arguments: ["shared", "exclusive", "deferred"])
  func theEndOfAForkReleasesNothing(_ kind: String) async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) {
      [path = folder.path("a.annals") as String, kind = kind as String] in
      var options = StoreOptions()
      if kind == "exclusive" { options.lockMode = .exclusive }
      if kind == "deferred" { options.durability = .deferred }
      var impatient = StoreOptions()
      impatient.lockTimeout = .zero
      var store: Store? = try noteStore(.file(path), options: options)
      let other = try Store(.file(path), creates: false, options: impatient)
      // In the closure of a write the lock is held.
      try store?.write { tx in
        try tx.insert("Note", ["id": "parent"])
        let failed = try ForkTests.inFork {
          try store?.close()
          store = nil
          return []
        }
        #expect(failed == "")
        // In another thread it is no nested write.
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          #expect(#expect(throws: AnnalsError.self) { try other.note("b") }?.code == .busy)
          done.signal()
        }
        done.wait()
      }
      try store?.close()
      try other.note("b")
      #expect(try other.ids() == ["parent", "b"])
    }
  }

  @Test func aForkInsideAWriteCommitsNothing() async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.path("a.annals") as String] in
      let store = try noteStore(.file(path))
      let results = Pipe()
      var child: Int32 = -1
      var code: AnnalsError.Code?
      do {
        try store.write { tx in
          child = forkProcess()
          try tx.insert("Note", ["id": child == 0 ? "child" : "parent"])
        }
      } catch let error as AnnalsError {
        code = error.code
      }
      if child == 0 {
        let text = code == .forked ? "refused" : "\(String(describing: code))"
        results.fileHandleForWriting.write(Data(text.utf8))
        exit(0)
      }
      try results.fileHandleForWriting.close()
      let said = try results.fileHandleForReading.readToEnd() ?? Data()
      #expect(String(decoding: said, as: UTF8.self) == "refused")
      waitpid(child, nil, 0)
      try store.note("after")
      #expect(try store.ids() == ["parent", "after"])
      #expect(try store.verify().allSatisfy { $0.severity == .note })
    }
  }

  @Test func parentAndForkWithAStoreEachLoseNothing() async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.path("a.annals") as String] in
      let store = try noteStore(.file(path))
      let child = forkProcess()
      if child == 0 {
        var refused = 0
        for number in 1...50 {
          do { try store.note("fork \(number)") } catch { refused += 1 }
        }
        guard refused == 50, let own = try? noteStore(.file(path), seed: 2) else { exit(1) }
        for number in 1...50 where (try? own.note("own \(number)")) == nil { exit(2) }
        exit(0)
      }
      for number in 1...50 { try store.note("parent \(number)") }
      var status: Int32 = 0
      waitpid(child, &status, 0)
      #expect(status == 0)
      try store.refresh()
      #expect(try store.ids().count == 100)
      #expect(try store.verify().allSatisfy { $0.severity == .note })
    }
  }

  @Test func aBusyStoreNamesTheProcessThatHoldsIt() async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.path("a.annals") as String] in
      var impatient = StoreOptions()
      impatient.lockTimeout = .zero
      let store = try noteStore(.file(path))
      let other = try Store(.file(path), creates: false, options: impatient)
      let (ready, done) = (Pipe(), Pipe())
      let child = forkProcess()
      if child == 0 {
        var options = StoreOptions()
        options.lockMode = .exclusive
        guard let own = try? noteStore(.file(path), options: options) else { exit(1) }
        ready.fileHandleForWriting.write(Data([1]))
        _ = done.fileHandleForReading.readData(ofLength: 1)
        try? own.close()
        exit(0)
      }
      _ = ready.fileHandleForReading.readData(ofLength: 1)
      let error = #expect(throws: AnnalsError.self) { try other.note("b") }
      #expect(error?.code == .busy)
      #if os(Linux)
        #expect(error?.message.contains("(process \(child))") ?? false, "\(error?.message ?? "")")
      #endif
      done.fileHandleForWriting.write(Data([1]))
      waitpid(child, nil, 0)
      try store.note("a")
    }
  }
}
