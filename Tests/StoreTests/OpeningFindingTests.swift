import Annals
import AnnalsTestSupport
import Testing

/// What a store says of its file when it was opened.
@Suite struct OpeningFindingTests {
  private func contents(_ place: StoreLocation) throws -> ContiguousArray<UInt8> {
    try place.fileSystem.contents(of: place.path)
  }

  private func store(of bytes: ContiguousArray<UInt8>, _ options: StoreOptions) throws -> Store {
    let place = memoryFile()
    try place.fileSystem.put(bytes, at: place.path)
    return try Store(place, creates: false, options: options)
  }

  @Test func theRestOfATransaction() throws {
    let place = memoryFile()
    let first = try noteStore(place)
    try first.note("a")
    try first.close()
    let closed = try contents(place)
    let second = try Store(place, creates: false)
    #expect(second.findings == [])
    try second.note("b")
    try second.close()
    // A frame's last bytes were not written, and the file was grown ahead.
    let torn = closed + (try contents(place))[closed.count..<closed.count + 60]
    for options in [StoreOptions.readOnly, StoreOptions()] {
      let store = try store(of: torn + [UInt8](repeating: 0, count: 4096), options)
      let finding = try #require(store.findings.first)
      #expect(store.findings.count == 1 && finding.severity == .warning)
      #expect(finding.offset == UInt64(closed.count))
      #expect((55...60).contains(finding.skippedBytes))
      #expect(try store.ids() == [.string("a")])
    }
  }

  @Test func slotsAndDamage() throws {
    let place = memoryFile()
    let first = try noteStore(place)
    for name in ["a", "b", "c"] { try first.note(name) }
    try first.close()
    var bytes = try contents(place)
    bytes[4100] ^= 1
    let one = try store(of: bytes, .readOnly)
    #expect(one.findings.map(\.offset) == [4096] && one.findings.map(\.skippedBytes) == [4096])
    bytes[4100] ^= 1
    bytes[bytes.count - 9] ^= 1
    var options = StoreOptions.readOnly
    options.readsUpToDamage = true
    let damaged = try store(of: bytes, options)
    let finding = try #require(damaged.findings.first)
    #expect(damaged.findings.count == 1 && finding.severity == .error)
    #expect(try UInt64(bytes.count) == #require(finding.offset) + finding.skippedBytes)
    #expect(finding.skippedBytes > 0 && damaged.token.number == 3)
  }
}
