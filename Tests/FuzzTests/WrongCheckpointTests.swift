import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import FuzzTargets

/// Checkpoints whose bytes are in order and that say something else than the history: reading goes
/// by them, so a verification must tell.
@Suite struct WrongCheckpointTests {
  /// What the verification of the history says of a compacted file whose checkpoint was
  /// changed.
  private func findings(
    _ change: (inout CheckpointDirectory) throws -> Void
  ) throws -> [String] {
    try findings(.fixture("compacted"), change)
  }

  private func findings(
    _ image: LogImage, _ change: (inout CheckpointDirectory) throws -> Void
  ) throws -> [String] {
    var image = image
    try image.editDirectory(change)
    return try findings(image)
  }

  private func findings(_ image: LogImage) throws -> [String] {
    let store = try Store(image.location(), creates: false, options: .readOnly)
    defer { try? store.close() }
    return try store.verifyHistory().filter { $0.severity == .error }.map(\.message)
  }

  @Test func whatIsRightIsNotTold() throws {
    #expect(try findings { _ in } == [])
  }

  @Test func aNameIsCompared() throws {
    let found = try findings { $0.names.entries[1] += "a" }
    #expect(found.count == 1)
    #expect(found.first?.contains("another name 2 than transaction") == true, "\(found)")
  }

  @Test func anOpeningIsCompared() throws {
    let id = try findings { $0.openings.entries[0].id ^= 1 }
    #expect(id.first?.contains("another opening 1 than transaction 1") == true, "\(id)")
    let number = try findings { $0.openings.entries[0].number = 2 }
    #expect(number.first?.contains("opening 1 as number 2") == true, "\(number)")
  }

  @Test func theSchemaHistoryIsCompared() throws {
    let name = try findings { $0.schemaHistory.entries[0].change[0].definition.name += "s" }
    #expect(name.first?.contains("another change than transaction 1") == true, "\(name)")
    let more = try findings {
      $0.schemaHistory.entries.append($0.schemaHistory.entries[0])
      $0.schemaHistory.entries[1].number = 5
    }
    #expect(more.first?.contains("a change at transaction 5, which has none") == true, "\(more)")
  }

  @Test func theHistoryIndexIsCompared() throws {
    let entities = try findings { $0.historyIndex.entries[0].entities = [2] }
    #expect(entities.first?.contains("no entity 1 where transaction") == true, "\(entities)")
    let date = try findings {
      $0.historyIndex.entries[0].maximumTimestamp = Timestamp(microseconds: 5)
    }
    #expect(date.first?.contains("the greatest timestamp from transaction 1 on") == true, "\(date)")
  }

  /// The last row was given to an object that was deleted.
  @Test func rowsAreNotGivenAgain() throws {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: "/rows.annals")
    let store = try Store(
      location, schema: Schema { Entity("Note") { Attribute("id", .string, isUnique: true) } })
    try store.write { tx in
      for id in ["a", "b"] { try tx.insert("Note", ["id": .string(id)]) }
    }
    try store.write { tx in
      for note in try tx.objects(of: "Note") where note["id"] == "b" { try tx.delete(note.id) }
    }
    try store.checkpoint()
    try store.close()
    let bytes = try files.contents(of: location.path)
    for (nextRow, isRight) in [(Int64(3), true), (2, false)] {
      let found = try findings(try #require(LogImage(file: bytes))) {
        $0.entities[0].nextRow = nextRow
      }
      #expect(found.isEmpty == isRight, "\(found)")
      #expect(isRight || found.first?.contains("would give rows of entity 1 a second time") == true)
    }
  }

  /// All entries of the index name one row.
  @Test func theIndexIsComparedWithTheValues() throws {
    var image = try LogImage.fixture("compacted")
    let place = try #require(
      image.frames.lastIndex {
        $0.kind == FrameKind.chunk.rawValue && $0.payload.first == 3
      })
    let end = image.frames[place].payload.count
    image.frames[place].payload.replaceSubrange(
      end - 8..<end, with: repeatElement(0, count: 8))
    let found = try findings(image)
    #expect(found.first?.contains("has a wrong index") == true, "\(found)")
  }

  /// What the physical half of a verification says of the bytes.
  private func physicalFindings(_ whole: LogImage) throws -> [String] {
    var image = whole
    // The slots that it makes of a closed file name a head of their own.
    image.isClosed = false
    let location = try image.location()
    var verification = try PhysicalVerification(
      location.fileSystem.open(location.path, for: .reading))
    var found: [String] = []
    _ = try verification.run { if $0.severity != .note { found.append("\($0)") } }
    return found
  }

  /// A file with two checkpoints, of which one was changed: the older is what an opening goes back
  /// to when the newer cannot be read.
  private func twoCheckpoints(
    changing which: Int, _ change: (inout CheckpointDirectory) -> Void
  ) throws -> [String] {
    let files = MemoryFileSystem()
    let store = try Store(
      StoreLocation(fileSystem: files, path: "/two.annals"),
      schema: Schema { Entity("Note") { Attribute("id", .string, isUnique: true) } })
    for id in ["a", "b"] {
      try store.write(author: "ann \(id)") { try $0.insert("Note", ["id": .string(id)]) }
      try store.checkpoint()
    }
    try store.close()
    var image = try #require(LogImage(file: files.contents(of: "/two.annals")))
    let places = image.frames.indices.filter {
      image.frames[$0].kind == FrameKind.checkpoint.rawValue
    }
    #expect(places.count == 2)
    try image.editDirectory(in: places[which], change)
    return try physicalFindings(image)
  }

  @Test(arguments: [0, 1]) func tablesAreComparedInEachCheckpoint(which: Int) throws {
    #expect(try twoCheckpoints(changing: which) { _ in } == [])
    let name = try twoCheckpoints(changing: which) { $0.names.entries[0] = "ann x" }
    #expect(name.count == 1 && name[0].contains("has another name 1 than the log"), "\(name)")
    let opening = try twoCheckpoints(changing: which) { $0.openings.entries[0].id ^= 1 }
    #expect(opening.contains { $0.contains("another opening 1 than the log") }, "\(opening)")
    let schema = try twoCheckpoints(changing: which) {
      $0.schemaHistory.entries[0].change[0].definition.name = "Nota"
    }
    #expect(schema.contains { $0.contains("another schema change 1 than") }, "\(schema)")
    let more = try twoCheckpoints(changing: which) {
      $0.schemaHistory.entries.append($0.schemaHistory.entries[0])
    }
    #expect(more.contains { $0.contains("another schema change 2 than") }, "\(more)")
    let fewer = try twoCheckpoints(changing: which) { $0.schemaHistory.entries.removeAll() }
    #expect(fewer.contains { $0.contains("another count of schema changes") }, "\(fewer)")
  }

  /// Numbers and offsets rise from segment to segment; their greatest timestamps need not.
  @Test func theEntriesOfTheIndexRise() throws {
    let found = try twoCheckpoints(changing: 1) {
      var entry = $0.historyIndex.entries[0]
      entry.firstNumber += 1
      $0.historyIndex.entries.insert(entry, at: 1)
    }
    #expect(
      found.contains {
        $0.contains("the history index has transaction 2") && $0.contains("out of order")
      }, "\(found)")
    let falling = try twoCheckpoints(changing: 1) {
      var entry = $0.historyIndex.entries[0]
      entry.firstNumber += 1
      entry.offset += 8
      entry.maximumTimestamp = Timestamp(microseconds: 99)
      $0.historyIndex.entries[0].maximumTimestamp = Timestamp(microseconds: 100)
      $0.historyIndex.entries.insert(entry, at: 1)
    }
    #expect(!falling.contains { $0.contains("out of order") }, "\(falling)")
  }

  /// A writer that stores other bytes than text: nothing else is wrong with the file.
  @Test func textIsUTF8() throws {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: "/text.annals")
    let store = try Store(
      location,
      schema: Schema {
        Entity("Note") {
          Attribute("text", .string)
          Attribute("any", .any)
          Attribute("bytes", .data)
        }
      })
    let long = String(repeating: "Nebel ", count: 1_000)
    try store.write { _ = try $0.insert("Note", ["text": "Fog", "any": .url("x:Fog")]) }
    try store.write {
      _ = try $0.insert("Note", ["bytes": .data(Array("Fog".utf8)), "text": .string(long)])
    }
    try store.checkpoint()
    try store.close()
    let whole = try #require(LogImage(file: files.contents(of: location.path)))
    #expect(try physicalFindings(whole) == [])
    var told: Set<String> = []
    for place in whole.frames.indices {
      for (text, wrong) in [
        ("Fog", [0x46, 0xED, 0xA0]), ("Nebel ", [0x4E, 0x65, 0x62, 0x65, 0x6C, 0xE2]),
      ] as [(String, [UInt8])] {
        var image = whole
        let payload = Array(image.frames[place].payload)
        guard let found = payload.firstRange(of: Array(text.utf8)) else { continue }
        image.frames[place].payload.replaceSubrange(found, with: wrong)
        for finding in try physicalFindings(image) where finding.contains("not UTF-8") {
          #expect(finding.hasPrefix("warning at "), "\(finding)")
          told.insert(String(finding.split(separator: ":", maxSplits: 1)[1]))
        }
      }
    }
    let remedy = ". It reads with U+FFFD in place of what is wrong; a new value is right again"
    #expect(
      told.contains(" transaction 2 has a text of Note#1.text that is not UTF-8" + remedy),
      "\(told)")
    #expect(told.contains { $0.contains("large value 1 is a text that is not UTF-8") }, "\(told)")
    #expect(told.contains { $0.contains("property 1 of entity 1 has a text here") }, "\(told)")
    #expect(!told.contains { $0.contains("bytes") }, "\(told)")
  }

  /// A reference to an index chunk counts the entries in those before.
  @Test func theEntriesBeforeAChunkOfAnIndexAreCounted() throws {
    for (first, isRight) in [(Int64(0), true), (5, false)] {
      var image = try LogImage.fixture("compacted")
      try image.editDirectory { $0.entities[0].indexes[0].chunks[0].reference.first = first }
      let found = try physicalFindings(image)
      let told = "counts 5 entries of index 1 before its chunk"
      #expect(isRight ? found.isEmpty : found.contains { $0.contains(told) }, "\(found)")
    }
  }

  /// A file with a base and a checkpoint behind it, in which the base's directory was changed.
  private func changedBase(_ change: (inout CheckpointDirectory) -> Void) throws -> LogImage {
    let files = MemoryFileSystem()
    let store = try Store(
      StoreLocation(fileSystem: files, path: "/base.annals"),
      schema: Schema { Entity("Note") { Attribute("id", .string, isUnique: true) } })
    for id in ["a", "b", "c"] {
      try store.write(author: "ann \(id)") { try $0.insert("Note", ["id": .string(id)]) }
    }
    try store.prune(store.prunePlan(before: 4))
    try store.write(author: "bob") { try $0.insert("Note", ["id": "d"]) }
    try store.checkpoint()
    try store.close()
    var image = try #require(LogImage(file: files.contents(of: "/base.annals")))
    let place = try #require(
      image.frames.firstIndex { $0.kind == FrameKind.checkpoint.rawValue })
    try image.editDirectory(in: place, change)
    return image
  }

  /// Rewrites go by the base's own tables, openings of the store by those of the newest checkpoint.
  @Test func theBaseIsComparedWithTheNewestCheckpoint() throws {
    let whole = try findings(changedBase { _ in })
    #expect(!whole.contains { $0.contains("than the base") }, "\(whole)")
    let name = try findings(changedBase { $0.names.entries[0] += "a" })
    #expect(name.contains { $0.contains("another name 1 than the base") }, "\(name)")
    let opening = try findings(changedBase { $0.openings.entries[0].id ^= 1 })
    #expect(opening.contains { $0.contains("another opening 1 than the base") }, "\(opening)")
    let number = try physicalFindings(changedBase { $0.openings.entries[0].number = 3 })
    #expect(number.contains { $0.contains("the base has opening 1 as number 3") }, "\(number)")
  }
}
