import AnnalsFormat
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsLog

/// What root slots say of the log before their mark.
struct SlotTests {
  /// The bytes before a mark were synced: if its last frame is another, they were changed since.
  @Test(arguments: [0, 1])
  func theFrameBeforeTheMarkIsTheOneThatWasSynced(index: Int) throws {
    let file = try SmallFile(isClosed: true)
    var damaged = file.bytes
    try damaged.editSlot(index) { $0.markChecksum ^= 1 }
    let outcome = try file.outcome(of: damaged)
    #expect(outcome.isRefused, "\(outcome)")
    let lab = try LogLab(bytes: damaged, readsUpToDamage: true)
    #expect(lab.state == file.states[file.head])
    guard case .damaged(let damage) = lab.log.report.tail else {
      Issue.record("\(lab.log.report.tail)")
      return
    }
    #expect(damage.offset == UInt64(file.bytes.count))
    #expect(damage.reason.contains("root slot \(index)"))
  }

  /// The same of a mark that later transactions have left behind: opening goes by it on its way
  /// from the checkpoint.
  @Test
  func marksOnTheWayAreCompared() throws {
    let file = try SmallFile(isClosed: false)
    let slots = try (0...1).map { try file.bytes.slot($0) }
    let newest = try #require(slots.max { $0.sequence < $1.sequence })
    var damaged = file.bytes
    try damaged.editSlot(newest.index) { $0.markChecksum ^= 1 }
    let outcome = try file.outcome(of: damaged)
    #expect(outcome.isRefused, "\(outcome)")
  }

  /// The writer looks again before it clears: the slot was lost after the opening.
  @Test func aTailBesideALostSlotIsNotClearedByAnOpenWriter() throws {
    let lab = try LogLab(MemoryFileSystem())
    for number in 1...3 { try lab.commit([(Int64(number), "title")]) }
    let end = Int(lab.log.view.end)
    try lab.files.overwrite([1, 2, 3], at: end + 64, of: LogLab.path)
    try lab.files.overwrite([9], at: end, of: LogLab.path)
    let zeros = Bytes(repeating: 0, count: FormatLimits.blockLength)
    try lab.files.overwrite(zeros, at: FormatLimits.slotOffsets[0], of: LogLab.path)
    let before = try lab.contents()
    let error = #expect(throws: LogError.self) { try lab.commit([(9, "nine")]) }
    guard case .damage(let damage) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(damage.offset == UInt64(end) && damage.reason.contains("root slot 0"))
    #expect(try lab.contents() == before)
  }
}
