import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsLog

/// Features announced in a living file: who may read it and write to it then, and who says so on.
struct AnnouncementTests {
  private static let low = Features(optional: 0x21)
  private static let writers = Features(optional: 1 << 40 | 2)
  private static let required = Features(required: 1 << 8, optional: 1)

  private static func frame(_ features: Features) -> NewFrame {
    var payload: Bytes = []
    features.append(to: &payload)
    return (.featureAnnouncement, features.required == 0 ? .skippable : [], payload)
  }

  /// The file with features announced, and root slots that say so with their mark behind it; or
  /// that are from before.
  private static func file(
    _ features: Features, isClosed: Bool = true, slots: [Int]
  ) throws -> (file: SmallFile, start: Int) {
    var (file, start, added) = try SmallFile(isClosed: isClosed).appending([frame(features)])
    let checksum = try file.bytes.writerBehindFrames().previousChecksum
    let (head, extent) = (file.head, UInt64(file.bytes.count))
    for index in slots {
      try file.bytes.editSlot(index) { slot in
        slot.durableMark = UInt64(start + added.count)
        slot.head = head
        slot.extent = extent
        slot.markChecksum = checksum
        slot.announced = features
      }
    }
    return (file, start)
  }

  private func slots(_ files: any FileSystem) throws -> [RootSlot] {
    try LogLab(files, creates: false, access: .reading).log.view.file.slots().valid
  }

  /// Nobody who does not know a required feature reads the file, wherever it meets it.
  @Test(arguments: [[], [0], [1], [0, 1]], [true, false])
  func aRequiredFeatureIsMet(slots: [Int], isClosed: Bool) throws {
    let (file, start) = try AnnouncementTests.file(
      AnnouncementTests.required, isClosed: isClosed, slots: slots)
    let places = [UInt64(start)] + slots.map { FormatLimits.slotOffsets[$0] }
    for access in [FileAccess.reading, .writing] {
      let files = MemoryFileSystem()
      try files.put(file.bytes, at: LogLab.path)
      let error = #expect(throws: LogError.self) {
        _ = try LogLab(
          files, creates: false, access: access, readsUpToDamage: access == .reading)
      }
      guard case .newerReader(0x100, let offset) = error, places.contains(offset) else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(try files.contents(of: LogLab.path) == file.bytes)
    }
  }

  /// One that a writer must know leaves the file to be read.
  @Test(arguments: [[], [0], [1], [0, 1]], [true, false])
  func aWritersFeatureIsMet(slots: [Int], isClosed: Bool) throws {
    let (file, _) = try AnnouncementTests.file(
      AnnouncementTests.writers, isClosed: isClosed, slots: slots)
    let lab = try LogLab(bytes: file.bytes)
    let error = #expect(throws: LogError.self) { _ = try LogLab(lab.files, creates: false) }
    guard case .newerWriter(1 << 40) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(lab.state == file.states[file.head])
    #expect(lab.log.view.features == AnnouncementTests.writers)
    // Not even another store is made of it, which would be without.
    let plan = RewritePlan(
      base: .keep, checkpoint: true,
      destination: .new(path: "/other", store: LogLab.uuid, created: Timestamp(microseconds: 1)))
    let refusal = #expect(throws: LogError.self) { try lab.log.rewrite(plan) }
    guard case .newerWriter(1 << 40) = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
    try lab.log.close()
    #expect(try lab.contents() == file.bytes)
  }

  /// One that may be ignored is carried from slot to slot, whoever learnt of it from where, and
  /// goes into the header of the next generation.
  @Test(arguments: [[], [0], [1], [0, 1]], [true, false])
  func whatMayBeIgnoredIsCarriedOn(slots: [Int], isClosed: Bool) throws {
    let (file, start) = try AnnouncementTests.file(
      AnnouncementTests.low, isClosed: isClosed, slots: slots)
    let lab = try LogLab(bytes: file.bytes, access: .writing, opening: 8)
    let files = lab.files
    #expect(lab.state == file.states[file.head])
    try lab.commit([(99, "behind it")])
    let frame = start..<start + 40
    #expect(try lab.contents()[frame] == file.bytes[frame])
    try lab.checkpoint()
    #expect(try self.slots(files).first?.announced == AnnouncementTests.low)
    try lab.log.close()
    #expect(
      try self.slots(files).map(\.announced) == [AnnouncementTests.low, AnnouncementTests.low])
    // Another opening learns it from the slots alone: the frame lies before their marks.
    let again = try LogLab(files, creates: false, opening: 9)
    #expect(again.log.view.features == AnnouncementTests.low)
    let text = String(repeating: "a long title ", count: 30)
    for number in 1...40 { try again.commit([(Int64(number), "\(text) \(number)")]) }
    let plan = RewritePlan(base: .keep, checkpoint: true, destination: .replace)
    #expect(try again.rewrite(plan).outcome == .done)
    let header = again.log.view.file.header
    #expect(header.generation == 2 && header.features == AnnouncementTests.low)
    #expect(try self.slots(files).map(\.announced) == [.none, .none])
    #expect(again.log.view.tables.announced == .none)
    let pruned = try again.rewrite(again.prunePlan(20, again.state(at: 20)))
    #expect(pruned.outcome == .done)
    #expect(again.log.view.file.header.features == AnnouncementTests.low)
    let other = RewritePlan(
      base: .keep, checkpoint: true,
      destination: .new(
        path: "/other", store: RawUUID(high: 3, low: 4), created: Timestamp(microseconds: 1)))
    _ = try again.rewrite(other)
    #expect(
      try files.contents(of: "/other").fileHeader().features == AnnouncementTests.low)
  }

  /// A slot says what was announced before its mark and no more: of what was met and not synced yet
  /// it says nothing.
  @Test func slotsSayWhatWasSynced() throws {
    let lab = try LogLab(bytes: SmallFile(isClosed: true).bytes, access: .writing, opening: 8)
    let files = lab.files
    // The file grows, so that the next transaction begins with a slot.
    try lab.commit([(70, "grown")])
    let (_, start) = try announce(AnnouncementTests.low, in: files)
    try lab.lock()
    #expect(lab.log.view.features == AnnouncementTests.low)
    try lab.append([(72, "behind it")])
    let early = try #require(try slots(files).first)
    #expect(early.durableMark == UInt64(start) && early.announced == .none)
    try lab.log.sync()
    lab.log.unlock()
    try lab.checkpoint()
    let newest = try #require(try slots(files).first)
    #expect(newest.durableMark > UInt64(start) && newest.announced == AnnouncementTests.low)
  }

  /// Announces features at the end of the log, as another process would.
  private func announce(
    _ features: Features, in files: any FileSystem
  ) throws -> (bytes: Bytes, start: Int) {
    var now = try SmallFile(isClosed: true)
    now.bytes = try files.contents(of: LogLab.path)
    let (file, start, added) = try now.appending([AnnouncementTests.frame(features)])
    try files.overwrite(added, at: start, of: LogLab.path)
    return (file.bytes, start)
  }

  /// A writer at work learns of it when it catches up: it reads on and writes nothing more.
  @Test(arguments: [true, false]) func aWriterAtWorkStops(isCheckpoint: Bool) throws {
    let lab = try LogLab(bytes: SmallFile(isClosed: false).bytes, access: .writing, opening: 8)
    let files = lab.files
    try lab.commit([(70, "before")])
    let (bytes, _) = try announce(AnnouncementTests.writers, in: files)
    let error = #expect(throws: LogError.self) {
      if isCheckpoint { try lab.checkpoint() } else { try lab.commit([(99, "after")]) }
    }
    guard case .newerWriter(1 << 40) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try files.contents(of: LogLab.path) == bytes)
    #expect(lab.log.view.features == AnnouncementTests.writers)
    // Nor does it close the file's end, which it cannot speak for.
    try lab.log.close()
    #expect(try files.contents(of: LogLab.path) == bytes)
    #expect(try LogLab(files, creates: false, access: .reading).state == lab.state)
  }

  /// The same, closed before it has caught up.
  @Test(arguments: [AnnouncementTests.writers, AnnouncementTests.required])
  func closingLeavesTheEndToOthers(features: Features) throws {
    let lab = try LogLab(bytes: SmallFile(isClosed: false).bytes, access: .writing, opening: 8)
    let files = lab.files
    try lab.commit([(70, "before")])
    let (bytes, _) = try announce(features, in: files)
    try lab.log.close()
    #expect(try files.contents(of: LogLab.path) == bytes)
  }

  /// One that a reader must know ends its reading, too; what it has read stays.
  @Test func aReaderAtWorkStops() throws {
    let lab = try LogLab(bytes: SmallFile(isClosed: false).bytes, access: .writing, opening: 8)
    let files = lab.files
    try lab.commit([(70, "before")])
    let before = lab.state
    let (bytes, start) = try announce(AnnouncementTests.required, in: files)
    let error = #expect(throws: LogError.self) { try lab.commit([(99, "after")]) }
    guard case .newerReader(0x100, UInt64(start)) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(lab.state == before)
    #expect(try files.contents(of: LogLab.path) == bytes)
  }

  /// A rewrite has made its header when it learns of it.
  @Test(arguments: [AnnouncementTests.low, AnnouncementTests.writers])
  func aRewriteThatIsOvertakenGivesUp(features: Features) throws {
    let lab = try LogLab(bytes: SmallFile(isClosed: false).bytes, access: .writing, opening: 8)
    let files = lab.files
    try lab.commit([(70, "before")])
    let rewriter = try lab.log.rewrite(
      try lab.prunePlan(3, lab.state(at: 3)))
    try rewriter.copy()
    let (bytes, _) = try announce(features, in: files)
    try lab.lock()
    do throws(LogError) {
      #expect(try rewriter.putInPlace().outcome == .overtaken)
      #expect(features == AnnouncementTests.low)
    } catch {
      guard case .newerWriter = error else { throw error }
      #expect(features == AnnouncementTests.writers)
    }
    lab.log.unlock()
    #expect(try files.contents(of: LogLab.path) == bytes)
    #expect(try files.identity(of: LogLab.path + ".new") == nil)
  }

  /// An announcement that a crash cut short was never made.
  @Test func aTornAnnouncementIsCleared() throws {
    let (file, start) = try AnnouncementTests.file(
      AnnouncementTests.required, isClosed: false, slots: [])
    var torn = file
    torn.bytes.replaceSubrange(start + 24..<start + 40, with: Bytes(repeating: 0, count: 16))
    let lab = try LogLab(bytes: torn.bytes, access: .writing, opening: 8)
    #expect(lab.log.report.tail == .unfinished(from: UInt64(start), byteCount: 24))
    try lab.commit([(99, "in its place")])
    try lab.log.close()
    #expect(try slots(lab.files).allSatisfy { $0.announced == .none })
    #expect(try LogLab(lab.files, creates: false).state == lab.state)
  }

  /// One that was synced and is damaged is damage: nobody knows how to read on.
  @Test func aDamagedAnnouncementIsDamage() throws {
    let (file, start) = try AnnouncementTests.file(AnnouncementTests.low, slots: [0])
    // One slot is from before it, so that the walk comes by it, and the other proves it.
    let outcome = try file.outcome(of: file.bytes)
    #expect(outcome == .newest(findings: 0))
    var damaged = file
    damaged.bytes[start + 32] ^= 4
    for slots in [[], [0], [1]] as [[Int]] {
      var bytes = damaged.bytes
      for index in slots { bytes[Int(FormatLimits.slotOffsets[index]) + 9] ^= 1 }
      if slots == [0] {
        // Nothing else proves it: a torn tail.
        let lab = try LogLab(bytes: bytes, access: .writing)
        #expect(lab.state == file.states[file.head])
        continue
      }
      let error = #expect(throws: LogError.self) {
        _ = try LogLab(bytes: bytes, access: .writing)
      }
      guard case .damage(let damage) = error else {
        Issue.record("\(slots): \(String(describing: error))")
        continue
      }
      #expect(damage.offset == UInt64(start))
    }
  }

  /// One whose checksums fit and that breaks a rule is no crash's.
  @Test(arguments: [[], [1], Bytes(repeating: 0, count: 16), Bytes(repeating: 0, count: 24)])
  func anAnnouncementThatBreaksARuleIsDamage(payload: Bytes) throws {
    let (file, start, _) = try SmallFile(isClosed: false).appending(
      [(.featureAnnouncement, .skippable, payload)])
    let files = MemoryFileSystem()
    try files.put(file.bytes, at: LogLab.path)
    let error = #expect(throws: LogError.self) { _ = try LogLab(files, creates: false) }
    guard case .damage(let damage) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(damage.offset == UInt64(start))
    #expect(try files.contents(of: LogLab.path) == file.bytes)
  }

  /// The announcement before a transaction is a unit of its own: the history index names the
  /// transaction, as it does when the file is read again. It named the announcement.
  @Test(arguments: [false, true]) func theIndexNamesTheTransactionAfterIt(isLarge: Bool) throws {
    let files = MemoryFileSystem()
    let lab = try LogLab(files)
    try lab.lock()
    try lab.log.begin()
    var value = Value.string("one")
    if isLarge {
      value = .large(
        try Bytes(repeating: 7, count: 5000).withBytes { bytes throws(LogError) in
          try lab.log.appendLargeValue(bytes, tag: .data)
        })
    }
    var batch = ChangeBatch(.insert, 1, 1, [(1, .null, value)])
    var draft = lab.draft()
    draft.features = .erasure
    try lab.log.describe(draft)
    try lab.log.appendPart(&batch, isLast: true)
    _ = try lab.log.commit()
    try lab.log.sync()
    lab.log.unlock()
    let frames = try lab.contents().frames()
    let transaction = try #require(frames.last)
    let written = try lab.log.view.historyIndex()
    #expect(written.map(\.offset) == [UInt64(transaction.offset)])
    let read = try LogLab(files, creates: false, access: .reading).log.view.historyIndex()
    #expect(read == written)
  }

  /// What is in a file that does not announce it is announced by the next rewrite, at any size.
  @Test func aRewriteAnnouncesWhatTheFileUses() throws {
    let consumer = ConsumerState(
      name: "reader", kind: "", isBlocking: true, lease: nil,
      registered: Timestamp(microseconds: 1), lastSeen: Timestamp(microseconds: 1), number: 0,
      openingID: 0)
    var payload: Bytes = []
    ConsumerCodec.encode(.set(consumer), into: &payload)
    let (file, _, _) = try SmallFile(isClosed: false).appending([
      (.consumerChange, .skippable, payload)
    ])
    let lab = try LogLab(bytes: file.bytes, access: .writing, opening: 8)
    #expect(!lab.log.view.features.contains(.consumers))
    // Twice, so that the second gains nothing.
    for _ in 0..<2 {
      _ = try lab.rewrite(RewritePlan(base: .keep, checkpoint: true, destination: .replace))
    }
    #expect(lab.log.view.features.contains(.consumers))
    let again = try LogLab(lab.files, creates: false, access: .reading)
    #expect(again.log.consumers.list == [consumer])
    #expect(again.log.view.file.header.features.contains(.consumers))
  }
}
