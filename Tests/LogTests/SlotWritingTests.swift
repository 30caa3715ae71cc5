import AnnalsFaults
import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import SystemPackage
import Testing

@testable import AnnalsLog

/// When root slots are written, and that one of them is whole at any time.
struct SlotWritingTests {
  private func slots(_ files: any FileSystem) throws -> RootSlots {
    try LogLab(files, creates: false, access: .reading).log.view.file.slots()
  }

  @Test func creationAndRewritesWriteBoth() throws {
    let files = MemoryFileSystem()
    let lab = try LogLab(files)
    #expect(try slots(files).sayClosed(at: FormatLimits.logStart, size: FormatLimits.logStart))
    for number in 1...50 { try lab.commit([(1, "title \(number)")]) }
    let plan = RewritePlan(base: .keep, checkpoint: false, destination: .replace)
    #expect(try lab.rewrite(plan).outcome == .done)
    let end = lab.log.view.end
    #expect(try slots(files).sayClosed(at: end, size: end))
  }

  /// A killed writer's file: so little lies behind the newest slot's mark, whatever was written.
  @Test(arguments: [10, 700])
  func littleLiesBehindTheNewestSlot(length: Int) throws {
    let files = FaultyFileSystem()
    let lab = try LogLab(files)
    let syncsBefore = files.callCount(.sync)
    let text = String(repeating: "x", count: length)
    var last = try #require(try slots(files).newest)
    var count = 0
    var most: Int64 = 0
    for number in 1...600 {
      try lab.commit([(1, "\(text) \(number)")])
      let newest = try #require(try slots(files).newest)
      if newest != last { count += 1 }
      last = newest
      most = max(most, Int64(number) - newest.head)
      #expect(lab.log.view.end - newest.durableMark <= SlotStanding.mostBytes + 3_000)
    }
    #expect(count > 2 && count < 40)
    // As many as may be, where they are short.
    #expect(length == 10 ? most == SlotStanding.mostCommits : most < SlotStanding.mostCommits)
    // No slot takes a sync of its own; the first commit makes sure of the file's name.
    #expect(files.callCount(.sync) - syncsBefore == 600)
  }

  /// A bit that flips in what a slot proves is damage, though nothing behind it is left.
  @Test func aCutBeforeTheNewestSlotsMarkIsDamage() throws {
    let files = MemoryFileSystem()
    let lab = try LogLab(files)
    var ends: [UInt64] = []
    for number in 1...600 {
      try lab.commit([(1, "title \(number)")])
      ends.append(lab.log.view.end)
    }
    let mark = try #require(try slots(files).newest).durableMark
    var bytes = try files.contents(of: LogLab.path)
    for end in [ends[300], mark - 8] {
      for index in Int(end)..<bytes.count { bytes[index] = 0 }
      try files.put(bytes, at: LogLab.path)
      #expect(throws: LogError.self) { try LogLab(files, creates: false) }
    }
  }

  @Test func eachDeferredSyncGivesTheOneBeforeASlot() throws {
    let files = FaultyFileSystem()
    let lab = try LogLab(files, durability: .deferred)
    let syncsBefore = files.callCount(.sync)
    var synced: [Int64] = []
    for number in 1...5 {
      try lab.lock()
      try lab.append([(1, "title \(number)")])
      try lab.log.sync()
      try lab.log.sync()
      lab.log.unlock()
      let head = try #require(try slots(files).newest).head
      if number > 2 { #expect(head == synced.last) }
      synced.append(lab.state.number)
    }
    #expect(files.callCount(.sync) - syncsBefore == 5)
  }

  /// A slot that another process wrote and could not sync is in the cache alone. Were the other one
  /// written behind it, and torn, none would be left.
  @Test(arguments: [true, false], [true, false])
  func noSlotFollowsAnotherThatIsNotOnTheDisk(isKilled: Bool, hasReadPastCache: Bool) throws {
    let files = FaultyFileSystem()
    files.hasReadPastCache = hasReadPastCache
    let one = try LogLab(files, opening: 1)
    var two = try LogLab(files, creates: false, opening: 2)
    try two.commit([(1, "one")])
    try one.commit([(2, "two")])
    // The file has grown since the newest slot: the next commit brings one.
    let before = try #require(try slots(files).newest).sequence
    files.inject(FaultInjection(.sync, .ioError, effect: .cacheLies))
    try one.lock()
    try one.append([(3, "three")])
    #expect(throws: LogError.self) { try one.log.sync() }
    one.log.unlock()
    #expect(try #require(slots(files).newest).sequence == before + 1)
    var disk = files
    if isKilled {
      disk = files.afterKill()
      two = try LogLab(disk, creates: false, opening: 3)
    }
    for number in 1...600 {
      try two.lock()
      try two.append([(Int64(number), "title \(number)")])
      let isNew = try #require(slots(disk).newest).sequence > before + 1
      requireASlot(on: disk)
      if isNew {
        // Without any unsynced change: what the disk has.
        var durable: [UInt64]?
        disk.forEachSurvivor { survivor in
          durable = durable ?? (try? slots(survivor.files))?.valid.map(\.sequence)
        }
        #expect(durable?.contains(before + 1) == true, "\(String(describing: durable))")
      }
      try two.log.sync()
      two.log.unlock()
      if isNew { break }
      #expect(number < 500)
    }
    requireASlot(on: disk)
  }

  private func requireASlot(on disk: FaultyFileSystem) {
    disk.forEachSurvivor { survivor in
      #expect((try? slots(survivor.files))?.newest != nil, "\(survivor.description)")
    }
  }

  /// A checkpoint looks at the slots before it is written: where they could not be read, its
  /// transaction once stayed open, and the next call trapped.
  @Test func aCheckpointThatCannotReadTheSlotsIsGivenUp() throws {
    for number in 0..<12 {
      let files = FaultyFileSystem()
      let lab = try LogLab(files)
      try lab.commit([(1, "one")])
      files.inject(FaultInjection(.read, after: number, .ioError))
      do { try lab.checkpoint() } catch is LogError {}
      guard files.injectedCount > 0 else { break }
      try lab.commit([(2, "two")])
      #expect(try LogLab(files, creates: false, access: .reading).state == lab.state)
    }
  }

  /// Another process closed the file between the reading of its slots, which spoke of a longer one,
  /// and of its length: that was called a cut.
  @Test func aCloseBetweenReadingTheSlotsAndTheSizeIsNoDamage() throws {
    let files = MemoryFileSystem()
    let lab = try LogLab(files)
    try lab.commit([(1, "one")])
    try lab.commit([(2, "two")])
    let generation = lab.log.view.file
    let stale = try generation.slots().valid
    try lab.log.close()
    let slot = stale[0]
    #expect(slot.extent > (try generation.size()))
    let end = try EndOfLog.find(
      in: generation,
      from: ChainPoint(offset: slot.durableMark, previousChecksum: slot.markChecksum),
      slots: stale)
    #expect(end.tail == .clean, "extent \(slot.extent), size \(end.size)")
    #expect(end.slots.first?.extent == end.size)
  }
}

/// The header or a slot of another generation, or of another store, where the log's own should be.
struct ForeignHeaderTests {
  @Test(arguments: [true, false])
  func aForeignHeaderIsNoTornTail(isOtherStore: Bool) throws {
    let files = MemoryFileSystem()
    let lab = try LogLab(files)
    for number in 1...50 { try lab.commit([(1, "title \(number)")]) }
    var other = try files.contents(of: LogLab.path)
    let plan = RewritePlan(base: .keep, checkpoint: false, destination: .replace)
    #expect(try lab.rewrite(plan).outcome == .done)
    try lab.log.close()
    if isOtherStore {
      _ = try LogFile.create(
        at: "/other", in: files,
        NewLog(store: RawUUID(high: 1, low: 1), created: Timestamp(microseconds: 0)))
      other = try files.contents(of: "/other")
    }
    let whole = try files.contents(of: LogLab.path)
    for block in 0...2 {
      let range = block * FormatLimits.blockLength..<(block + 1) * FormatLimits.blockLength
      var bytes = whole
      bytes.replaceSubrange(range, with: other[range])
      try files.put(bytes, at: LogLab.path)
      for access in [FileAccess.reading, .writing] {
        #expect {
          try LogLab(files, creates: false, access: access)
        } throws: {
          switch $0 as? LogError {
          case .header(.foreign)?: block == 0
          case .damage(let damage)?: block > 0 && damage.offset == UInt64(range.lowerBound)
          default: false
          }
        }
      }
      #expect(try files.contents(of: LogLab.path) == bytes)
    }
  }
}
