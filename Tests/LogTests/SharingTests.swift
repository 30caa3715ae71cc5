import AnnalsFaults
import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import SystemPackage
import Testing

@testable import AnnalsLog

/// Two logs on one file behave as two processes.
@Suite(.deadline) struct SharingTests {
  @Test
  func writersTakeTurnsAndCatchUp() throws {
    let files = MemoryFileSystem()
    let one = try LogLab(files, opening: 1)
    let two = try LogLab(files, creates: false, opening: 2)
    let reader = try LogLab(files, creates: false, access: .reading)
    for number in 1...20 {
      let (lab, other) = number % 2 == 0 ? (one, two) : (two, one)
      try lab.lock()
      #expect(throws: LogError.self) { try other.lock() }
      try lab.append([(Int64(number), "title \(number)")], author: "author \(number % 3)")
      try lab.log.sync()
      lab.log.unlock()
      #expect(try other.log.standing() == .behind)
      #expect(try reader.log.standing() == .behind)
      try reader.catchUp()
      #expect(try reader.log.standing() == .current)
      #expect(reader.state == lab.state)
      if number == 9 { try lab.checkpoint() }
    }
    for lab in [one, two] {
      try lab.lock()
      lab.log.unlock()
    }
    #expect(one.state == two.state)
    #expect(one.log.view.names == two.log.view.names)
    #expect(one.log.view.openings.map(\.id) == [2, 1])
    #expect(try LogLab.history(one.log.view) == LogLab.history(two.log.view))
    try one.log.close()
    // The other goes on behind a clean end.
    try two.commit([(1, "on")])
    try two.log.close()
    let last = try LogLab(files, creates: false)
    #expect(last.state == two.state)
    #expect(last.log.report.tail == .clean)
  }

  @Test
  func aWriterThatIsKilledBlocksNobody() throws {
    let files = FaultyFileSystem()
    let other = try LogLab(files, opening: 2)
    try other.commit([(1, "one")])
    let killed = try LogLab(files, creates: false, opening: 3)
    try killed.lock()
    try killed.log.begin()
    let bytes = ContiguousArray<UInt8>(repeating: 5, count: 1_200_000)
    _ = try bytes.withBytes { bytes throws(LogError) in
      try killed.log.appendLargeValue(bytes, tag: .data)
    }
    // The lock goes with the process; what it was writing stays.
    killed.log.state.withLock { $0.generation.file.close() }
    #expect(try other.log.standing() == .behind)
    let reader = try LogLab(files, creates: false, access: .reading)
    #expect(reader.state == other.state)
    guard case .unfinished = reader.log.report.tail else {
      Issue.record("\(reader.log.report.tail)")
      return
    }
    try other.commit([(2, "two")])
    #expect(try LogLab(files, creates: false, access: .reading).state == other.state)
    let fresh = try LogLab(files, creates: false, opening: 4)
    #expect(fresh.state == other.state)
    try fresh.commit([(3, "three")])
    try other.commit([(4, "four")])
    #expect(other.state.titles.count == 4)
  }

  @Test
  func aReaderThatSawWhatIsGoneIsTold() throws {
    let files = FaultyFileSystem()
    let writer = try LogLab(files)
    try writer.commit([(1, "one")])
    let other = try LogLab(files, creates: false, opening: 2)
    try writer.lock()
    try writer.append([(1, "never synced")])
    try other.catchUp()
    #expect(other.state.titles[1] == "never synced")
    files.inject(FaultInjection(.sync, .ioError))
    #expect(throws: LogError.self) { try writer.log.sync() }
    writer.log.unlock()
    #expect(throws: LogError.self) { try other.log.standing() }
    #expect(throws: LogError.self) { try other.log.lock(.none) }
    try other.reload()
    #expect(other.state.titles[1] == "one")
    try other.append([(1, "another two")])
    try other.log.sync()
    other.log.unlock()
    #expect(try LogLab(files, creates: false).state == other.state)
  }

  @Test
  func anotherStoreInItsPlaceIsRefused() throws {
    let files = MemoryFileSystem()
    let lab = try LogLab(files)
    try lab.commit([(1, "one")])
    let old = try files.contents(of: LogLab.path)
    try files.remove(LogLab.path)
    #expect(throws: LogError.self) { try lab.lock() }
    _ = try LogFile.create(
      at: LogLab.path, in: files,
      NewLog(store: RawUUID(high: 1, low: 1), created: Timestamp(microseconds: 0)))
    #expect(throws: LogError.self) { try lab.lock() }
    // A copy of itself has the generation that it has: not a successor.
    try files.put(old, at: LogLab.path)
    #expect(throws: LogError.self) { try lab.lock() }
    #expect(throws: LogError.self) { try lab.log.standing() }
  }

  /// As `cp` writes over a file: it stays the same one, with other bytes.
  @Test(arguments: [true, false])
  func bytesOfAnotherStoreOverItsOwnAreRefused(isRewritten: Bool) throws {
    let files = MemoryFileSystem()
    let lab = try LogLab(files)
    for number in 1...100 { try lab.commit([(1, "title \(number)")]) }
    let file = try files.open(LogLab.path, for: .writing)
    let other = MemoryFileSystem()
    if isRewritten {
      try other.put(try files.contents(of: LogLab.path), at: LogLab.path)
      let copy = try LogLab(other, creates: false)
      let plan = RewritePlan(base: .keep, checkpoint: false, destination: .replace)
      #expect(try copy.rewrite(plan).outcome == .done)
      try copy.log.close()
    } else {
      _ = try LogFile.create(
        at: LogLab.path, in: other,
        NewLog(store: RawUUID(high: 1, low: 1), created: Timestamp(microseconds: 0)))
    }
    let bytes = try other.contents(of: LogLab.path)
    try file.truncate(to: 0)
    try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    for _ in 1...2 {
      #expect {
        try lab.lock()
      } throws: {
        if case .foreign? = $0 as? LogError { true } else { false }
      }
      #expect(throws: LogError.self) { try lab.log.standing() }
    }
    #expect(try files.contents(of: LogLab.path) == bytes)
  }

  @Test
  func syncsOverlapWithTheNextGroup() throws {
    let files = FaultyFileSystem(syncDelay: .milliseconds(2))
    let lab = try LogLab(files)
    try lab.lock()
    let isDone = Locked(false)
    let log = lab.log
    let syncer = try WorkerThread(name: "syncer")
    let synced = Locked<[Int64]>([])
    _ = syncer.submit {
      while !isDone.withLock({ $0 }) {
        guard let position = try? log.sync() else { break }
        synced.withLock { $0.append(position.number) }
      }
    }
    for number in 1...400 { try lab.append([(Int64(number), "title \(number)")]) }
    isDone.withLock { $0 = true }
    syncer.stop()
    let numbers = synced.withLock { $0 }
    #expect(numbers == numbers.sorted())
    try lab.log.sync()
    lab.log.unlock()
    files.cutPower()
    files.forEachSurvivor { survivor in
      let state = try? LogLab(survivor.files, creates: false, access: .reading).state
      #expect(state == lab.state)
    }
  }

  @Test
  func twoMakersMakeOneStore() throws {
    let files = MemoryFileSystem()
    let made = Locked(0)
    var workers: [WorkerThread] = []
    for index in 0..<4 {
      let worker = try WorkerThread(name: "maker \(index)")
      _ = worker.submit {
        let new = NewLog(
          store: RawUUID(high: 1, low: UInt64(index + 1)), created: Timestamp(microseconds: 0))
        if (try? LogFile.create(at: LogLab.path, in: files, new)) == true {
          made.withLock { $0 += 1 }
        }
      }
      workers.append(worker)
    }
    for worker in workers { worker.stop() }
    #expect(made.withLock { $0 } == 1)
    #expect(files.paths == [LogLab.path])
    _ = try LogLab(files, creates: false)
  }
}
