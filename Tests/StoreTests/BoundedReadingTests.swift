import AnnalsEngine
import AnnalsExchange
import AnnalsModel
import AnnalsState
import AnnalsStorage
import Testing

@testable import Annals

/// Reading a state or a history takes memory for a part of it at a time: 400 MB of values that
/// compress to 2 MB took 433 MB to count and 975 MB to compare.
@Suite struct BoundedReadingTests {
  private static let schema = Schema {
    Entity("Note") {
      Attribute("id", .string, isOptional: false, isUnique: true)
      Attribute("text", .string)
      Relationship("others", to: "Note", isToMany: true)
    }
  }

  /// 1,000 notes, each of 4,000 bytes and changed once, in 20 transactions.
  private func notes() throws -> (MemoryFileSystem, StoreLocation) {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: "/notes.annals")
    let store = try Store(location, creates: true, environment: .fixed(seed: 3))
    try store.require(BoundedReadingTests.schema)
    var ids: [ObjectID] = []
    for round in 0..<10 {
      try store.write { tx in
        for place in 0..<100 {
          let text = String(repeating: "\(place % 10)", count: 4_000)
          ids.append(
            try tx.insert(
              "Note", ["id": .string("n\(round * 100 + place)"), "text": .string(text)]))
        }
      }
    }
    for round in 0..<10 {
      try store.write { tx in
        for place in 0..<100 {
          let text = String(repeating: "\(round)x", count: 1_900)
          let other = ObjectReference(entity: ids[place].entity, row: ids[place].row)
          try tx.update(
            ids[round * 100 + place], ["text": .string(text), "others": .objects([other])])
        }
      }
    }
    try store.checkpoint()
    try store.close()
    return (files, location)
  }

  private func opened(_ location: StoreLocation, holdingValues: Bool = true) throws -> Store {
    var options = StoreOptions.readOnly
    options.holdsValues = holdingValues
    return try Store(location, creates: false, options: options, environment: .fixed(seed: 4))
  }

  @Test func aDifferenceIsGivenInPages() throws {
    let (_, location) = try notes()
    let store = try opened(location)
    for (from, to) in [(1, 21), (21, 1), (11, 21), (5, 15)] as [(Int64, Int64)] {
      let whole = try store.diff(from: from, to: to).changes.map { "\($0)" }
      var parts: [String] = []
      var pages: Set<ObjectIdentifier> = []
      try store.version.forEachDifference(from: from, to: to) { difference in
        parts.append("\(difference.change)")
        pages.insert(ObjectIdentifier(difference.change.page))
        #expect(difference.change.page.batch.arena.count < 2 << 20)
      }
      #expect(parts == whole && parts.count >= 500)
      #expect(pages.count > 1 || from == 5)
    }
  }

  @Test func aStateIsTheSameHoweverLittleIsHeld() throws {
    let (_, location) = try notes()
    func text(holding bytes: Int) throws -> String {
      var state = CanonicalState(try opened(location).snapshot(), holding: bytes)
      var result = ""
      var count = 0
      try state.write {
        result += String(decoding: $0, as: UTF8.self)
        count += 1
        #expect($0.count < 1 << 17)
      }
      #expect(count > 10)
      return result
    }
    let whole = try text(holding: 1 << 30)
    #expect(whole.split(separator: "\n").count == 1_000)
    let lines = whole.split(separator: "\n").map { String($0) }
    #expect(lines == lines.sorted { $0.precedesInBytes($1) })
    #expect(try text(holding: 100_000) == whole)
    #expect(try text(holding: 1) == whole)
  }

  @Test func aStateThatMovesAlongHistoryHasNamesAndReferencesOnly() throws {
    let (_, location) = try notes()
    let store = try opened(location)
    let note = try #require(store.schema.entity(named: "Note"))
    let number = try #require(note.propertyNumber(named: "text"))
    let others = try #require(note.propertyNumber(named: "others"))
    for (start, end) in [(0, 21), (3, 21)] as [(Int64, Int64)] {
      var moving = try StateCursor(version: store.version, at: start, movingTo: end)
      for step in start...end {
        try moving.move(to: step)
        let whole = try store.version.state(at: step)
        for row: Int64 in [1, 2, 999, 1_000] {
          let object = ObjectReference(entity: note.number, row: row)
          let reader = store.version.reader(of: whole)
          #expect(try moving.reader.key(of: object) == reader.key(of: object))
          #expect(
            try moving.state.value(note.number, row, others)
              == whole.value(note.number, row, others))
          #expect(try moving.state.value(note.number, row, number) == .null)
        }
      }
    }
    var back = try StateCursor(version: store.version, at: 21, movingTo: 1)
    for step in (1...21).reversed() as ReversedCollection<ClosedRange<Int64>> {
      try back.move(to: step)
      let whole = try store.version.state(at: step)
      #expect(back.state.count(of: note.number) == whole.count(of: note.number))
      #expect(
        try back.state.value(note.number, 101, others) == whole.value(note.number, 101, others))
    }
  }

  @Test func objectsAreCountedWithoutTheirValues() throws {
    let (_, location) = try notes()
    // Without the checkpoint everything has to be gone through.
    let writer = try Store(location, creates: false, environment: .fixed(seed: 5))
    try writer.compact(smallest: true)
    try writer.close()
    let store = try opened(location, holdingValues: false)
    let note = try #require(store.schema.entity(named: "Note"))
    #expect(store.version.state.count(of: note.number) == 1_000)
    let text = try #require(note.propertyNumber(named: "text"))
    for row: Int64 in 1...1_000 {
      #expect(try store.version.state.value(note.number, row, text) == .null)
    }
    #expect(try store.token == opened(location).token)
  }

  /// What reads history, or one object, of a store without checkpoint held 400 MB to do so.
  @Test(arguments: [false, true])
  func whatReadsHistoryNeedsNoValues(hasCheckpoint: Bool) throws {
    let (_, location) = try notes()
    let writer = try Store(location, creates: false, environment: .fixed(seed: 5))
    if !hasCheckpoint { try writer.compact(smallest: true) }
    let first = try #require(try writer.snapshot().objects(of: "Note").first).objectID
    try writer.write { tx in try tx.delete(first) }
    try writer.close()
    let whole = try opened(location)
    let store = try opened(location, holdingValues: false)
    for (from, to) in [(1, 21), (21, 1), (11, 21), (20, 22), (22, 11)] as [(Int64, Int64)] {
      let changes = try [store, whole].map { store in
        try store.diff(from: from, to: to).changes.map { "\($0)" }
      }
      #expect(changes[0] == changes[1] && !changes[0].isEmpty)
    }
    let note = try #require(store.schema.entity(named: "Note"))
    let text = try #require(note.propertyNumber(named: "text"))
    for number: Int64 in [5, 15, 22] {
      let wanted = ObjectReference(entity: note.number, row: 300)
      let other = ObjectReference(entity: note.number, row: 301)
      let part = try store.version.snapshot(at: number, withOnly: [wanted])
      let all = try whole.version.snapshot(at: number)
      let objects = try [part, all].map { try $0.object(wanted.id(in: store))?.values }
      #expect("\(objects[0] ?? [])" == "\(objects[1] ?? [])" && objects[0]?.count ?? 0 > 1)
      let names = try [part, all].map { try $0.reader.name(of: other).text }
      #expect(names[0] == names[1])
      let counts = try [part, all].map { try $0.count(of: "Note") }
      #expect(counts[0] == counts[1])
      if !hasCheckpoint {
        #expect(try part.reader.state.value(note.number, 301, text) == .null)
      }
      let blames = try [store, whole].map { store in
        try store.blame(wanted.id(in: store), at: number).map { "\($0.value)" }
      }
      #expect(blames[0] == blames[1])
    }
    #expect(try store.blame(first).deletion?.number == 22)
  }
}

extension ObjectReference {
  fileprivate func id(in store: Store) -> ObjectID {
    ObjectID(store: store.version.store, entity: entity, row: row)
  }
}
