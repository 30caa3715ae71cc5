import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsLog

/// Files with right checksums in which a transaction in parts, or one of its neighbours, is not
/// what it should be: nothing of it is handed on as if it were whole.
@Suite struct BrokenOrderTests {
  /// Transactions 1, 2 in three parts, and 3; then, if asked for, a checkpoint.
  private func log(checkpoint: Bool) throws -> (MemoryFileSystem, Titles) {
    let files = MemoryFileSystem()
    let lab = try LogLab(files)
    try lab.commit([(1, "one")])
    let first = lab.state
    try lab.lock()
    try lab.appendParts([[(2, "two")], [(3, "three")], [(4, "four")]])
    try lab.log.sync()
    lab.log.unlock()
    try lab.commit([(5, "five")])
    if checkpoint { try lab.checkpoint() }
    return (files, first)
  }

  /// The file with one payload changed, all checksums made to fit, those of the slots, too. `frame`
  /// counts those of transactions.
  private func edit(
    _ files: MemoryFileSystem, frame wanted: Int, removes: Bool = false,
    _ change: (inout ContiguousArray<UInt8>) -> Void
  ) throws {
    let bytes = try files.contents(of: LogLab.path)
    var header = try bytes.fileHeader()
    var writer = FrameWriter(behind: header)
    var count = 0
    var checkpoint: UInt64 = 0
    for frame in try bytes.frames() {
      var payload = Bytes(bytes[frame.payload])
      let kind = frame.header.kind
      if kind == .transaction || kind == .block {
        defer { count += 1 }
        if count == wanted {
          if removes { continue }
          change(&payload)
        }
      }
      if kind == .checkpoint { checkpoint = writer.offset }
      writer.append(kind, flags: frame.header.flags, payload)
    }
    var slot = RootSlot(
      sequence: 1, durableMark: writer.offset, head: 3, markChecksum: writer.previousChecksum)
    slot.checkpointOffset = checkpoint
    slot.checkpointNumber = checkpoint == 0 ? 0 : 3
    try files.put(header.encode(with: slot) + writer.bytes, at: LogLab.path)
  }

  /// A part with a byte behind its end has a right summary and cannot be decoded: what came before
  /// it of its transaction was left in the state of a reading up to the damage.
  @Test(arguments: [2, 3])
  func aPartThatCannotBeDecoded(frame: Int) throws {
    let (files, first) = try log(checkpoint: false)
    try edit(files, frame: frame) { $0.append(0) }
    #expect(throws: LogError.self) { try LogLab(files, creates: false, access: .reading) }
    let lab = try LogLab(files, creates: false, access: .reading, readsUpToDamage: true)
    #expect(lab.state == first)
    #expect(lab.log.view.head.number == 1)
    #expect(try LogLab.history(lab.log.view).count == 1)
  }

  @Test(arguments: [1, 2, 3])
  func aPartThatIsMissing(frame: Int) throws {
    let (files, first) = try log(checkpoint: false)
    try edit(files, frame: frame, removes: true) { _ in }
    #expect(throws: LogError.self) { try LogLab(files, creates: false, access: .reading) }
    let lab = try LogLab(files, creates: false, access: .reading, readsUpToDamage: true)
    #expect(lab.state == first)
    #expect(lab.log.view.head.number == 1)
  }

  /// A later part with other bytes was told at the first one's offset.
  @Test(arguments: [1, 2, 3]) func damageIsToldAtItsFrame(frame: Int) throws {
    let (files, first) = try log(checkpoint: false)
    var bytes = try files.contents(of: LogLab.path)
    let found = try bytes.frames().filter { [.transaction, .block].contains($0.header.kind) }
    bytes[found[frame].payload.upperBound - 1] ^= 1
    try files.put(bytes, at: LogLab.path)
    let error = #expect(throws: LogError.self) {
      try LogLab(files, creates: false, access: .reading)
    }
    guard case .damage(let damage) = error else {
      Issue.record("\(error as Any)")
      return
    }
    #expect(damage.offset == UInt64(found[frame].offset), "\(damage)")
    let lab = try LogLab(files, creates: false, access: .reading, readsUpToDamage: true)
    #expect(lab.state == first && lab.log.view.head.number == 1)
  }

  /// What lies before a checkpoint is not looked at by an opening: reading history sees to it.
  /// Payloads keep their lengths: a part is numbered otherwise, a transaction is there again.
  @Test(arguments: [HistoryDirection.forward, .backward])
  func beforeACheckpoint(direction: HistoryDirection) throws {
    // The frame, the byte of its payload, and what it says instead.
    let edits: [(frame: Int, byte: Int, value: UInt8)] = [
      // Part 1 says that it is part 2; part 2 that it is 1.
      (2, 2, 2), (3, 2, 1),
      // A part of transaction 1, or of 3.
      (1, 1, 1), (2, 1, 3), (3, 1, 1),
      // Transaction 1 says that it is 2; 3 that it is 2, or 4.
      (0, 0, 2), (4, 0, 2),
      (4, 0, 4),
    ]
    for edit in edits {
      let (files, _) = try log(checkpoint: true)
      try self.edit(files, frame: edit.frame) { $0[edit.byte] = edit.value }
      let lab = try LogLab(files, creates: false, access: .reading)
      #expect(lab.state.titles.count == 5, "\(edit)")
      let view = lab.log.view
      var cursor = try view.history(after: view.base, through: 3, direction: direction)
      var batch = ChangeBatch()
      let error = #expect(throws: LogError.self, "\(edit)") {
        while try cursor.next(into: &batch) {}
      }
      guard case .damage(let damage) = error else {
        Issue.record("\(edit): \(error as Any)")
        continue
      }
      let reasons = ["does not follow", "a part without its beginning"]
      #expect(reasons.contains { damage.reason.contains($0) }, "\(edit): \(damage)")
    }
    let (files, _) = try log(checkpoint: true)
    try edit(files, frame: 0) { _ in }
    let lab = try LogLab(files, creates: false, access: .reading)
    let lines = try LogLab.history(lab.log.view, direction: direction)
    #expect(lines.count == 5)
  }
}
