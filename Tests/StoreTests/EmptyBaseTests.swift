import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsSalvage
import AnnalsStorage
import Testing

/// There is nothing at transaction 0: a store whose history is dropped from there on has no base.
@Suite struct EmptyBaseTests {
  @Test func aStoreFlattenedAtItsBeginning() throws {
    let location = memoryFile()
    let store = try noteStore(location)
    for number in 1...3 { try store.note("n\(number)", author: "ann") }
    try store.replay(to: "/flat", at: 0, flatten: true)
    let flat = StoreLocation(fileSystem: location.fileSystem, path: "/flat")
    let copy = try noteStore(flat, seed: 2)
    #expect(copy.version.view.file.header.baseCheckpointOffset == 0)
    #expect(copy.token.number == 1 && copy.base.number == 0)
    try copy.note("first", author: "ann")
    #expect(try copy.verify().isEmpty)
    let texts = try copy.ids()
    try copy.close()
    #expect(try location.fileSystem.findings(about: "/flat").isEmpty)
    // A salvage of it, and so every reader that believes there is nothing, has all that it needs.
    _ = try Store.salvage(flat, to: "/salvaged", environment: .fixed(seed: 9))
    let salvaged = StoreLocation(fileSystem: location.fileSystem, path: "/salvaged")
    #expect(try Store(salvaged, options: .readOnly).ids() == texts)
  }
}
