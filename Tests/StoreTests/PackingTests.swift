import AnnalsFormat
import AnnalsInspection
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import Annals

/// Compaction packs transactions together, large ones too, and changes nothing that is read.
@Suite struct PackingTests {
  /// Many small transactions about the notes of a large one, which is in parts; each with a large
  /// value, too.
  private func history(_ location: StoreLocation, notes: Int) throws -> Store {
    let store = try noteStore(location)
    var random = SeededRandom(seed: 12)
    func text(_ length: Int) -> String {
      String((0..<length).map { _ in Character(Unicode.Scalar(UInt8(97 + random.next() % 26))) })
    }
    var made: [ObjectID] = []
    try store.write(author: "ann") { tx in
      for number in 0..<notes {
        let long = number % 500 == 1 ? 9_000 : 300
        made.append(
          try tx.insert("Note", ["id": .string("m\(number)"), "text": .string(text(long))]))
      }
    }
    for number in 0..<120 {
      try store.write(author: "bob") { tx in
        try tx.update(
          made[number * 7 % notes], ["text": .string(text(number % 40 == 3 ? 6_000 : 40))])
      }
    }
    try store.write { tx in for note in made.prefix(notes / 2) { try tx.delete(note) } }
    return store
  }

  private func frames(_ location: StoreLocation, _ files: MemoryFileSystem) throws -> [FrameHeader]
  {
    try files.regions(of: location.path).compactMap(\.frame?.header)
      .filter { [.transaction, .block].contains($0.kind) }
  }

  /// All that a history says.
  private func told(_ store: Store) throws -> [String] {
    try store.history().collect().map { transaction in
      "\(transaction.token.number) \(transaction.author ?? "-") \(transaction.changes)"
    }
  }

  @Test(arguments: [false, true])
  func partsBecomeWholeAgain(erasing: Bool) throws {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: "/test.annals")
    let store = try history(location, notes: 2_000)
    #expect(try frames(location, files).count { $0.flags.contains(.continued) } > 2)
    if erasing {
      let note = try #require(try store.snapshot().objects(of: "Note").last)
      try store.erase(note.objectID, reason: "asked for", author: "ann")
    }
    let before = try told(store)
    let states = try [2, 60, 122].map {
      try store.snapshot(at: $0).objects(of: "Note").map(\.dictionary)
    }
    try store.compact()
    #expect(try frames(location, files).count { $0.flags.contains(.continued) } == 0)
    let once = try told(store)
    #expect(once == before)
    let size = try frames(location, files).reduce(0) { $0 + Int($1.payloadLength) }
    try store.compact(smallest: true)
    #expect(try told(store) == before)
    let packed = try frames(location, files)
    #expect(packed.count == 1 && Int(packed[0].payloadLength) <= size)
    for (number, state) in zip([2, 60, 122], states) {
      #expect(try store.snapshot(at: number).objects(of: "Note").map(\.dictionary) == state)
    }
    #expect(try store.verify().allSatisfy { $0.severity == .note })
    // A prune may begin within the block.
    try store.prune(store.prunePlan(before: 50))
    #expect(try told(store) == Array(before[49...]))
    try store.close()
    #expect(try told(Store(location, creates: false)) == Array(before[49...]))
  }

  /// A transaction that is longer than a block stays in parts.
  @Test func whatIsTooLongStaysInParts() throws {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: "/test.annals")
    let store = try history(location, notes: 5_000)
    let parts = try frames(location, files).count { $0.flags.contains(.continued) }
    let before = try told(store)
    try store.compact()
    #expect(try frames(location, files).count { $0.flags.contains(.continued) } >= parts / 2)
    #expect(try told(store) == before)
    #expect(try store.verify().allSatisfy { $0.severity == .note })
    try store.compact(smallest: true)
    #expect(try told(store) == before)
    #expect(try store.verify().allSatisfy { $0.severity == .note })
    try store.close()
  }
}
