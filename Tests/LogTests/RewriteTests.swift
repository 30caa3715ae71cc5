import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsLog

struct RewriteTests {
  /// A log with small transactions, a large one, a large value, and a checkpoint on the way.
  private func makeLab(_ files: any FileSystem = MemoryFileSystem()) throws -> LogLab {
    let lab = try LogLab(files)
    try lab.lock()
    for number in 1...400 {
      try lab.append([(Int64(number % 90 + 1), "a title that was given in \(number)")])
    }
    try lab.appendLarge(row: 5_000, byte: 3, count: 10_000)
    let padding = String(repeating: "long ", count: 50)
    try lab.append((1...2_500).map { (row: Int64($0), title: "\(padding) title \($0)") })
    try lab.log.sync()
    lab.log.unlock()
    try lab.checkpoint()
    try lab.lock()
    for number in 1...150 {
      try lab.append([(Int64(number % 90 + 1), "later title \(number)")], author: "ben")
    }
    try lab.appendLarge(row: 5_001, byte: 4, count: 1_100_000)
    try lab.appendLarge(row: 5_000, byte: 5, count: 6_000)
    try lab.log.sync()
    lab.log.unlock()
    return lab
  }

  /// What a history says, parts of a transaction as one.
  private func merged(_ lines: [String]) -> [String] {
    lines.filter { !$0.contains(".") || $0.contains(".0 ") }
      .map { $0.split(separator: " ").prefix(6).joined(separator: " ") }
      .map { $0.contains(".0 ") ? String($0.prefix(14)) : $0 }
  }

  @Test
  func compactionKeepsEverything() throws {
    let lab = try makeLab()
    let before = try LogLab.history(lab.log.view)
    let values = try lab.largeValues()
    let report = try lab.rewrite(RewritePlan(base: .keep, checkpoint: true, destination: .replace))
    #expect(report.outcome == .done)
    #expect(report.bytesAfter < report.bytesBefore)
    #expect(report.transactions == 554)
    let state = lab.state
    #expect(try LogLab.history(lab.log.view) == before)
    #expect(try LogLab.history(lab.log.view, direction: .backward) == before.reversed())
    #expect(try lab.largeValues() == values)
    #expect(lab.log.report.start == 402)
    #expect(lab.log.view.file.header.generation == 2)
    #expect(try lab.log.view.checkpoint(atOrBefore: 500)?.number == 402)
    try lab.commit([(1, "and on")])
    try lab.log.close()
    let again = try LogLab(lab.files, creates: false)
    #expect(again.state.titles.count == state.titles.count)
    #expect(again.state == lab.state)
    #expect(again.log.report.findings.isEmpty)
    try again.reload(from: .base)
    #expect(again.state == lab.state)
    #expect(try lab.files.identity(of: LogLab.path + ".new") == nil)
  }

  /// What a checkpoint says and no transaction does comes along with it.
  @Test(arguments: [false, true])
  func theCheckpointKeepsWhatIsItsOwn(isLater: Bool) throws {
    let lab = try makeLab()
    try lab.lock()
    for row in Int64(1)...3 {
      lab.clockJumps = row < 3 || !isLater
      try lab.append([(row, "of a clock that had jumped")])
    }
    lab.clockJumps = false
    try lab.log.sync()
    lab.log.unlock()
    try lab.checkpoint()
    if isLater {
      lab.clockJumps = true
      try lab.commit([(4, "behind the checkpoint")])
      lab.clockJumps = false
      try lab.checkpoint()
    }
    let extensions: ContiguousArray<UInt8> = [9, 2, 7, 7]
    try lab.giveCheckpoint(extensions: extensions)
    #expect(lab.log.view.clockJumps == 3)
    #expect(lab.log.view.tables.extensions == extensions)
    let plan = RewritePlan(base: .keep, checkpoint: true, destination: .replace)
    #expect(try lab.rewrite(plan).outcome == .done)
    #expect(lab.log.report.start == lab.state.number)
    #expect(lab.log.view.clockJumps == 3)
    #expect(lab.log.view.tables.extensions == extensions)
    #expect(try lab.log.view.baseDirectory() == nil)
    // Those up to the base are counted there, the others in their transactions.
    let number = lab.state.number - 1
    let past = try lab.state(at: number)
    #expect(try lab.rewrite(lab.prunePlan(number, past)).outcome == .done)
    #expect(try lab.log.view.baseDirectory()?.clockJumps == 2)
    #expect(lab.log.view.clockJumps == 3)
    try lab.reload(from: .base)
    #expect(lab.log.view.clockJumps == 3)
  }

  /// What was imported may be older than 1970, and so may the base that a prune makes of it.
  @Test
  func aBaseBefore1970() throws {
    let lab = try LogLab(MemoryFileSystem())
    for (row, second) in zip(Int64(1)..., [-900, -950, -800, -700] as [Int64]) {
      lab.timestamp = Timestamp(microseconds: second * 1_000_000)
      try lab.commit([(row, "long ago")])
    }
    func numbers() throws -> [Int64] {
      try [-901, -900, -850, -800, -701, -1, 1].map {
        try lab.log.view.number(asOf: Timestamp(microseconds: $0 * 1_000_000), now: .max)
      }
    }
    #expect(try numbers() == [0, 2, 2, 3, 3, 4, 4])
    try lab.checkpoint()
    #expect(try numbers() == [0, 2, 2, 3, 3, 4, 4])
    #expect(try lab.rewrite(lab.prunePlan(2, lab.state(at: 2))).outcome == .done)
    #expect(lab.log.view.file.header.baseTimestamp.microseconds == -900_000_000)
    #expect(try numbers() == [2, 2, 2, 3, 3, 4, 4])
    try lab.reload(from: .base)
    #expect(try numbers() == [2, 2, 2, 3, 3, 4, 4])
  }

  /// A checkpoint whose directory cannot be read stands in the midst of a segment of history.
  @Test(arguments: [9, 10, 11, 15] as [Int64])
  func pruningGoesOverADamagedCheckpoint(base: Int64) throws {
    let made = try LogLab(MemoryFileSystem())
    for number in 1...20 {
      try made.commit([(Int64(number % 7 + 1), "a title that was given in \(number)")])
      if number == 10 { try made.checkpoint() }
    }
    let place = try #require(made.log.view.tables.checkpoint)
    let past = try made.state(at: base)
    try made.log.close()
    var bytes = try made.files.contents(of: LogLab.path)
    bytes[Int(place.offset) + 30] ^= 1
    try made.files.put(bytes, at: LogLab.path)
    let lab = try LogLab(made.files, creates: false)
    #expect(lab.log.report.findings.count == 2)
    let kept = try LogLab.history(lab.log.view, after: base)
    #expect(try lab.rewrite(try lab.prunePlan(base, past)).outcome == .done)
    #expect(lab.state == made.state)
    #expect(try LogLab.history(lab.log.view) == kept)
    #expect(try lab.state(at: base) == past)
  }

  @Test
  func theSmallestFileHasNoCheckpoint() throws {
    let lab = try makeLab()
    let state = lab.state
    let first = try lab.rewrite(RewritePlan(base: .keep, checkpoint: true, destination: .replace))
    let second = try lab.rewrite(RewritePlan(base: .keep, checkpoint: false, destination: .replace))
    #expect(second.outcome == .done)
    #expect(second.bytesAfter < first.bytesAfter)
    #expect(lab.log.report.start == 0)
    #expect(lab.state == state)
    let third = try lab.rewrite(RewritePlan(base: .keep, checkpoint: false, destination: .replace))
    #expect(third.outcome == .nothingGained)
    #expect(lab.log.view.file.header.generation == 3)
    try lab.commit([(1, "and on")])
  }

  @Test(arguments: [1, 120, 401, 402, 553, 554] as [Int64])
  func pruningKeepsWhatFollowsTheBase(base: Int64) throws {
    let lab = try makeLab()
    let all = try LogLab.history(lab.log.view)
    let kept = try LogLab.history(lab.log.view, after: base)
    let past = try lab.state(at: base)
    let state = lab.state
    let report = try lab.rewrite(try lab.prunePlan(base, past))
    #expect(report.outcome == .done)
    let view = lab.log.view
    #expect(view.base == base)
    #expect(view.file.header.prunedBy == "cleaner")
    #expect(view.file.header.prunedAt == Timestamp(microseconds: 99))
    #expect(lab.state == state)
    #expect(try LogLab.history(view) == kept)
    #expect(all.hasSuffix(kept))
    #expect(try lab.state(at: base) == past)
    #expect(try view.position(of: base).maximumTimestamp.microseconds == base * 1_000_000)
    #expect(try view.position(of: base).openingID == 7)
    #expect(throws: LogError.self) { try view.position(of: base - 1) }
    for value in try lab.largeValues() { #expect(value.hasPrefix("large")) }
    // Again, compacted, reopened from the base, and written on.
    try lab.commit([(1, "and on")])
    _ = try lab.rewrite(RewritePlan(base: .keep, checkpoint: true, destination: .replace))
    #expect(try lab.state(at: base) == past)
    try lab.log.close()
    let again = try LogLab(lab.files, creates: false, opening: 8)
    #expect(again.state == lab.state)
    try again.commit([(2, "more")])
    #expect(again.log.view.openings.map(\.id) == [7, 8])
    try again.reload(from: .base)
    #expect(again.log.report.start == base)
    #expect(again.log.view.names.count == again.log.view.tables.names.count)
  }

  @Test
  func writersGoOnWhileTheFileIsCopied() throws {
    let lab = try makeLab()
    let rewriter = try lab.log.rewrite(
      RewritePlan(base: .keep, checkpoint: true, destination: .replace))
    try rewriter.copy()
    try lab.commit([(7, "meanwhile"), (8, "and another")])
    let other = try LogLab(lab.files, creates: false, opening: 9)
    try other.commit([(9, "from another process")])
    try lab.lock()
    let report = try rewriter.putInPlace()
    #expect(report.outcome == .done)
    try lab.reload()
    lab.log.unlock()
    #expect(lab.state.titles[7] == "meanwhile")
    #expect(lab.state.titles[9] == "from another process")
    #expect(try other.log.standing() == .replaced)
    try other.commit([(10, "after the rewrite")])
    #expect(other.log.view.file.header.generation == 2)
    try lab.commit([(11, "mine")])
    #expect(lab.state.titles[10] == "after the rewrite")
    #expect(lab.state.number == 558)
    #expect(try LogLab(lab.files, creates: false, access: .reading).state == lab.state)
  }

  @Test
  func aViewReadsOnInTheGenerationItWasTakenFrom() throws {
    let lab = try makeLab()
    let view = lab.log.view
    let before = try LogLab.history(view)
    _ = try lab.rewrite(try lab.prunePlan(500, try lab.state(at: 500)))
    #expect(try LogLab.history(view) == before)
    #expect(lab.log.view.base == 500)
  }

  @Test
  func replayMakesAnotherStore() throws {
    let lab = try makeLab()
    let other = RawUUID(high: 9, low: 9)
    for (number, flattens) in [
      (120, false), (402, false), (554, false), (120, true), (553, true),
    ] {
      let number = Int64(number)
      let past = try lab.state(at: number)
      var base = RewritePlan.Base.keep
      if flattens { base = try lab.prunePlan(number, past, isPruned: false).base }
      let path = "/copy \(number) \(flattens)"
      let rewriter = try lab.log.rewrite(
        RewritePlan(
          base: base, through: number, checkpoint: true,
          destination: .new(path: path, store: other, created: Timestamp(microseconds: 5))))
      try rewriter.copy()
      #expect(try rewriter.putInPlace().outcome == .done)
      var recovery = try LogFile.recover(
        at: path, in: lab.files, LogOptions(access: .writing))
      let state = try Titles(&recovery)
      let log = try LogFile(recovery)
      #expect(log.store == other)
      #expect(state == past)
      #expect(log.view.base == (flattens ? number : 0))
      #expect(log.view.head.number == number)
      #expect(
        try LogLab.history(log.view)
          == LogLab.history(lab.log.view, after: flattens ? number : 0, through: number))
      #expect(throws: LogError.self) {
        try lab.log.rewrite(
          RewritePlan(
            base: .keep, checkpoint: true,
            destination: .new(path: path, store: other, created: Timestamp(microseconds: 5))))
      }
    }
  }

  @Test
  func aFileWithTwoNamesIsRefused() throws {
    let files = MemoryFileSystem()
    let lab = try LogLab(files)
    try lab.commit([(1, "one")])
    try files.link(LogLab.path, to: "/other name")
    #expect(throws: LogError.self) {
      try lab.log.rewrite(RewritePlan(base: .keep, checkpoint: true, destination: .replace))
    }
  }
}

extension [String] {
  fileprivate func hasSuffix(_ other: [String]) -> Bool {
    count >= other.count && Array(self[(count - other.count)...]) == other
  }
}
