import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsLog

/// Recovery and catching up step by step: what follows a step that whoever keeps the state rejects,
/// and what remains of one that is dropped.
struct RecoveryStepTests {
  private let files = MemoryFileSystem()

  /// The refusal of a state.
  private struct Refusal: Error, Equatable {}

  /// A log with the transactions 1 to 4, of which the last is in three parts, and a checkpoint
  /// after transaction 2 if asked for.
  private func makeLab(checkpoint: Bool = true) throws -> LogLab {
    let lab = try LogLab(files)
    try lab.commit([(1, "one")])
    try lab.commit([(2, "two")])
    if checkpoint { try lab.checkpoint() }
    try lab.commit([(3, "three")])
    try lab.lock()
    try lab.appendParts([[(4, "four")], [(5, "five")], [(6, "six")]])
    try lab.log.sync()
    lab.log.unlock()
    return lab
  }

  private func recover(
    _ access: FileAccess = .reading, readsUpToDamage: Bool = false
  ) throws -> LogRecovery {
    try LogFile.recover(
      at: LogLab.path, in: files, LogOptions(access: access, readsUpToDamage: readsUpToDamage))
  }

  /// The transaction whose state the next step is to restore; nil if it is another step.
  private func nextStart(_ recovery: inout LogRecovery) throws -> Int64? {
    var batch = ChangeBatch()
    guard case .restore(let start)? = try recovery.next(into: &batch) else { return nil }
    return start.number
  }

  @Test func aRejectedCheckpointLeadsToTheBase() throws {
    let lab = try makeLab()
    var recovery = try recover()
    #expect(try nextStart(&recovery) == 2)
    try recovery.reject(Refusal())
    let state = try Titles(&recovery)
    #expect(state == lab.state)
    let report = try LogFile(recovery).report
    #expect(report.start == 0 && report.replayedTransactions == 4)
    #expect(report.findings.count == 1 && report.findings.first?.subject == .checkpoint)
  }

  /// Also once transactions were applied to the state: they come again, from the base.
  @Test func aRejectedBatchLeadsToTheBase() throws {
    let lab = try makeLab()
    var recovery = try recover()
    #expect(try nextStart(&recovery) == 2)
    var batch = ChangeBatch()
    for _ in 1...2 {
      guard case .apply? = try recovery.next(into: &batch) else {
        Issue.record("no batch")
        return
      }
    }
    try recovery.reject(Refusal())
    #expect(try nextStart(&recovery) == 0)
    let state = try Titles(&recovery)
    #expect(state.number == lab.state.number && state.titles == lab.state.titles)
    #expect(try LogFile(recovery).report.findings.count == 1)
  }

  @Test func aRejectedBaseIsTheEnd() throws {
    _ = try makeLab()
    var recovery = try recover()
    #expect(try nextStart(&recovery) == 2)
    try recovery.reject(Refusal())
    #expect(try nextStart(&recovery) == 0)
    let error = #expect(throws: LogError.self) { try recovery.reject(Refusal()) }
    guard case .interrupted(let inner)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(inner as? Refusal == Refusal())
  }

  /// Each part of the last transaction is rejected in turn. A misfit is damage where its frame is:
  /// reading up to it begins again with the same start, and ends with the last whole transaction.
  @Test(arguments: 0..<3 as Range<UInt32>)
  func aMisfitIsReadUpTo(part: UInt32) throws {
    let lab = try makeLab()
    let blocks = try lab.contents().frames().filter { $0.header.kind == .block }
    let offset = UInt64(blocks[Int(part)].offset)
    for readsUpToDamage in [true, false] {
      var recovery = try recover(readsUpToDamage: readsUpToDamage)
      // Twice: from the checkpoint and, without reading up to damage, from the base.
      for start in readsUpToDamage ? [2] : [2, 0] {
        #expect(try nextStart(&recovery) == Int64(start))
        try advance(&recovery, toPart: part)
        let misfit = TransactionMisfit(number: 4, part: part, reason: "it is tested")
        guard start == 0 else {
          try recovery.reject(misfit)
          continue
        }
        let error = #expect(throws: LogError.self) { try recovery.reject(misfit) }
        #expect(error?.misfit?.offset == offset)
      }
      guard readsUpToDamage else { continue }
      let state = try Titles(&recovery)
      #expect(state.number == 3 && state.titles == [1: "one", 2: "two", 3: "three"])
      let report = try LogFile(recovery).report
      #expect(report.start == 2 && report.replayedTransactions == 1)
      guard case .damaged(let damage) = report.tail else {
        Issue.record("\(report.tail)")
        continue
      }
      #expect(damage.offset == offset)
    }
  }

  /// Takes batches up to the one with this part of transaction 4.
  private func advance(_ recovery: inout LogRecovery, toPart part: UInt32) throws {
    var batch = ChangeBatch()
    while case .apply? = try recovery.next(into: &batch) {
      if batch.transactions.contains(where: { $0.number == 4 && $0.part == part }) { return }
    }
    throw TestFailure("part \(part) did not come")
  }

  /// Damage is judged again under the lock, which is held until the recovery has ended or is
  /// dropped.
  @Test(arguments: [true, false])
  func theSecondLookHoldsTheLock(isDropped: Bool) throws {
    let lab = try makeLab(checkpoint: false)
    do {
      var recovery = try recover(.writing)
      #expect(try nextStart(&recovery) == 0)
      try lab.lock()
      lab.log.unlock()
      try recovery.reject(LogError.damage(at: 5, "it is tested"))
      #expect(throws: LogError.self) { try lab.lock() }
      if !isDropped {
        let state = try Titles(&recovery)
        #expect(state == lab.state)
        try lab.lock()
        lab.log.unlock()
      }
    }
    try lab.commit([(7, "seven")])
    // There is no third look.
    var recovery = try recover(.writing)
    for isLast in [false, true] {
      #expect(try nextStart(&recovery) == 0)
      do {
        try recovery.reject(LogError.damage(at: 5, "it is tested"))
        #expect(!isLast)
      } catch {
        #expect(isLast)
      }
    }
  }

  @Test func aDroppedCatchUpChangesNothing() throws {
    let reader = try LogLab(files, access: .reading)
    #expect(try reader.log.catchUp().map { _ in true } == nil)
    let lab = try makeLab()
    var batch = ChangeBatch()
    for _ in 1...2 {
      var catchUp = try #require(try reader.log.catchUp())
      #expect(try catchUp.next(into: &batch))
      #expect(batch.transactions.first?.number == 1)
    }
    #expect(reader.log.view.head.number == 0)
    #expect(try reader.log.standing() == .behind)
    try reader.catchUp()
    #expect(reader.state == lab.state)
    #expect(try reader.log.standing() == .current)
  }

  /// The error of who could not apply a batch tells where the transaction is.
  @Test func aMisfitMetWhileCatchingUp() throws {
    let reader = try LogLab(files, access: .reading)
    let lab = try makeLab()
    let frame = try #require(try lab.contents().frames().first { $0.header.kind == .transaction })
    var catchUp = try #require(try reader.log.catchUp())
    var batch = ChangeBatch()
    #expect(try catchUp.next(into: &batch))
    let error = catchUp.locating(TransactionMisfit(number: 1, reason: "it is tested"))
    #expect(error.misfit?.offset == UInt64(frame.offset))
    #expect(catchUp.locating(Refusal()).misfit == nil)
  }
}
