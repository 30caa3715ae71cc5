import AnnalsStorage
import AnnalsTestSupport
import Foundation
import SystemPackage
import Testing

/// What every file system promises, asked of each of them.
@Suite(.deadline) struct FileSystemContractTests {
  @Test(arguments: FileSystemUnderTest.allCases)
  func writtenBytesAreReadBack(kind: FileSystemUnderTest) throws {
    try kind.run { files, path in
      let file = try files.create(path("a"), like: nil)
      try file.write([1, 2, 3, 4], at: 0)
      try file.write([9], at: 6)
      #expect(try file.size() == 7)
      #expect(try file.contents() == [1, 2, 3, 4, 0, 0, 9], "the gap reads as zeros")
      #expect(try file.bytes(at: 5, count: 10) == [0, 9], "a read is short at the end alone")
      #expect(try file.bytes(at: 7, count: 1) == [])
      #expect(try file.bytes(at: .max, count: 1) == [])
      try file.sync()
      file.close()
      file.close()
      let again = try files.open(path("a"), for: .reading)
      #expect(try again.contents() == [1, 2, 3, 4, 0, 0, 9])
    }
  }

  @Test(arguments: FileSystemUnderTest.allCases)
  func allocatedSpaceReadsAsZerosAndKeepsWhatWasThere(kind: FileSystemUnderTest) throws {
    try kind.run { files, path in
      let file = try files.create(path("a"), like: nil)
      try file.write([1, 2, 3], at: 0)
      try file.allocate(from: 1, to: 100_000)
      #expect(try file.size() == 100_000)
      #expect(try file.bytes(at: 0, count: 5) == [1, 2, 3, 0, 0])
      #expect(try file.contents().dropFirst(3).allSatisfy { $0 == 0 })
      try file.allocate(from: 10, to: 20)
      #expect(try file.size() == 100_000, "allocating within the file changes nothing")
      try file.truncate(to: 2)
      #expect(try file.contents() == [1, 2])
      try file.truncate(to: 4)
      #expect(try file.contents() == [1, 2, 0, 0], "what was cut off does not come back")
    }
  }

  @Test(arguments: FileSystemUnderTest.allCases)
  func syncedBytesAreOnTheDisk(kind: FileSystemUnderTest) throws {
    try kind.run { files, path in
      let file = try files.create(path("a"), like: nil)
      let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
      try file.write(bytes, at: 0)
      try file.sync()
      for (offset, count) in [(0, 20_000), (5_000, 100), (4_095, 4_098), (19_990, 500), (1, 0)] {
        // A file system in memory, and some others, have nothing to read past.
        guard let read = try file.bytesPastCache(at: UInt64(offset), count: count) else { continue }
        #expect(read == Array(bytes[offset..<min(bytes.count, offset + count)]))
      }
    }
  }

  @Test(arguments: FileSystemUnderTest.allCases)
  func createFailsOnATakenName(kind: FileSystemUnderTest) throws {
    try kind.run { files, path in
      try files.create(path("a"), like: nil).close()
      #expect(throws: StorageError(.create, path("a"), .fileExists)) {
        _ = try files.create(path("a"), like: nil)
      }
      #expect(throws: StorageError(.open, path("b"), .noSuchFileOrDirectory)) {
        _ = try files.open(path("b"), for: .writing)
      }
    }
  }

  @Test(arguments: FileSystemUnderTest.allCases)
  func linkRenameAndRemoveFollowPosix(kind: FileSystemUnderTest) throws {
    try kind.run { files, path in
      let first = try files.create(path("a"), like: nil)
      try first.write([1], at: 0)
      try files.link(path("a"), to: path("b"))
      #expect(try files.linkCount(of: path("b")) == 2)
      #expect(try files.identity(of: path("a")) == files.identity(of: path("b")))
      #expect(try first.identity() == files.identity(of: path("b")))
      #expect(throws: StorageError(.link, path("b"), .fileExists)) {
        try files.link(path("a"), to: path("b"))
      }
      let second = try files.create(path("c"), like: path("a"))
      try second.write([2], at: 0)
      try files.rename(path("c"), over: path("b"))
      #expect(try files.identity(of: path("c")) == nil)
      #expect(try files.linkCount(of: path("c")) == 0)
      #expect(try files.linkCount(of: path("a")) == 1)
      #expect(try files.open(path("b"), for: .reading).contents() == [2])
      try files.remove(path("a"))
      #expect(try first.contents() == [1], "a removed file lives on where it is open")
      #expect(throws: StorageError(.remove, path("a"), .noSuchFileOrDirectory)) {
        try files.remove(path("a"))
      }
      try files.syncDirectory(of: path("a"))
    }
  }

  @Test(arguments: FileSystemUnderTest.allCases)
  func aFileIsPlacedUnlessTheNameIsTaken(kind: FileSystemUnderTest) throws {
    try kind.run { files, path in
      try files.create(path("a"), like: nil).write([1], at: 0)
      try files.create(path("b"), like: nil).write([2], at: 0)
      #expect(throws: StorageError(.place, path("b"), .fileExists)) {
        try files.place(path("a"), at: path("b"))
      }
      #expect(throws: StorageError(.place, path("d"), .noSuchFileOrDirectory)) {
        try files.place(path("none"), at: path("d"))
      }
      try files.place(path("a"), at: path("c"))
      #expect(try files.identity(of: path("a")) == nil)
      #expect(try files.open(path("c"), for: .reading).contents() == [1])
      #expect(try files.linkCount(of: path("c")) == 1)
      #expect(try files.open(path("b"), for: .reading).contents() == [2])
    }
  }

  @Test(arguments: FileSystemUnderTest.allCases)
  func aClosedFileRefusesEverything(kind: FileSystemUnderTest) throws {
    try kind.run { files, path in
      let file = try files.create(path("a"), like: nil)
      file.close()
      let name = path("a")
      let refused = { StorageError($0, name, .badFileDescriptor) }
      #expect(throws: refused(.size)) { try file.size() }
      #expect(throws: refused(.read)) { try file.bytes(at: 0, count: 1) }
      #expect(throws: refused(.write)) { try file.write([1], at: 0) }
      #expect(throws: refused(.sync)) { try file.sync() }
      #expect(throws: refused(.allocate)) { try file.allocate(from: 0, to: 1) }
      #expect(throws: refused(.truncate)) { try file.truncate(to: 1) }
      #expect(throws: refused(.lock)) { try file.lock(.shared, wait: .none) }
      #expect(throws: refused(.identify)) { try file.identity() }
      file.unlock()
    }
  }

  @Test(arguments: FileSystemUnderTest.allCases)
  func aFileOpenedForReadingIsNotChanged(kind: FileSystemUnderTest) throws {
    try kind.run { files, path in
      try files.create(path("a"), like: nil).write([1, 2], at: 0)
      let file = try files.open(path("a"), for: .reading)
      #expect(throws: StorageError.self) { try file.write([3], at: 0) }
      #expect(throws: StorageError.self) { try file.truncate(to: 0) }
      #expect(throws: StorageError.self) { try file.allocate(from: 0, to: 10) }
      #expect(try file.contents() == [1, 2])
    }
  }

  @Test(arguments: FileSystemUnderTest.allCases)
  func wildOffsetsAreErrors(kind: FileSystemUnderTest) throws {
    try kind.run { files, path in
      let file = try files.create(path("a"), like: nil)
      for offset in [UInt64(Int64.max), .max] {
        #expect(throws: StorageError.self) { try file.write([1], at: offset) }
        #expect(throws: StorageError.self) { try file.allocate(from: 0, to: offset) }
      }
      #expect(throws: StorageError.self) { try file.truncate(to: .max) }
      #expect(try file.size() == 0)
    }
  }

  @Test(arguments: FileSystemUnderTest.allCases)
  func locksExcludeOtherOpensOfTheFile(kind: FileSystemUnderTest) throws {
    try kind.run { files, path in
      let first = try files.create(path("a"), like: nil)
      let second = try files.open(path("a"), for: .writing)
      let third = try files.open(path("a"), for: .reading)
      #expect(try first.lock(.exclusive, wait: .none))
      #expect(try first.lock(.exclusive, wait: .none), "taking it again is no wait for oneself")
      #expect(try !second.lock(.exclusive, wait: .none))
      #expect(try !third.lock(.shared, wait: .none))
      first.unlock()
      #expect(try second.lock(.shared, wait: .none))
      #expect(try third.lock(.shared, wait: .none))
      #expect(try !first.lock(.exclusive, wait: .none))
      second.close()
      #expect(try !first.lock(.exclusive, wait: .none), "closing one keeps the lock of another")
      third.close()
      #expect(try first.lock(.exclusive, wait: .none))
    }
  }

  @Test(arguments: FileSystemUnderTest.allCases)
  func waitingForALockEndsAtTheDeadlineOrWithTheLock(kind: FileSystemUnderTest) throws {
    try kind.run { files, path in
      let holder = try files.create(path("a"), like: nil)
      let waiter = try files.open(path("a"), for: .writing)
      #expect(try holder.lock(.exclusive, wait: .none))
      let start = ContinuousClock.now
      #expect(try !waiter.lock(.exclusive, wait: .until(start + .milliseconds(30))))
      #expect(ContinuousClock.now - start >= .milliseconds(30))
      let calls = Locked(0)
      let interrupted = LockWait.unlessInterrupted(.now + .seconds(3_600)) {
        calls.withLock { calls in
          calls += 1
          return calls == 3
        }
      }
      #expect(try !waiter.lock(.exclusive, wait: interrupted))
      afterAMoment { holder.unlock() }
      #expect(try waiter.lock(.exclusive, wait: .until(.now + .seconds(3_600))))
      waiter.unlock()
      #expect(try holder.lock(.shared, wait: .none))
      afterAMoment { holder.close() }
      #expect(try waiter.lock(.exclusive, wait: .until(.now + .seconds(3_600))))
    }
  }

  /// Runs `body` on a thread of its own: tests that wait would use up those of the tasks.
  private func afterAMoment(_ body: @escaping @Sendable () -> Void) {
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 0.02)
      body()
    }
  }
}
