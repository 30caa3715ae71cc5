import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import Testing

@testable import AnnalsLog

/// What root slots say of the log before their mark.
struct SlotTests {
  /// The bytes with one root slot changed, its checksum made to fit.
  private func bytes(
    of file: SmallFile, slot index: Int, _ edit: (inout RootSlot) -> Void
  ) throws -> [UInt8] {
    let header = try file.bytes.withUnsafeBytes { try FileHeader.decode($0) }
    let start = Int(FormatLimits.slotOffsets[index])
    let block = Array(file.bytes[start..<start + FormatLimits.blockLength])
    var slot = try block.withUnsafeBytes {
      try RootSlot.decode($0, index: index, seed: header.seed)
    }
    edit(&slot)
    var result = file.bytes
    result.replaceSubrange(
      start..<start + FormatLimits.blockLength, with: Array(slot.encode(seed: header.seed)))
    return result
  }

  private func isRefused(_ outcome: DamageOutcome) -> Bool {
    if case .refused = outcome { true } else { false }
  }

  /// The bytes before a mark were synced: if its last frame is another, they were changed since.
  @Test(arguments: [0, 1])
  func theFrameBeforeTheMarkIsTheOneThatWasSynced(index: Int) throws {
    let file = try SmallFile(isClosed: true)
    let damaged = try bytes(of: file, slot: index) { $0.markChecksum ^= 1 }
    let outcome = try file.outcome(of: damaged)
    #expect(isRefused(outcome), "\(outcome)")
    let files = MemoryFileSystem()
    try files.put(damaged, at: LogLab.path)
    let lab = try LogLab(files, creates: false, access: .reading, readsUpToDamage: true)
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
    let header = try file.bytes.withUnsafeBytes { try FileHeader.decode($0) }
    var slots: [RootSlot] = []
    for index in 0...1 {
      let start = Int(FormatLimits.slotOffsets[index])
      let block = Array(file.bytes[start..<start + FormatLimits.blockLength])
      slots.append(
        try block.withUnsafeBytes { try RootSlot.decode($0, index: index, seed: header.seed) })
    }
    let newest = try #require(slots.max { $0.sequence < $1.sequence })
    let damaged = try bytes(of: file, slot: newest.index) { $0.markChecksum ^= 1 }
    let outcome = try file.outcome(of: damaged)
    #expect(isRefused(outcome), "\(outcome)")
  }
}
