import AnnalsStorage
import AnnalsTestSupport
import Testing

/// What wakes those who wait for a file to change.
@Suite(.deadline) struct FileWatchTests {
  @Test(arguments: FileSystemUnderTest.allCases)
  func everyWriteWakes(_ system: FileSystemUnderTest) throws {
    try system.run { files, path in
      let file = try files.create(path("a"), like: nil)
      let watch = files.watch(path("a"))
      for offset in 0..<3 {
        try file.write([1], at: UInt64(offset))
        #expect(watch.wait(until: nil))
      }
    }
  }

  /// A rewrite of a store puts another file in the place of the one that is watched.
  @Test(arguments: FileSystemUnderTest.allCases)
  func theWatchGoesOnWithTheFileThatTakesTheName(_ system: FileSystemUnderTest) throws {
    try system.run { files, path in
      _ = try files.create(path("a"), like: nil)
      let watch = files.watch(path("a"))
      let next = try files.create(path("a.new"), like: nil)
      try files.rename(path("a.new"), over: path("a"))
      #expect(watch.wait(until: nil))
      // What the rename has to say was said; from here on only the new file's bytes change.
      try next.write([1], at: 0)
      #expect(watch.wait(until: nil))
    }
  }

  @Test(arguments: FileSystemUnderTest.allCases)
  func cancellingWakesForGood(_ system: FileSystemUnderTest) throws {
    try system.run { files, path in
      _ = try files.create(path("a"), like: nil)
      let watch = files.watch(path("a"))
      let worker = try WorkerThread(name: "waits")
      let answer = Monitor(Bool?.none)
      worker.submit {
        while watch.wait(until: nil) {}
        answer.withLock { $0 = true }
      }
      watch.cancel()
      watch.cancel()
      #expect(answer.wait { $0 })
      #expect(!watch.wait(until: nil))
    }
  }

  @Test(arguments: FileSystemUnderTest.allCases)
  func aDeadlineEndsTheWait(_ system: FileSystemUnderTest) throws {
    try system.run { files, path in
      _ = try files.create(path("a"), like: nil)
      let watch = files.watch(path("a"))
      #expect(watch.wait(until: .now.advanced(by: .milliseconds(2))))
      watch.cancel()
      #expect(!watch.wait(until: .now.advanced(by: .seconds(600))))
    }
  }

  @Test func aPollingWatchSaysAgainAndAgainThatSomethingMayHaveChanged() {
    let watch = PollingWatch()
    #expect(watch.wait(until: nil))
    #expect(watch.wait(until: nil))
    watch.cancel()
    #expect(!watch.wait(until: nil))
  }
}
