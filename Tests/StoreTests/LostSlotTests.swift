import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsSalvage
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// A store that was not closed, with a root slot lost, and a part of its log as well.
///
/// One lost page is past: the other slot is in force. With a page of the log lost too, transactions
/// were missing, the finding said that nothing was lost, and the next write cleared what was left.
@Suite struct LostSlotTests {
  /// What became of the newest slot.
  enum Loss: CaseIterable { case zeros, stale, torn }

  private let path = "/test.annals"

  /// The file of a store that is still open, and the number of its notes.
  private func file() throws -> (bytes: ContiguousArray<UInt8>, first: ContiguousArray<UInt8>) {
    let files = MemoryFileSystem()
    let store = try noteStore(StoreLocation(fileSystem: files, path: path))
    let first = try files.contents(of: path)
    for number in 1...61 {
      try store.note("n\(number)")
      if number % 20 == 5 { try store.checkpoint() }
    }
    return (try files.contents(of: path), first)
  }

  /// The file with its newest slot lost.
  private func losing(_ loss: Loss) throws -> ContiguousArray<UInt8> {
    var (bytes, first) = try file()
    let newest = try #require([bytes.slot(0), bytes.slot(1)].max { $0.sequence < $1.sequence })
    let start = Int(FormatLimits.slotOffsets[newest.index])
    let block = start..<start + FormatLimits.blockLength
    switch loss {
    case .zeros: bytes.replaceSubrange(block, with: ContiguousArray(repeating: 0, count: 4096))
    case .stale: bytes.replaceSubrange(block, with: first[block])
    // As a power cut leaves it: the first sector alone.
    case .torn: bytes[start + 512 + 7] ^= 0x55
    }
    return bytes
  }

  private func location(_ bytes: ContiguousArray<UInt8>) throws -> StoreLocation {
    let files = MemoryFileSystem()
    try files.put(bytes, at: path)
    return StoreLocation(fileSystem: files, path: path)
  }

  @Test(arguments: Loss.allCases) func aLostSlotAloneCostsNothing(_ loss: Loss) throws {
    let location = try location(losing(loss))
    let store = try Store(location, creates: false)
    let finding = try #require(store.findings.first)
    #expect(store.findings.count == 1 && finding.severity == .warning)
    // The store does not know that the log is whole.
    #expect(!finding.message.contains("Nothing is lost"), "\(finding.message)")
    #expect(finding.message.contains("may be missing"), "\(finding.message)")
    let found = try location.fileSystem.findings(about: path)
    #expect(found.map(\.subject) == [.slot], "\(found)")
    #expect(found.first?.remedy.contains("may be missing") ?? false, "\(found)")
    #expect(try store.ids().count == 61)
    try store.note("more")
    try store.close()
    #expect(try location.fileSystem.findings(about: path) == [])
    #expect(try Store(location, creates: false).ids().count == 62)
  }

  /// The last three transactions are gone as well, the first of them up to its header.
  private func losingTheEnd(_ loss: Loss, keeping: Int) throws -> ContiguousArray<UInt8> {
    var bytes = try losing(loss)
    let frames = try bytes.frames()
    let start = frames[frames.count - 3].offset + keeping
    let end = frames[frames.count - 1].end
    bytes.replaceSubrange(start..<end, with: ContiguousArray(repeating: 0, count: end - start))
    return bytes
  }

  @Test(arguments: [Loss.zeros, .stale])
  func whatALostSlotMayHaveProvedIsNotCleared(_ loss: Loss) throws {
    let bytes = try losingTheEnd(loss, keeping: 32)
    let location = try location(bytes)
    for options in [StoreOptions(), .readOnly] {
      let error = #expect(throws: AnnalsError.self) {
        try Store(location, creates: false, options: options).note("more")
      }
      #expect(error?.code == .damaged, "\(String(describing: error))")
      #expect(error?.message.contains("root slot") ?? false, "\(String(describing: error))")
    }
    #expect(try location.fileSystem.contents(of: path) == bytes)
    let found = try location.fileSystem.findings(about: path)
    #expect(found.contains { $0.severity == .error && $0.subject == .damageInside }, "\(found)")
    var options = StoreOptions.readOnly
    options.readsUpToDamage = true
    #expect(try Store(location, creates: false, options: options).ids().count == 58)
    let report = try Store.salvage(location, to: "/saved.annals")
    #expect(!report.isComplete, "\(report)")
    let saved = StoreLocation(fileSystem: location.fileSystem, path: "/saved.annals")
    #expect(try Store(saved, creates: false).ids().count == 58)
  }

  /// Zeros at the end look like space allocated ahead; nothing tells, and nothing says otherwise.
  @Test(arguments: Loss.allCases) func zerosAfterALostSlotAreNoProofOfTheEnd(_ loss: Loss) throws {
    let location = try location(losingTheEnd(loss, keeping: 0))
    let store = try Store(location, creates: false)
    #expect(try store.ids().count == 58)
    #expect(store.findings.count == 1)
    let message = try #require(store.findings.first).message
    #expect(message.contains("may be missing") && !message.contains("Nothing is lost"))
    let found = try location.fileSystem.findings(about: path)
    #expect(found.first?.remedy.contains("may be missing") ?? false, "\(found)")
  }

  /// A power cut while slot and commit are written leaves both torn.
  @Test func aTornSlotBesideATornTailIsWhatACrashLeaves() throws {
    let location = try location(losingTheEnd(.torn, keeping: 32))
    let store = try Store(location, creates: false)
    #expect(try store.ids().count == 58)
    try store.note("more")
    try store.close()
    #expect(try location.fileSystem.findings(about: path) == [])
  }

  @Test func aClosedStoreHasLostNothingWithASlot() throws {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: path)
    let store = try noteStore(location)
    try store.note("a")
    try store.close()
    try files.overwrite(ContiguousArray(repeating: 0, count: 4096), at: 4096, of: path)
    let finding = try #require(Store(location, creates: false, options: .readOnly).findings.first)
    #expect(finding.message.contains("Nothing is lost"))
  }
}
