import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsLog

struct AppendTests {
  @Test
  func aNewLogIsEmptyAndOpensAgain() throws {
    let files = MemoryFileSystem()
    let lab = try LogLab(files)
    #expect(lab.log.view.head.number == 0)
    #expect(lab.log.report.tail == .clean)
    try lab.log.close()
    #expect(files.paths == [LogLab.path])
    let again = try LogLab(files, creates: false)
    #expect(again.log.view.head.number == 0)
    let other = NewLog(store: .zero, created: Timestamp(microseconds: 0))
    #expect(try LogFile.create(at: LogLab.path, in: files, other) == false)
  }

  @Test
  func whatIsCommittedIsThereAfterReopening() throws {
    let files = MemoryFileSystem()
    let lab = try LogLab(files)
    for number in 1...100 {
      try lab.commit([(Int64(number % 7 + 1), "title \(number)")])
    }
    let view = lab.log.view
    #expect(view.head.number == 100)
    #expect(view.names == ["ann", "lab"])
    #expect(view.openings.map(\.id) == [7])
    #expect(view.head.openingID == 7)
    // Not closed: as after a kill.
    let killed = try LogLab(files, creates: false, access: .reading)
    #expect(killed.state == lab.state)
    #expect(killed.log.report.tail == .unclosed)
    try lab.log.close()
    let closed = try LogLab(files, creates: false)
    #expect(closed.state == lab.state)
    #expect(closed.log.report.tail == .clean)
    #expect(closed.log.report.findings.isEmpty)
    #expect(try LogLab.history(closed.log.view) == LogLab.history(view))
  }

  @Test
  func historyReadsBothWaysAndByRange() throws {
    let lab = try LogLab(MemoryFileSystem())
    try lab.lock()
    for number in 1...2_000 {
      try lab.append([(Int64(number), "some title of this transaction \(number)")])
    }
    try lab.log.sync()
    lab.log.unlock()
    let view = lab.log.view
    #expect(view.tables.index.table.count > 2)
    let all = try LogLab.history(view)
    #expect(all.count == 2_000)
    #expect(all.first?.hasPrefix("1 1 ann") == true)
    #expect(try LogLab.history(view, direction: .backward) == all.reversed())
    for (after, through) in [(0, 1), (0, 0), (1_999, 2_000), (700, 1_900), (1_234, 1_235)] {
      let part = Array(all[after..<through])
      let (after, through) = (Int64(after), Int64(through))
      #expect(try LogLab.history(view, after: after, through: through) == part)
      #expect(
        try LogLab.history(view, after: after, through: through, direction: .backward)
          == part.reversed())
    }
    #expect(throws: LogError.self) { try view.history(after: -1, through: 3) }
    #expect(throws: LogError.self) { try view.history(after: 0, through: 2_001) }
  }

  /// Which opening wrote a transaction is known without reading where one wrote the last of them,
  /// and then as reading says.
  @Test
  func openingsThatTakeTurns() throws {
    let files = MemoryFileSystem()
    let labs = [try LogLab(files), try LogLab(files, creates: false, opening: 8)]
    var ids: [UInt64] = [0]
    for turn in [0, 0, 1, 0, 1, 1, 1, 0, 0, 0, 1] {
      try labs[turn].commit([(1, "t\(ids.count)")])
      ids.append(turn == 0 ? 7 : 8)
      // The other has not looked yet; a new one has read all there is.
      for lab in [labs[turn], try LogLab(files, creates: false, access: .reading)] {
        let view = lab.log.view
        for number in 0..<Int64(ids.count) {
          #expect(try view.openingID(of: number) == ids[Int(number)], "\(number) of \(ids)")
          #expect(try view.position(of: number).openingID == ids[Int(number)])
        }
        #expect(throws: LogError.self) { try view.openingID(of: Int64(ids.count)) }
        #expect(throws: LogError.self) { try view.openingID(of: -1) }
      }
    }
    try labs[0].checkpoint()
    let fresh = try LogLab(files, creates: false, access: .reading)
    #expect(try (0..<Int64(ids.count)).map { try fresh.log.view.openingID(of: $0) } == ids)
  }

  /// Of what lies before or behind the transactions asked for, only the numbers are looked at.
  @Test
  func damageBesideWhatIsReadIsLeftAlone() throws {
    let files = MemoryFileSystem()
    let lab = try LogLab(files)
    for number in 1...6 { try lab.commit([(Int64(number), "title \(number)")]) }
    // A log is opened from its checkpoint: what lies before is not looked at.
    try lab.checkpoint()
    let all = try LogLab.history(lab.log.view)
    try lab.log.close()
    var bytes = try files.contents(of: LogLab.path)
    let title = Array("title 3".utf8)
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: title) })
    bytes[place] ^= 1
    try files.put(bytes, at: LogLab.path)
    let view = try LogLab(files, creates: false, access: .reading).log.view
    for (after, through) in [(0, 2), (3, 6), (4, 5), (5, 6)] {
      let (after, through) = (Int64(after), Int64(through))
      for direction in [HistoryDirection.forward, .backward] {
        let part = Array(all[Int(after)..<Int(through)])
        #expect(
          try LogLab.history(view, after: after, through: through, direction: direction)
            == (direction == .forward ? part : part.reversed()))
      }
    }
    for (after, through) in [(0, 6), (2, 3), (0, 3), (2, 6)] {
      #expect(throws: LogError.self) {
        try LogLab.history(view, after: Int64(after), through: Int64(through))
      }
    }
  }

  @Test
  func positionsByNumberAndDate() throws {
    let lab = try LogLab(MemoryFileSystem())
    try lab.lock()
    // Every 10th transaction was imported with a timestamp of long ago.
    for number in 1...2_000 {
      var batch = LogLab.batch([(1, "t\(number)")], old: lab.state)
      let moment = number % 10 == 0 ? 5 : Int64(number) * 10
      _ = try lab.log.append(
        TransactionEnvelope(timestamp: Timestamp(microseconds: moment)), &batch)
    }
    let view = lab.log.view
    for number in [1, 2, 9, 10, 11, 999, 1_000, 1_999, 2_000] as [Int64] {
      let position = try view.position(of: number)
      #expect(position.number == number)
      #expect(position.timestamp.microseconds == (number % 10 == 0 ? 5 : number * 10))
      #expect(
        position.maximumTimestamp.microseconds == (number % 10 == 0 ? number - 1 : number) * 10)
      #expect(position.openingID == 7)
    }
    func asOf(_ moment: Int64) throws -> Int64 {
      try view.number(asOf: Timestamp(microseconds: moment), now: .max)
    }
    func before(_ moment: Int64) throws -> Int64 {
      try view.number(before: Timestamp(microseconds: moment), now: .max)
    }
    #expect(try asOf(0) == 0)
    #expect(try asOf(9) == 0)
    #expect(try asOf(10) == 1)
    #expect(try before(10) == 0)
    #expect(try before(11) == 1)
    #expect(try asOf(90) == 10)
    #expect(try before(90) == 8)
    #expect(try asOf(15_555) == 1_555)
    #expect(try asOf(1_000_000) == 2_000)
    #expect(try view.position(of: 0).number == 0)
  }

  @Test
  func aLargeTransactionIsWrittenInPartsAndReadPartByPart() throws {
    let files = MemoryFileSystem()
    let lab = try LogLab(files)
    try lab.commit([(1, "before")])
    let padding = String(repeating: "long ", count: 50)
    let many = (1...3_000).map { (row: Int64($0), title: "\(padding) title \($0)") }
    try lab.commit(many)
    try lab.commit([(1, "after")])
    let view = lab.log.view
    let lines = try LogLab.history(view)
    #expect(lines.count > 4)
    #expect(lines.first?.hasPrefix("1 ") == true)
    #expect(lines[1].hasPrefix("2.0 2 ann "))
    #expect(lines[2].hasPrefix("2.1 2 ann "))
    #expect(lines.last?.hasPrefix("3 3 ann") == true)
    #expect(try LogLab.history(view, direction: .backward) == lines.reversed())
    #expect(try LogLab(files, creates: false, access: .reading).state == lab.state)
    #expect(try view.position(of: 2).timestamp.microseconds == 2_000_000)
    #expect(view.changeCount == 3_002)
  }

  /// A table keeps its newest entries behind its chunks of 1,024.
  @Test func largeValuesAreFoundOnBothSidesOfAChunksEnd() throws {
    let lab = try LogLab(MemoryFileSystem())
    try lab.lock()
    for row in 1...Int64(1_030) { try lab.appendLarge(row: row, byte: 7, count: Int(row)) }
    try lab.log.sync()
    lab.log.unlock()
    try lab.checkpoint()
    for row in [1, 1_023, 1_024, 1_025, 1_026, 1_030] as [Int64] {
      let value = try #require(lab.large[row])
      #expect(try lab.log.view.bytes(of: value).count == Int(row))
    }
  }

  @Test
  func largeValuesAreWrittenBesideAndReadBack() throws {
    let files = MemoryFileSystem()
    let lab = try LogLab(files)
    let sizes = [5_000, 1 << 20, (1 << 20) + 1, 3_500_000]
    try lab.lock()
    try lab.log.begin()
    var values: [LargeValue] = []
    var batch = ChangeBatch()
    for (index, size) in sizes.enumerated() {
      let bytes = ContiguousArray((0..<size).map { UInt8(truncatingIfNeeded: $0 * (index + 3)) })
      let value = try bytes.withBytes { bytes throws(LogError) in
        try lab.log.appendLargeValue(bytes, tag: .data)
      }
      values.append(value)
      #expect(try lab.log.pendingBytes(of: value) == bytes)
      batch.append(.insert, 1, Int64(index + 1), [(1, .null, .large(value))])
    }
    try lab.log.describe(lab.draft())
    try lab.log.appendPart(&batch, isLast: true)
    #expect(lab.log.view.head.number == 0)
    _ = try lab.log.commit()
    try lab.log.sync()
    try lab.log.close()
    let again = try LogLab(files, creates: false)
    for (index, value) in values.enumerated() {
      let bytes = try again.log.view.bytes(of: value)
      #expect(bytes.count == sizes[index])
      #expect(bytes.withUnsafeBytes { Checksum.crc32($0) } == value.checksum)
    }
    #expect(throws: LogError.self) {
      try again.log.view.bytes(of: LargeValue(tag: .data, number: 99, length: 1, checksum: 0))
    }
  }

  @Test
  func anAbortLeavesNoTrace() throws {
    let files = MemoryFileSystem()
    let lab = try LogLab(files)
    try lab.commit([(1, "one")])
    let before = try files.contents(of: LogLab.path)
    let end = Int(lab.log.view.end)
    try lab.lock()
    try lab.log.begin()
    let bytes = ContiguousArray<UInt8>(repeating: 9, count: 5 << 20)
    _ = try bytes.withBytes { bytes throws(LogError) in
      try lab.log.appendLargeValue(bytes, tag: .data)
    }
    try lab.log.describe(lab.draft(author: "nobody"))
    var batch = LogLab.batch([(2, "two")], old: lab.state)
    try lab.log.appendPart(&batch, isLast: false)
    lab.log.abort()
    lab.log.unlock()
    let after = try files.contents(of: LogLab.path)
    let log = Int(FormatLimits.logStart)..<end
    let isKept = after[log] == before[log]
    let isZero = !after.dropFirst(end).contains { $0 != 0 }
    #expect(isKept)
    #expect(isZero)
    #expect(lab.log.view.names == ["ann", "lab"])
    try lab.commit([(1, "uno")])
    #expect(try LogLab(files, creates: false).state == lab.state)
  }

  @Test
  func checkpointsShortenTheReplay() throws {
    let files = MemoryFileSystem()
    let lab = try LogLab(files)
    for number in 1...50 { try lab.commit([(Int64(number % 9 + 1), "t\(number)")]) }
    try lab.checkpoint()
    #expect(lab.log.changesSinceCheckpoint == 0)
    #expect(lab.log.bytesSinceCheckpoint == 0)
    for number in 51...60 { try lab.commit([(Int64(number % 9 + 1), "t\(number)")]) }
    #expect(lab.log.changesSinceCheckpoint == 10)
    let open = try LogLab(files, creates: false, access: .reading)
    #expect(open.state == lab.state)
    #expect(open.log.report.start == 50)
    #expect(open.log.report.replayedTransactions == 10)
    #expect(try LogLab.history(open.log.view) == LogLab.history(lab.log.view))
    #expect(try open.log.view.checkpoint(atOrBefore: 55)?.number == 50)
    #expect(try open.log.view.checkpoint(atOrBefore: 49)?.number == nil)
    try lab.checkpoint()
    #expect(try lab.log.view.checkpoint(atOrBefore: 55)?.number == 50)
    #expect(try lab.log.view.checkpoint(atOrBefore: 60)?.number == 60)
    try lab.log.close()
    let closed = try LogLab(files, creates: false)
    #expect(closed.state == lab.state)
    #expect(closed.log.report.replayedTransactions == 0)
    try closed.reload(from: .base)
    #expect(closed.state == lab.state)
    #expect(closed.log.report.replayedTransactions == 60)
  }
}
