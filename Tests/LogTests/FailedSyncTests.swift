import AnnalsFaults
import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import SystemPackage
import Testing

@testable import AnnalsLog

/// What a sync that failed leaves to others: nothing acknowledged is taken out, and nothing is
/// claimed that the disk does not have.
struct FailedSyncTests {
  /// Two processes took turns, and the second had read the first's newest commit without the lock.
  /// Then its own commit was taken out together with that one, which it had not written.
  @Test(arguments: [true, false])
  func aFailedSyncLeavesWhatOthersCommitted(refreshes: Bool) throws {
    let files = FaultyFileSystem()
    let one = try LogLab(files, opening: 1)
    try one.commit([(1, "one")])
    let two = try LogLab(files, creates: false, opening: 2)
    try two.commit([(2, "two")])
    try one.commit([(3, "three")])
    let acknowledged = one.state
    if refreshes { try two.catchUp() }
    try two.lock()
    try two.append([(4, "four")])
    files.inject(FaultInjection(.sync, .ioError))
    #expect(throws: LogError.self) { try two.log.sync() }
    two.log.unlock()
    let fresh = try LogLab(files, creates: false, opening: 3)
    #expect(fresh.state == acknowledged)
  }

  @Test(arguments: [true, false])
  func whatIsWrittenAnewIsSyncedBeforeTheNextFrame(hasReadPastCache: Bool) throws {
    let files = FaultyFileSystem()
    files.hasReadPastCache = hasReadPastCache
    let restarted = try leaveUnsynced(on: files)
    let next = try LogLab(restarted, creates: false, opening: 8)
    try next.lock()
    try next.append([(3, "three")])
    restarted.cutPower()
    restarted.forEachSurvivor { survivor in
      do {
        _ = try LogLab(survivor.files, creates: false, access: .reading).state
      } catch {
        Issue.record("\(survivor.description): \(error)")
      }
    }
  }

  /// A sector torn by a power cut may hold anything behind a payload, where no checksum reaches.
  @Test
  func tornPaddingIsZeroedBeforeTheNextFrame() throws {
    let files = FaultyFileSystem()
    let lab = try LogLab(files, durability: .deferred)
    try lab.lock()
    var garbled: [Int] = []
    for (row, title) in ["a", "ab", "abc", "abcd"].enumerated() {
      try lab.append([(Int64(row) + 1, title)])
      let bytes = try files.contents(of: LogLab.path)
      let end = try #require(bytes.lastIndex { $0 != 0 }) + 1
      garbled += end..<(end + 7) / 8 * 8
    }
    lab.log.unlock()
    let restarted = files.afterKill()
    #expect(!garbled.isEmpty)
    for offset in garbled { try restarted.overwrite([0xEE], at: offset, of: LogLab.path) }
    let next = try LogLab(restarted, creates: false, opening: 8)
    try next.lock()
    try next.append([(9, "nine")])
    let bytes = try restarted.contents(of: LogLab.path)
    #expect(garbled.allSatisfy { bytes[$0] == 0 })
  }

  /// Deferred transactions whose sync failed: the cache shows them and calls them clean, and no
  /// sync writes them any more. Their writer was killed then.
  private func leaveUnsynced(on files: FaultyFileSystem) throws -> FaultyFileSystem {
    let lab = try LogLab(files, durability: .deferred)
    try lab.lock()
    try lab.append([(1, "one")])
    try lab.append([(2, "two")])
    files.inject(FaultInjection(.sync, .ioError, effect: .cacheLies))
    #expect(throws: LogError.self) { try lab.log.sync() }
    lab.log.unlock()
    try lab.log.close()
    return files.afterKill()
  }

  /// The log was prepared when another process appended, and that one's sync failed: who goes on
  /// behind its transactions must make sure of them, or a power cut takes what is acknowledged.
  @Test(arguments: [true, false], [true, false])
  func whatOthersLeftUnsyncedIsWrittenAgain(hasReadPastCache: Bool, closes: Bool) throws {
    let files = FaultyFileSystem()
    files.hasReadPastCache = hasReadPastCache
    let one = try LogLab(files, durability: .deferred, opening: 1)
    let two = try LogLab(files, creates: false, opening: 2)
    try two.commit([(1, "one")])
    try one.lock()
    try one.append([(2, "two")])
    files.inject(FaultInjection(.sync, .ioError, effect: .cacheLies))
    #expect(throws: LogError.self) { try one.log.sync() }
    one.log.unlock()
    if closes {
      try two.lock()
      two.log.unlock()
      try two.log.close()
    } else {
      try two.commit([(3, "three")])
    }
    files.cutPower()
    files.forEachSurvivor { survivor in
      let survived = try? LogLab(survivor.files, creates: false, access: .reading).state
      #expect(survived == two.state, Comment(rawValue: survivor.description))
    }
  }

  /// A sync or a close that comes before the first commit of an opening proves no more than that
  /// commit would.
  @Test(arguments: [true, false])
  func aSyncWithoutACommitSeesThroughTheCache(closes: Bool) throws {
    let files = try leaveUnsynced(on: FaultyFileSystem())
    let next = try LogLab(files, creates: false, opening: 8)
    if closes {
      try next.log.close()
    } else {
      try next.lock()
      try next.log.sync()
      try next.append([(3, "three")])
      try next.log.sync()
    }
    files.cutPower()
    files.forEachSurvivor { survivor in
      let survived = try? LogLab(survivor.files, creates: false, access: .reading).state
      #expect(survived == next.state, Comment(rawValue: survivor.description))
    }
  }
}
