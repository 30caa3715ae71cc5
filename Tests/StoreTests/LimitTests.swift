import Annals
import AnnalsExchange
import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// Every limit that a program can meet: at it things work, beyond it an error says what and where,
/// and nothing is recorded.
@Suite struct LimitTests {
  private func failure(_ body: () throws -> Void) -> AnnalsError? {
    do {
      try body()
      return nil
    } catch {
      return error as? AnnalsError
    }
  }

  private func text(_ count: Int) -> Value { .string(String(repeating: "x", count: count)) }

  /// An object of many long values, none of them long enough to be kept by itself, and none that
  /// can be compressed.
  @Test func anObjectIsAtMost14MiBAndCanBeDeleted() throws {
    let location = memoryFile()
    let names = (1...3_583).map { "p\($0)" }
    let wide = Schema(entities: [
      Entity("Wide", attributes: names.map { Attribute($0, .data) })
    ])
    let store = try Store(location, schema: wide)
    var random = SeededRandom(seed: 14)
    func noise(_ count: Int) -> Value {
      var bytes: [UInt8] = []
      while bytes.count < count {
        withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) }
      }
      return .data(Array(bytes.prefix(count)))
    }
    // By row: kind and entity, row, 3 bytes more than each value, the set of properties.
    var values: [String: Value] = [:]
    for name in names.prefix(3_581) { values[name] = noise(4_096) }
    let taken = 5 + 3_581 * 4_099 + 3_582 / 8 + 3
    let left = FormatLimits.maximumChangeLength - taken
    try #require(left > 0 && left < 4_096)
    let head = store.token
    for extra in [1, 500] {
      values[names[3_581]] = noise(left + extra)
      let error = failure { try store.write { _ = try $0.insert("Wide", values) } }
      #expect(error?.code == .tooLarge)
      #expect(error?.message.contains("the insert of Wide#1 takes 1468") == true, "\(error as Any)")
      #expect(error?.message.contains("14680064") == true)
      #expect(store.token == head)
    }
    values[names[3_581]] = noise(left)
    var id: ObjectID?
    // Details as long as may be, beside it.
    let note = text(FormatLimits.maximumDetailsLength - 100)
    try store.write(metadata: ["m": note]) { id = try $0.insert("Wide", values) }
    let made = try #require(id)
    #expect(try store.transaction(2).metadata["m"] == note)
    // One more property would make an object that is too long to be deleted.
    let more = failure { try store.write { try $0.update(made, [names[3_582]: noise(1)]) } }
    #expect(more?.code == .tooLarge)
    #expect(more?.message.contains("Wide#1 would take 14680068 bytes") == true, "\(more as Any)")
    #expect(store.token.number == 2)
    try store.write { try $0.update(made, [names[3_582]: noise(1), names[0]: .null]) }
    try store.write { try $0.update(made, [names[3_582]: .null, names[0]: noise(4_096)]) }
    try store.close()
    let again = try Store(location, creates: false)
    let object = try #require(try again.snapshot().object(made))
    #expect(object[names[3_581]] == values[names[3_581]])
    try again.write(metadata: ["m": note]) { try $0.delete(made) }
    #expect(try again.snapshot(at: 2).object(made)?[names[1]] == values[names[1]])
    #expect(try again.verifyHistory() == [])
    #expect(try again.compact().isRewritten)
    #expect(try again.verifyHistory() == [])
    #expect(try again.snapshot(at: 3).object(made)?[names[1]] == values[names[1]])
  }

  @Test func listsThatGrowBitByBitEndWhereTheirObjectCanBeDeleted() throws {
    let schema = Schema {
      Entity("Folder") {
        Attribute("id", .string, isUnique: true)
        Relationship("one", to: "Folder", isToMany: true, isOrdered: true)
        Relationship("two", to: "Folder", isToMany: true, isOrdered: true)
      }
    }
    let store = try Store(.memory, schema: schema)
    var made: ObjectID?
    try store.write { made = try $0.insert("Folder", ["id": "all"]) }
    let folder = try #require(made)
    // 12 bytes each: both lists together may have some 1,223,000.
    func list(_ count: Int) -> Value {
      .objects(Array(repeating: ObjectReference(folder), count: count))
    }
    try store.write { try $0.update(folder, ["one": list(500_000)]) }
    try store.write { try $0.update(folder, ["two": list(500_000)]) }
    try store.write { try $0.update(folder, ["one": list(700_000)]) }
    let error = failure { try store.write { try $0.update(folder, ["two": list(700_000)]) } }
    #expect(error?.code == .tooLarge)
    #expect(error?.message.contains("Folder/all would take 168") == true, "\(error as Any)")
    try store.write { try $0.delete(folder) }
    #expect(try store.verifyHistory() == [])
  }

  @Test func detailsAreAtMost4MiB() throws {
    let location = memoryFile()
    let store = try noteStore(location)
    try store.note("a", author: "ann")
    let head = store.token
    // Flags, a count, a key of one byte with its length, the value's kind and length.
    let most = FormatLimits.maximumDetailsLength - 9
    func write(_ count: Int) throws {
      try store.write(author: "ann", metadata: ["m": text(count)]) { try $0.insert("Folder") }
    }
    for body in [
      { try write(most + 1) },
      {
        try store.write(author: String(repeating: "n", count: 5 << 20)) {
          _ = try $0.insert("Folder")
        }
      },
      {
        try store.write(context: String(repeating: "n", count: 5 << 20)) {
          _ = try $0.insert("Folder")
        }
      },
      {
        try store.write(metadata: ["k": .json("[" + String(repeating: "1,", count: 3 << 20) + "1]")]
        ) {
          for _ in 0..<10 { try $0.insert("Folder") }
        }
      },
    ] as [() throws -> Void] {
      let error = failure(body)
      #expect(error?.code == .tooLarge)
      #expect(error?.message.contains("metadata") == true, "\(error as Any)")
      #expect(error?.message.contains("4194304") == true)
      #expect(store.token == head)
    }
    try write(most)
    #expect(store.token.number == head.number + 1)
    #expect(try store.transaction(store.token.number).metadata["m"] == text(most))
    let long = String(repeating: "long ", count: 15)
    let rules = (1...60_000).map { Value.string("\(long) \($0)") }
    let wide = failure {
      try store.require(
        Schema {
          Entity("Rules") { Attribute("one", .string, validation: Validation(oneOf: rules)) }
        })
    }
    #expect(wide?.code == .tooLarge)
    #expect(try store.verifyHistory() == [])
    try store.close()
    let again = try Store(location, creates: false)
    #expect(try again.transaction(again.token.number).metadata["m"] == text(most))
    try again.note("b")
    #expect(try again.compact().isRewritten)
    #expect(try again.verifyHistory() == [])
  }

  @Test func aRelationshipNamesAtMostAMillionObjects() throws {
    let store = try noteStore()
    let note = try store.note("a")
    var folder: ObjectID?
    try store.write { folder = try $0.insert("Folder", ["name": "all"]) }
    let id = try #require(folder)
    let head = store.token
    let one = ObjectReference(note)
    let many = Value.objects(Array(repeating: one, count: FormatLimits.maximumReferences + 1))
    for body in [
      { try $0.update(id, ["notes": many]) }, { try $0.insert("Folder", ["notes": many]) },
    ] as [(WriteTransaction) throws -> Void] {
      let error = failure { try store.write { try body($0) } }
      #expect(error?.code == .tooLarge)
      #expect(
        error?.message.contains(".notes would name 1048577 objects; the most is 1048576") == true,
        "\(error as Any)")
      #expect(store.token == head)
    }
  }

  @Test func aRelationshipNamesAMillionObjects() throws {
    let store = try noteStore()
    let note = try store.note("a")
    let id = try store.write { try $0.insert("Folder", ["name": "all"]) }
    let one = ObjectReference(note)
    // They are more than one change can bring, and come in two.
    let most = Array(repeating: one, count: FormatLimits.maximumReferences)
    let half = Value.objects(Array(most.prefix(most.count / 2)))
    let whole = failure { try store.write { try $0.update(id, ["notes": .objects(most)]) } }
    #expect(whole?.code == .tooLarge)
    #expect(whole?.message.contains("the update of Folder/all takes") == true, "\(whole as Any)")
    try store.write { try $0.update(id, ["notes": half]) }
    try store.write { try $0.update(id, ["notes": .objects(most)]) }
    guard case .objects(let list) = try store.snapshot().object(id)?["notes"] else {
      Issue.record("no list")
      return
    }
    #expect(list.count == FormatLimits.maximumReferences)
    #expect(try store.verifyHistory() == [])
  }

  @Test func rowsEndAt2ToThe40() throws {
    let location = memoryFile()
    let store = try noteStore(location)
    let note = try #require(store.schema.entity(named: "Note"))
    let last = Int64(1) << 40
    let beyond = failure {
      try store.write { _ = try $0.draft.insert(entity: note, row: last + 1) }
    }
    #expect(beyond?.code == .tooLarge)
    #expect(beyond?.message.contains("Note#1099511627777") == true)
    try store.write { tx in
      let object = try tx.draft.insert(entity: note, row: last)
      try tx.draft.set(object, 1, to: "last")
    }
    for body in [
      { _ = try $0.insert("Note", ["id": "more"]) },
      { _ = try $0.insert(LimitNote(id: "more")) },
    ] as [(WriteTransaction) throws -> Void] {
      let error = failure { try store.write { try body($0) } }
      #expect(error?.code == .tooLarge)
      #expect(error?.message.contains("Note#1099511627777") == true, "\(error as Any)")
    }
    #expect(try store.verifyHistory() == [])
    try store.checkpoint()
    try store.close()
    let again = try Store(location, creates: false)
    #expect(try again.snapshot().object(of: "Note", where: "id", is: "last")?.objectID.row == last)
    #expect(try again.verifyHistory() == [])
  }

  @Test func valuesOver4KiBAreKeptByThemselvesAndNeverUnique() throws {
    let store = try noteStore()
    let long = try store.note("a", text: String(repeating: "x", count: 4_097))
    let short = try store.note("b", text: String(repeating: "x", count: 4_096))
    #expect(try store.snapshot().object(short)?["text"] == text(4_096))
    #expect(try store.snapshot().object(long)?["text"] == text(4_097))
    guard case .large(let value) = try store.transaction(2).changes[0].after("text") else {
      Issue.record("not kept by itself")
      return
    }
    #expect(value.length == 4_097)
    try store.note(String(repeating: "k", count: 4_096))
    let error = failure { try store.note(String(repeating: "k", count: 4_097)) }
    #expect(error?.code == .invalidChange)
    #expect(error?.violations.map(\.rule) == [.uniqueLength(4_096)])
    #expect(try store.verifyHistory() == [])
  }

  @Test func thePrunersNameIsCutAt64Bytes() throws {
    let location = memoryFile()
    let store = try noteStore(location)
    for id in ["a", "b", "c"] { try store.note(id) }
    let name = "a" + String(repeating: "é", count: 40)
    try store.prune(try store.prunePlan(before: 3), author: name)
    try store.close()
    let again = try Store(location, creates: false)
    let error = failure { _ = try again.snapshot(at: 1) }
    #expect(error?.gap?.prunedBy == String(name.prefix(32)))
    #expect(try again.verifyHistory() == [])
  }

  @Test func numbersOfPropertiesEndAt65535() throws {
    func schema(_ number: Int) throws -> Schema {
      let json = """
        {"entities":[{"name":"E","number":1,"nextNumber":\(min(number + 1, 65_536)),"attributes":[\
        {"name":"id","number":1,"type":"string","optional":false,"unique":true},\
        {"name":"x","number":\(number),"type":"string"}]}]}
        """
      return try SchemaJSON.read(MemorySource(Array(json.utf8)))
    }
    let fault = #expect(throws: InputFault.self) { try schema(65_536) }
    #expect(fault?.reason.contains("65535") == true, "\(fault as Any)")
    let location = memoryFile()
    let store = try Store(location, creates: true)
    let last = try schema(65_535)
    try store.write { tx in
      tx.draft.define(last.entities)
      try tx.insert("E", ["id": "a", "x": "at the end"])
    }
    let more = failure { try store.require(Schema { Entity("E") { Attribute("y", .string) } }) }
    #expect(more?.code == .invalidSchema)
    #expect(more?.schemaConflicts.first?.reason.contains("65535") == true)
    try store.write { tx in
      let object = try #require(try tx.object(of: "E", where: "id", is: "a"))
      try tx.update(object.objectID, ["x": "changed"])
    }
    try store.checkpoint()
    try store.close()
    let again = try Store(location, creates: false)
    #expect(try again.snapshot().objects(of: "E").map { $0["x"] } == ["changed"])
    #expect(try again.snapshot(at: 1).objects(of: "E").map { $0["x"] } == ["at the end"])
    #expect(try again.verifyHistory() == [])
  }
}

private struct LimitNote: Record {
  var id: String

  static let entity = RecordEntity("Note", LimitNote.init, Property("id", \.id).unique())
}
