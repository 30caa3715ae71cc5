import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import SystemPackage
import Testing

@Suite struct FailedSyncTests {
  /// As two processes: the sync of one fails after it has read what the other committed.
  @Test(arguments: [true, false])
  func aFailedSyncLeavesWhatOthersCommitted(refreshes: Bool) throws {
    let disk = FaultyFileSystem()
    let location = StoreLocation(fileSystem: disk, path: "/a.annals")
    let one = try noteStore(location)
    let two = try noteStore(location, seed: 2)
    try one.note("a")
    try two.note("b")
    try one.note("c")
    if refreshes { try two.refresh() }
    disk.inject(FaultInjection(.sync, .ioError, count: 1))
    #expect(throws: AnnalsError.self) { try two.note("d") }
    #expect(try Store(location, creates: false).ids() == ["a", "b", "c"])
  }
}
