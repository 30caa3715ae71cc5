import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsLog

/// References to chunks that are too many for one directory lie in list chunks, of which a
/// checkpoint writes only those again that have changed.
struct ListChunkTests {
  /// The entity's state as so many tiny chunks, one for each group of rows; `changed` is the group
  /// whose chunk is new, and those of all others are those of `old`.
  private func entity(
    groups: Int, old: EntityDirectory?, changed: Int, in store: ChunkStore
  ) throws -> [EntityDirectory] {
    var entity = EntityDirectory(entity: 1, nextRow: 1 << 40, liveCount: 0)
    for group in 0..<groups {
      if let old, group != changed {
        entity.rows.append(old.rows[group])
        continue
      }
      let payload: ContiguousArray<UInt8> = [1, 1, 97]
      let first = Int64(group) * 4096 + 1
      let reference = try payload.withBytes { bytes throws(LogError) in
        try store(bytes, first, 1)
      }
      entity.rows.append(reference)
    }
    entity.columns = [ColumnDirectory(property: 3, chunks: [])]
    return [entity]
  }

  private func newest(_ lab: LogLab) throws -> CheckpointDirectory {
    try #require(try lab.log.view.checkpoint(atOrBefore: lab.log.view.head.number))
  }

  @Test func onlyListsThatChangedAreWrittenAgain() throws {
    let lab = try LogLab(MemoryFileSystem())
    try lab.commit([(1, "a")])
    func checkpoint(changed: Int, old: EntityDirectory?) throws -> UInt64 {
      try lab.lock()
      defer { lab.log.unlock() }
      let start = lab.log.view.end
      try lab.log.writeCheckpoint(schema: Schema()) {
        try entity(groups: 9_000, old: old, changed: changed, in: $0)
      }
      return lab.log.view.end - start
    }
    _ = try checkpoint(changed: 0, old: nil)
    var directory = try newest(lab)
    #expect(directory.entities[0].rows.count == 9_000)
    #expect(directory.entities[0].rowLists.map(\.count) == [4096, 4096, 808])
    #expect(directory.entities[0].rowLists.map(\.first) == [1, 1 << 24 + 1, 1 << 25 + 1])
    #expect(directory.encode().count < 300_000)
    // One chunk, the list that names it, and the directory.
    for (group, list) in [(5_000, 1), (0, 0), (8_999, 2)] {
      try lab.commit([(1, "b\(group)")])
      let before = directory.entities[0]
      let bytes = try checkpoint(changed: group, old: before)
      #expect(bytes < 80_000)
      directory = try newest(lab)
      let after = directory.entities[0]
      #expect(after.rows.indices.filter { after.rows[$0] != before.rows[$0] } == [group])
      let written = (0..<3).filter { after.rowLists[$0] != before.rowLists[$0] }
      #expect(written == [list])
    }
    // So it is in a log that was opened anew, and in a file that was rewritten.
    try lab.log.close()
    let again = try LogLab(lab.files, creates: false)
    let read = try newest(again)
    #expect(read.entities[0].rows == directory.entities[0].rows)
    try again.commit([(1, "c")])
    try again.lock()
    let start = again.log.view.end
    try again.log.writeCheckpoint(schema: Schema()) {
      try entity(groups: 9_000, old: read.entities[0], changed: 7, in: $0)
    }
    again.log.unlock()
    #expect(again.log.view.end - start < 80_000)
    let plan = RewritePlan(base: .keep, checkpoint: true, destination: .replace)
    #expect(try again.rewrite(plan).outcome == .done)
    #expect(try newest(again).entities[0].rows.count == 9_000)
  }

  /// A list that is damaged is as a directory that is.
  @Test func aDamagedListIsNotStartedFrom() throws {
    let lab = try LogLab(MemoryFileSystem())
    try lab.commit([(1, "a")])
    try lab.lock()
    try lab.log.writeCheckpoint(schema: Schema()) {
      try entity(groups: 100, old: nil, changed: 0, in: $0)
    }
    lab.log.unlock()
    let list = try #require(try newest(lab).entities[0].rowLists.first)
    try lab.log.close()
    let place = Int(list.offset) + FormatLimits.frameHeaderLength + 9
    try lab.files.flip(1, at: place, of: LogLab.path)
    let again = try LogLab(lab.files, creates: false)
    #expect(again.log.report.findings.count == 1)
    #expect(again.log.report.start == 0)
    #expect(again.state.titles == [1: "a"])
  }

  /// 100 million rows of 40 properties: the directory stays small.
  @Test func aHundredMillionRows() throws {
    let groups = (100_000_000 + 4095) / 4096
    let references = (0..<groups).map { group in
      ChunkReference(
        offset: UInt64(1 << 36 + group * 8), length: 30_000, checksum: .max,
        first: Int64(group) * 4096 + 1, count: 4096)
    }
    var entity = EntityDirectory(
      entity: 1, nextRow: 100_000_001, liveCount: 100_000_000, rows: references)
    entity.columns = (1...40).map { ColumnDirectory(property: $0, chunks: references) }
    var lists = ListedReferences()
    var stored: [Int] = []
    func store(
      _ payload: UnsafeRawBufferPointer, _ first: Int64, _ count: UInt32
    ) throws(LogError) -> ChunkReference {
      stored.append(payload.count)
      return ChunkReference(
        offset: UInt64(1 << 40 + stored.count * 8), length: UInt32(payload.count), checksum: 0,
        first: first, count: count)
    }
    var directory = CheckpointDirectory(number: 1)
    directory.entities = try lists.checkpoint([entity], store)
    #expect(stored.count == 41 * 6 && stored.max() ?? 0 < 100_000)
    #expect(directory.encode().count < 8_000)
    // A change of one value.
    stored = []
    entity.columns[17].chunks[12_345].offset += 8
    _ = try lists.checkpoint([entity], store)
    #expect(stored.count == 1)
  }
}
