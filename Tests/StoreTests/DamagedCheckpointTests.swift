import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// Damage to what can be made anew from base and log, and the remedy that a verification names.
@Suite struct DamagedCheckpointTests {
  private let path = "/test.annals"

  enum Part: String, CaseIterable, CustomTestStringConvertible {
    case index, rows, column, directory, history

    var testDescription: String { rawValue }
  }

  /// A closed store with two checkpoints: 3,000 notes, then one more; and the bytes of its file.
  private func makeStore(base: Bool) throws -> MemoryFileSystem {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: path)
    let store = try noteStore(location)
    for part in 0..<3 {
      try store.write { tx in
        for number in 0..<1_000 {
          try tx.insert(
            "Note", ["id": .string("n\(part * 1_000 + number)"), "text": .string("t\(number)")])
        }
      }
    }
    if base { try store.prune(try store.prunePlan(before: 3)) }
    try store.checkpoint()
    try store.note("late", text: "after the checkpoint")
    try store.checkpoint()
    try store.note("last")
    try store.close()
    return files
  }

  /// Where a part of the newest checkpoint is.
  private func place(of part: Part, in files: MemoryFileSystem) throws -> UInt64 {
    let store = try Store(StoreLocation(fileSystem: files, path: path), creates: false)
    defer { try? store.close() }
    let view = store.version.view
    let directory = try #require(try view.checkpoint(atOrBefore: .max))
    #expect(!directory.isBase)
    let notes = try #require(directory.entities.first { $0.liveCount > 1_000 })
    switch part {
    case .index: return notes.indexes[0].chunks[0].reference.offset + 40
    case .rows: return notes.rows[0].offset + 26
    case .column: return notes.columns[1].chunks[0].offset + 30
    case .directory:
      let regions = try files.frames(of: path, .checkpoint)
      return try #require(regions.last).offset + 40
    case .history:
      let regions = try files.frames(of: path, .transaction)
      return try #require(regions.last).offset + 30
    }
  }

  private func contents(_ store: Store, at number: Int64) throws -> [[String: Value]] {
    try store.snapshot(at: number).objects(of: "Note").map(\.dictionary)
  }

  @Test(arguments: [Part.index, .rows, .column, .directory], [true, false])
  func compactMakesItAnew(part: Part, hasBase: Bool) throws {
    let files = try makeStore(base: hasBase)
    let location = StoreLocation(fileSystem: files, path: path)
    let sound = try Store(location, creates: false)
    let states = try [2, 4, 5, 6].map { try contents(sound, at: $0) }
    try sound.close()
    try files.flip(0x10, at: place(of: part, in: files), of: path)
    let found = try files.findings(about: path)
    #expect(!found.isEmpty)
    for finding in found {
      #expect(finding.severity == .warning, "\(finding)")
      #expect(finding.remedy.contains("Compact the file"), "\(finding)")
    }
    let store = try Store(location, creates: false)
    // The logical half says so, too, and does not give up.
    let logical = try store.verifyHistory()
    #expect(logical.allSatisfy { $0.message.contains("Compacting rebuilds it") }, "\(logical)")
    #expect(try store.compact().isRewritten)
    #expect(try files.findings(about: path) == [])
    #expect(try store.verifyHistory() == [])
    for (number, state) in zip([2, 4, 5, 6] as [Int64], states) {
      #expect(try contents(store, at: number) == state, "\(number)")
    }
    // Of one whose directory cannot be read nobody knows; with few changes none is made for it.
    let newest = try store.version.view.checkpoint(atOrBefore: .max)?.number
    if part != .directory { #expect(newest == 6) }
    try store.note("and on")
    try store.close()
    #expect(try Store(location, creates: false).verifyHistory() == [])
  }

  @Test(arguments: [Part.index, .rows, .column, .directory])
  func pruneAndReplayDoWithoutIt(part: Part) throws {
    let files = try makeStore(base: false)
    let location = StoreLocation(fileSystem: files, path: path)
    let sound = try Store(location, creates: false)
    let states = try [4, 5, 6].map { try contents(sound, at: $0) }
    try sound.close()
    try files.flip(0x10, at: place(of: part, in: files), of: path)
    let store = try Store(location, creates: false)
    let copies = [true, false].map { "/copy \($0)" }
    for (path, flatten) in zip(copies, [true, false]) {
      try store.replay(to: path, at: 5, flatten: flatten)
      let copy = try Store(StoreLocation(fileSystem: files, path: path), creates: false)
      #expect(try contents(copy, at: 5) == states[1])
      #expect(try copy.verifyHistory() == [])
    }
    try store.prune(try store.prunePlan(before: 5))
    #expect(try files.findings(about: path) == [])
    #expect(try store.verifyHistory() == [])
    for (number, state) in zip([4, 5, 6] as [Int64], states) {
      #expect(try contents(store, at: number) == state, "\(number)")
    }
  }

  @Test(arguments: [Part.index, .rows, .column])
  func theSmallestFileDoesWithoutIt(part: Part) throws {
    let files = try makeStore(base: true)
    try files.flip(0x10, at: place(of: part, in: files), of: path)
    let store = try Store(StoreLocation(fileSystem: files, path: path), creates: false)
    #expect(try store.compact(smallest: true).isRewritten)
    #expect(try files.findings(about: path) == [])
    #expect(try store.verifyHistory() == [])
    #expect(try store.ids().count == 3_002)
  }
}
