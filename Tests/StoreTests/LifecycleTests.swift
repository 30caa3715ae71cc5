import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

@Suite struct LifecycleTests {
  @Test func aReaderChangesNothing() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    let store = try noteStore(.file(path))
    try store.note("a")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let reader = try Store(path: path, schema: noteSchema, options: .readOnly)
    #expect(try reader.ids() == ["a"])
    let calls: [() throws -> Void] = [
      { _ = try reader.note("b") }, { try reader.checkpoint() }, { try reader.sync() },
      { try reader.edit(.removeProperty(entity: "Note", "count")) }, { try reader.compact() },
      { _ = try reader.revert(2) },
    ]
    for call in calls {
      #expect(#expect(throws: AnnalsError.self, performing: call)?.code == .readOnly)
    }
    // A schema that needs more is no reason to write.
    try reader.require(Schema { Entity("Extra") })
    #expect(try reader.verifyHistory() == [])
    _ = try reader.history().collect()
    try reader.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    try store.note("b")
    let second = try Store(path: path, options: .readOnly)
    #expect(try second.ids() == ["a", "b"])
    try store.note("c")
    #expect(try second.ids() == ["a", "b"])
    try second.refresh()
    #expect(try second.ids() == ["a", "b", "c"])
  }

  @Test func openingWithoutASchemaNeverCreates() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    for options in [StoreOptions(), .readOnly] {
      let error = #expect(throws: AnnalsError.self) { try Store(path: path, options: options) }
      #expect(error?.code == .notFound)
    }
    #expect(
      #expect(throws: AnnalsError.self) {
        try Store(path: path, schema: noteSchema, options: .readOnly)
      }?.code == .notFound)
    #expect(!FileManager.default.fileExists(atPath: path))
    try Data("something else that is long enough to be a header".utf8).write(
      to: URL(fileURLWithPath: path))
    let other = #expect(throws: AnnalsError.self) { try Store(path: path, schema: noteSchema) }
    #expect(other?.code == .notAnAnnalsFile)
  }

  @Test func closingTwiceIsClosingOnce() throws {
    let location = memoryFile()
    let store = try noteStore(location)
    try store.note("a")
    let snapshot = store.snapshot()
    try store.close()
    try store.close()
    #expect(#expect(throws: AnnalsError.self) { try store.note("b") }?.code == .closed)
    #expect(#expect(throws: AnnalsError.self) { try store.refresh() }?.code == .closed)
    #expect(#expect(throws: AnnalsError.self) { try store.checkpoint() }?.code == .closed)
    #expect(try snapshot.count(of: "Note") == 1)
    #expect(try store.snapshot(at: 1).count(of: "Note") == 0)
    #expect(try store.history().collect().count == 2)
  }

  @Test func memoryStoresAreTheirOwn() throws {
    let first = try noteStore(.memory)
    let second = try noteStore(.memory, seed: 2)
    try first.note("a")
    #expect(try first.ids() == ["a"])
    #expect(try second.ids() == [])
    try first.checkpoint()
    try first.compact()
    #expect(try first.snapshot(at: 1).count(of: "Note") == 0)
  }

  @Test func withClosesAlsoWhenTheBodyThrows() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    let kept = try Store.with(path: path, schema: noteSchema) { store in
      try store.note("a")
      return store
    }
    #expect(throws: AnnalsError.self) { try kept.note("b") }
    var escaped: Store?
    #expect(throws: Mismatch.self) {
      try Store.with(path: path) { store in
        escaped = store
        throw Mismatch("no")
      }
    }
    #expect(#expect(throws: AnnalsError.self) { try escaped?.note("c") }?.code == .closed)
  }

  @Test func checkpointsMakeNoDifferenceToWhatIsRead() throws {
    let location = memoryFile()
    var store = try noteStore(location)
    for round in 0..<6 {
      for index in 0..<20 { try store.note("\(round) \(index)", text: "text") }
      try store.checkpoint()
      if round.isMultiple(of: 2) {
        try store.close()
        store = try noteStore(location)
      }
    }
    #expect(store.token.number == 121)
    for number in 1...121 {
      #expect(try store.snapshot(at: number).count(of: "Note") == number - 1)
    }
    #expect(try store.verifyHistory() == [])
  }

  @Test func deferredCommitsSurviveAKillAndASyncSurvivesAPowerCut() throws {
    let disk = FaultyFileSystem()
    let location = StoreLocation(fileSystem: disk, path: "/a.annals")
    let store = try noteStore(location, options: .deferred)
    try store.note("a")
    try store.sync()
    try store.note("b")
    let killed = StoreLocation(fileSystem: disk.afterKill(), path: "/a.annals")
    #expect(try Store(killed, creates: false).ids() == ["a", "b"])
    disk.cutPower()
    var survivors = 0
    disk.forEachSurvivor { survivor in
      survivors += 1
      let again = try? Store(
        StoreLocation(fileSystem: survivor.files, path: "/a.annals"), creates: false)
      let ids = (try? again?.ids()) ?? []
      #expect(ids == ["a"] || ids == ["a", "b"], "\(survivor): \(ids)")
      #expect((try? again?.note("c")) != nil)
      #expect((try? again?.verifyHistory()) == [], "\(survivor)")
    }
    #expect(survivors > 1)
  }
}
