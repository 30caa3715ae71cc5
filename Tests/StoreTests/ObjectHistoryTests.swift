import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// The history of one object reads the segments of the log that may have a change of it.
@Suite struct ObjectHistoryTests {
  /// A store whose log is long enough for a checkpoint to list the objects of its segments.
  private func longStore(_ location: StoreLocation, seed: UInt64 = 1) throws -> Store {
    let store = try noteStore(location, seed: seed)
    try store.write { tx in
      try tx.insert("Folder", ["name": .string("all")])
      try tx.insert(
        "Note", ["id": "long", "text": .string(String(repeating: "long ", count: 300_000))])
    }
    return store
  }

  /// The history of each of these objects is what the whole history has of it, either way.
  private func compare(_ store: Store, _ objects: [ObjectID]) throws {
    var random = SplitMix64(seed: 11)
    let all = try store.history().collect()
    for object in objects {
      let expected = all.filter { $0.changes.contains { $0.objectID == object } }.map(\.number)
      let history = try store.history(of: object)
      #expect(try history.collect().map(\.number) == expected)
      #expect(try history.reversed().collect().map(\.number) == expected.reversed())
    }
    // So many that each is looked for, and more.
    for count in [2, 64, 65] {
      let several = Set(objects.shuffled(using: &random).prefix(count))
      let expected = all.filter { transaction in
        transaction.changes.contains { several.contains($0.objectID) }
      }
      let found = try store.history(where: .touches(several)).collect()
      #expect(found.map(\.number) == expected.map(\.number))
    }
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func itIsWhatTheWholeHistoryHas(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let location = memoryFile()
    var store = try longStore(location, seed: seed)
    var objects = try store.snapshot().objects(of: "Note").map(\.id)
    objects += try store.snapshot().objects(of: "Folder").map(\.id)
    var inserted = 0
    for step in 0..<260 {
      switch random.next() % 16 {
      case 0: try store.checkpoint()
      case 1 where step % 3 == 0:
        try store.close()
        store = try noteStore(location, seed: seed &* 1_000 &+ UInt64(step))
      case 2 where step % 5 == 0: try store.compact(smallest: random.next() % 3 == 0)
      case 3 where step > 100 && step % 7 == 0:
        try store.prune(store.prunePlan(before: store.token.number - 60))
      case 4:
        // In parts, of rows next to each other.
        try store.write { tx in
          for _ in 0..<400 {
            inserted += 1
            objects.append(
              try tx.insert(
                "Note",
                [
                  "id": .string("n\(inserted)"),
                  "text": .string(String(repeating: "x", count: 900)),
                ]
              ))
          }
        }
      default:
        try store.write { tx in
          for _ in 0..<(random.next() % 4 + 1) {
            let object = objects[Int(random.next() % UInt64(objects.count))]
            guard try tx.object(object) != nil, object.entity == objects[0].entity else { continue }
            if random.next() % 9 == 0 {
              try tx.delete(object)
            } else {
              try tx.update(object, ["count": .int(Int64(step))])
            }
          }
        }
      }
    }
    try store.checkpoint()
    var asked: [ObjectID] = Array(objects.prefix(3))
    for _ in 0..<80 { asked.append(objects[Int(random.next() % UInt64(objects.count))]) }
    try compare(store, asked)
    #expect(try store.problems().isEmpty)
    try store.close()
    store = try noteStore(location, seed: seed &* 7)
    try compare(store, asked)
    try store.compact()
    try compare(store, asked)
    #expect(try store.problems().isEmpty)
  }

  /// Two notes, the first changed at the beginning and the end of a history of 1.5 MB.
  private func changedTwice(_ files: any FileSystem) throws -> (Store, ObjectID) {
    let store = try longStore(StoreLocation(fileSystem: files, path: "/store"))
    let first = try store.note("first", text: "once")
    let other = try store.note("other")
    let text = String(repeating: "filler ", count: 140)
    for index in 0..<700 {
      try store.write { tx in try tx.update(other, ["text": .string("\(index) \(text)")]) }
    }
    try store.write { tx in try tx.update(first, ["text": "twice"]) }
    return (store, first)
  }

  @Test func itReadsTheSegmentsWithTheObject() throws {
    let files = CountingFiles()
    let (store, first) = try changedTwice(files)
    try store.checkpoint()
    try store.close()
    let again = try noteStore(StoreLocation(fileSystem: files, path: "/store"))
    _ = files.takeCounts()
    #expect(try again.history(of: first).collect().count == 2)
    // Two segments of 64 KiB, and the first has the long text.
    let read = files.takeCounts().read
    #expect(read < 300_000, "\(read)")
    let folder = try #require(try again.snapshot().objects(of: "Folder").first?.id)
    _ = files.takeCounts()
    #expect(try again.history(where: .touches([first, folder])).collect().count == 3)
    let readForBoth = files.takeCounts().read
    #expect(readForBoth < 300_000, "\(readForBoth)")
    try again.compact()
    #expect(try again.history(of: first).collect().count == 2)
  }

  /// A prune copies the parts of a large transaction by their summaries.
  @Test func aPruneListsTheObjectsOfParts() throws {
    let location = memoryFile()
    let store = try longStore(location)
    var notes: [ObjectID] = []
    try store.write { tx in
      for index in 0..<900 { notes.append(try tx.insert("Note", ["id": .string("n\(index)")])) }
    }
    try store.note("early")
    let early = store.token.number
    // Every third note, in parts.
    var random = SplitMix64(seed: 1)
    func text() -> Value {
      .string((0..<140).map { _ in String(random.next(), radix: 36) }.joined())
    }
    try store.write { tx in
      for index in stride(from: 0, to: 900, by: 3) {
        try tx.update(notes[index], ["text": text()])
      }
    }
    for _ in 0..<1_000 { try store.write { tx in try tx.update(notes[1], ["text": text()]) } }
    try store.checkpoint()
    try store.prune(store.prunePlan(before: early))
    try compare(store, [notes[0], notes[1], notes[2], notes[450], notes[897]])
    #expect(try store.history(of: notes[450]).collect().count == 1)
    #expect(try store.problems().isEmpty)
    let directory = try #require(try store.version.view.checkpoint(atOrBefore: .max))
    #expect(directory.segmentObjects != nil)
    try store.close()
    try compare(try noteStore(location, seed: 3), [notes[0], notes[1], notes[897]])
  }
}
