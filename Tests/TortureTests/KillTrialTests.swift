import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

@testable import Annals
@testable import AnnalsTorture

/// Real processes on one real file, killed at random moments.
@Suite(.serialized, .deadline) struct KillTrialTests {
  @Test func nothingAcknowledgedIsLost() throws {
    try TemporaryFolder.with { folder in
      var tally = Tally()
      let trial = KillTrial(
        folder: folder, executable: try TemporaryFolder.torture, seed: CrashTrialTests.seed)
      let rounds = isLong ? 40 : 2
      for _ in 0..<rounds { try trial.round(kills: 6, &tally) }
      print(
        "seed 1: \(tally.kills) kills, \(tally.acknowledged) transactions acknowledged, "
          + "\(tally.reads) states read meanwhile")
      #expect(tally.kills == rounds * 11)
      #expect(tally.found == tally.acknowledged)
    }
  }

  /// What anybody commits comes to every process that listens, across kills, rewrites and sleep.
  @Test func whoListensMissesNothing() throws {
    try TemporaryFolder.with { folder in
      var tally = Tally()
      let trial = KillTrial(
        .following, folder: folder, executable: try TemporaryFolder.torture,
        seed: CrashTrialTests.seed)
      let rounds = isLong ? 40 : 1
      for _ in 0..<rounds { try trial.round(kills: 4, &tally) }
      print(
        "seed 1: \(tally.kills) kills, \(tally.acknowledged) transactions acknowledged, "
          + "\(tally.reads) times all had come")
      #expect(tally.kills == rounds * 9)
      #expect(tally.found == tally.acknowledged)
    }
  }

  /// What a process was told is erased stays erased, whoever is killed while others erase.
  @Test func whatIsErasedIsGone() throws {
    try TemporaryFolder.with { folder in
      var tally = Tally()
      let trial = KillTrial(
        .erasing, folder: folder, executable: try TemporaryFolder.torture,
        seed: CrashTrialTests.seed)
      let rounds = isLong ? 40 : 1
      for _ in 0..<rounds { try trial.round(kills: 4, &tally) }
      print(
        "seed 1: \(tally.kills) kills, \(tally.acknowledged) transactions acknowledged, "
          + "\(trial.erased.count) notes erased")
      #expect(tally.kills == rounds * 9)
      #expect(tally.found == tally.acknowledged && !trial.erased.isEmpty)
    }
  }

  @Test func aStoppedWriterIsWaitedForAndAKilledOneIsNot() throws {
    try TemporaryFolder.with { folder in
      let path = folder + "/a.annals"
      try Store(path: path, schema: Note.schema).close()
      var options = StoreOptions()
      options.lockTimeout = .milliseconds(60)
      var wasBusy = false
      for attempt in 0..<600 where !wasBusy {
        let child = try ChildProcess(
          .writer, name: "w\(attempt)", executable: try TemporaryFolder.torture, path: path,
          folder: folder)
        while try child.lines().isEmpty, child.isRunning, !Task.isCancelled {
          Thread.sleep(forTimeInterval: 0.002)
        }
        Thread.sleep(forTimeInterval: Double(attempt % 7) / 1000)
        child.stop()
        let store = try Store(path: path, options: options)
        do {
          try store.write { try TortureChild.insert("impatient \(attempt)", $0) }
        } catch let error as AnnalsError {
          #expect(error.code == .busy)
          wasBusy = true
        }
        // Reading waits for nobody.
        var random = SeededNumbers(seed: UInt64(attempt))
        let reader = try Store(path: path, options: .readOnly)
        try TortureChild.check(reader, &random)
        child.kill()
        try store.write { try TortureChild.insert("after \(attempt)", $0) }
        let last = try child.lines().last?[1]
        #expect(store.token.number > Int64(last ?? "") ?? 0)
        try TortureChild.check(store, &random)
        try store.close()
      }
      #expect(wasBusy, "the writer was never stopped while it held the lock")
    }
  }
}
