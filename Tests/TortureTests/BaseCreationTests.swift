import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import AnnalsTorture
import Testing

/// A store that is made with a base, as the import of a pruned store's export makes it, cut short.
@Suite struct BaseCreationTests {
  private func location(_ files: FaultyFileSystem) -> StoreLocation {
    StoreLocation(fileSystem: files, path: "/a.annals")
  }

  private func create(_ files: FaultyFileSystem) throws {
    try Store.create(
      location(files), base: 7, timestamp: Timestamp(microseconds: 5),
      environment: .fixed(start: Timestamp(microseconds: 9), seed: 3)
    ) { tx in
      try tx.require(Schema { Entity("Note") { Attribute("text", .string) } })
      try tx.insert("Note", ["text": .string(String(repeating: "large ", count: 2_000))])
    }
  }

  /// Does the same again, or opens what there is, and sees that it is whole and alone.
  private func doAgain(_ files: FaultyFileSystem, _ place: String) throws {
    if try files.identity(of: "/a.annals") == nil {
      do {
        try create(files)
      } catch let error as AnnalsError where error.code == .alreadyExists {
        // It was finished but for its name, or its header was being written: what to do is said.
        #expect(error.message.contains("/a.annals.new is in the way"), "\(place): \(error)")
        if error.message.contains("it is a whole store") {
          try files.rename("/a.annals.new", over: "/a.annals")
          try files.syncDirectory(of: "/a.annals")
        } else {
          #expect(error.message.contains("whose header is damaged"), "\(place): \(error)")
          try files.remove("/a.annals.new")
          try create(files)
        }
      }
    }
    let store = try Store(location(files), creates: false)
    #expect(store.token.number == 7 && store.base.number == 7, "\(place)")
    #expect(try store.snapshot().count(of: "Note") == 1, "\(place)")
    try store.write { try $0.insert("Note", ["text": "more"]) }
    #expect(try store.verifyHistory() == [], "\(place)")
    try store.close()
    #expect(files.paths == ["/a.annals"], "\(place)")
  }

  @Test(arguments: [false, true])
  func whatIsCutShortCanBeDoneAgain(placesByLinking: Bool) throws {
    let rehearsal = FaultyFileSystem()
    rehearsal.placesByLinking = placesByLinking
    try create(rehearsal)
    #expect(rehearsal.paths == ["/a.annals"])
    for point in 0..<rehearsal.pointCount {
      let files = FaultyFileSystem(seed: UInt64(point))
      files.placesByLinking = placesByLinking
      files.crash(at: point)
      // It may be done but for the removal of what lies beside.
      try? create(files)
      try doAgain(files.afterKill(), "killed at \(rehearsal.points[point])")
      try files.forEachSurvivor(limit: 2) { try doAgain($0.files, $0.description) }
    }
  }

  @Test func aFileOfTheSameNameThatIsNoStoreIsLeftAlone() throws {
    let files = FaultyFileSystem()
    let other = try files.create("/a.annals.base", like: nil)
    try [UInt8]("mine".utf8).withUnsafeBytes { try other.write($0, at: 0) }
    other.close()
    #expect(throws: AnnalsError.self) { try create(files) }
    #expect(files.paths == ["/a.annals.base"])
    let store = try Store(location(files), schema: Schema { Entity("Note") {} })
    try store.close()
    #expect(files.paths == ["/a.annals", "/a.annals.base"])
  }
}
