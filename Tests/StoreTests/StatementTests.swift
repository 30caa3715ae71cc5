import Annals
import AnnalsFaults
import AnnalsInspection
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// Operations of a transaction that fail, and a closure that goes on all the same.
@Suite struct StatementTests {
  private func location(_ disk: FaultyFileSystem) -> StoreLocation {
    StoreLocation(fileSystem: disk, path: "/a.annals")
  }

  private func long(_ letter: Character, _ count: Int) -> Value {
    .string(String(repeating: letter, count: count))
  }

  private func failure(_ body: () throws -> Void) -> AnnalsError? {
    do {
      try body()
      return nil
    } catch {
      return error as? AnnalsError
    }
  }

  /// The space ends before anything of the long value is written, and with a part of it written.
  @Test(arguments: [100_000, 1_400_000] as [UInt64])
  func aFailedInsertLeavesNothing(capacity: UInt64) throws {
    let disk = FaultyFileSystem()
    let store = try noteStore(location(disk))
    try store.note("a")
    try store.write { tx in
      try tx.insert("Note", ["id": "b", "text": long("b", 5_000)])
      disk.capacity = capacity
      let error = failure {
        try tx.insert("Note", ["id": "c", "count": 1, "text": long("c", 3_500_000)])
      }
      #expect(error?.code == .noSpace)
      #expect(try tx.count(of: "Note") == 2)
      #expect(try tx.object(of: "Note", where: "id", is: "c") == nil)
      disk.capacity = .max
      try tx.insert("Note", ["id": "d", "text": long("d", 6_000)])
      try tx.insert("Note", ["id": "c", "text": "at last"])
    }
    let texts = [.null, long("b", 5_000), long("d", 6_000), "at last"] as [Value]
    #expect(try store.ids() == ["a", "b", "d", "c"])
    #expect(try store.wholeTexts() == texts)
    #expect(try store.verifyHistory() == [])
    try store.close()
    #expect(try disk.findings(about: "/a.annals") == [])
    let again = try Store(location(disk), creates: false)
    #expect(try again.wholeTexts() == texts)
    #expect(try again.verifyHistory() == [])
  }

  @Test func aFailedUpdateLeavesNothing() throws {
    let disk = FaultyFileSystem()
    let store = try noteStore(location(disk))
    let id = try store.note("a", text: "before")
    try store.write { tx in
      try tx.update(id, ["text": "in between"])
      disk.capacity = 100_000
      // Properties are written in the order of their numbers: the key comes before the text.
      let error = failure {
        try tx.update(id, ["id": "other", "text": long("x", 3_500_000), "count": 7])
      }
      #expect(error?.code == .noSpace)
      disk.capacity = .max
      let now = try #require(try tx.object(id))
      #expect(now["id"] == "a" && now["text"] == "in between" && now["count"] == .null)
    }
    #expect(try store.ids() == ["a"] && store.texts() == ["in between"])
    #expect(try store.verifyHistory() == [])
    try store.close()
    #expect(try disk.findings(about: "/a.annals") == [])
  }

  @Test func aFailedRecordLeavesNothing() throws {
    let disk = FaultyFileSystem()
    let store = try Store(location(disk), schema: Schema(records: [Memo.self]))
    let long = String(repeating: "x", count: 3_500_000)
    try store.write { tx in
      try tx.insert(Memo(id: 1, text: "one"))
      disk.capacity = 100_000
      let error = failure { try tx.insert(Memo(id: 2, text: long)) }
      #expect(error?.code == .noSpace)
      #expect(try tx.count(of: Memo.self) == 1)
      disk.capacity = .max
      try tx.insert(Memo(id: 3, text: "three"))
    }
    #expect(try store.snapshot().objects(of: Memo.self).map(\.value.id) == [1, 3])
    try store.write { tx in
      let memo = try #require(try tx.object(Memo.self, where: \.id, is: 1))
      try tx.set(\.text, of: memo, to: "uno")
      disk.capacity = 100_000
      let error = failure {
        try tx.update(memo) {
          $0.id = 9
          $0.text = long
        }
      }
      #expect(error?.code == .noSpace)
      disk.capacity = .max
      #expect(try tx.object(Memo.self, where: \.id, is: 9) == nil)
      try tx.insert(Memo(id: 4, text: "four"))
    }
    let changes = try store.transaction(store.token.number).changes
    #expect(changes.map(\.changedProperties) == [["text"], ["id", "text"]])
    #expect(try store.snapshot().objects(of: Memo.self).map(\.value.id) == [1, 3, 4])
    #expect(try store.snapshot().object(Memo.self, where: \.id, is: 1)?.text == "uno")
    #expect(try store.verifyHistory() == [])
    try store.close()
    #expect(try disk.findings(about: "/a.annals") == [])
  }

  /// A long value of the transaction itself, which the update replaced, could only be written
  /// again: the transaction fails. One from before it is found.
  @Test(arguments: [true, false])
  func aFailedRecordThatCannotBeTakenBackFailsTheTransaction(isNew: Bool) throws {
    let disk = FaultyFileSystem()
    let store = try Store(location(disk), schema: Schema(records: [LongMemo.self]))
    let long = String(repeating: "x", count: 3_500_000)
    try store.write { try $0.insert(LongMemo(id: 1, text: long, more: nil)) }
    let head = store.token
    let failed = failure {
      try store.write { tx in
        let memo = try #require(try tx.object(LongMemo.self, where: \.id, is: 1))
        disk.capacity = isNew ? 7_100_000 : 3_600_000
        if isNew { try tx.set(\.text, of: memo, to: long + "z") }
        let error = failure {
          try tx.update(memo) {
            $0.text = "short"
            $0.more = long + "y"
          }
        }
        #expect(error?.code == .noSpace)
        disk.capacity = .max
        try tx.insert(LongMemo(id: 4, text: "four", more: nil))
      }
    }
    #expect(failed?.code == (isNew ? .noSpace : nil))
    #expect(isNew == (store.token == head))
    let texts = try store.snapshot().objects(of: LongMemo.self).map(\.value.text.count)
    #expect(texts == (isNew ? [long.count] : [long.count, 4]))
    try store.write { try $0.insert(LongMemo(id: 5, text: "five", more: nil)) }
    #expect(try store.verifyHistory() == [])
    try store.close()
    #expect(try disk.findings(about: "/a.annals") == [])
  }

  /// A to-one reads as nil where its object was deleted; what it held is not to be told from that.
  @Test func aFailedRecordWithALostTargetFailsTheTransaction() throws {
    let disk = FaultyFileSystem()
    let store = try Store(location(disk), schema: Schema(records: [LinkedMemo.self]))
    let long = String(repeating: "x", count: 3_500_000)
    try store.write { tx in
      let one = try tx.insert(LinkedMemo(id: 1, next: nil, text: "one"))
      try tx.insert(LinkedMemo(id: 2, next: one.objectID, text: "two"))
      try tx.insert(LinkedMemo(id: 3, next: nil, text: "three"))
    }
    try store.write { tx in
      try tx.delete(try #require(try tx.object(LinkedMemo.self, where: \.id, is: 1)))
    }
    let head = store.token
    func fail(_ id: Int, next: Bool) throws -> AnnalsError? {
      failure {
        try store.write { tx in
          let memo = try #require(try tx.object(LinkedMemo.self, where: \.id, is: id))
          #expect(memo.next == nil)
          let capacity = disk.capacity
          disk.capacity = 100_000
          let error = failure {
            try tx.update(memo) {
              if next { $0.next = memo.objectID }
              $0.text = long
            }
          }
          #expect(error?.code == .noSpace)
          disk.capacity = capacity
        }
      }
    }
    #expect(try fail(2, next: false) == nil)
    #expect(try fail(2, next: true)?.code == .noSpace)
    #expect(store.token == head)
    #expect(try store.verifyHistory().map(\.severity) == [.note])
  }

  /// A null stored in a required attribute stands for its default, so that setting it to that, or
  /// clearing it, changes nothing.
  @Test func theDefaultThatANullStandsForIsNoChange() throws {
    let location = memoryFile()
    let store = try noteStore(location)
    let id = try store.note("a")
    try store.require(
      Schema { Entity("Note") { Attribute("stars", .int64, isOptional: false, default: .int(5)) } })
    let head = store.token
    func set(_ values: Value...) throws -> Int64 {
      let commit = try store.commit { tx in
        for value in values { try tx.update(id, ["stars": value]) }
      }
      return commit.token.number
    }
    #expect(try store.snapshot().object(id)?["stars"] == 5)
    #expect(try set(5) == head.number)
    #expect(try set(.null) == head.number)
    #expect(try set(7, 5) == head.number)
    #expect(try set(7, .null) == head.number)
    #expect(try set(7) == head.number + 1)
    #expect(try set(.null) == head.number + 2)
    let back = try store.transaction(head.number + 2).changes[0]
    #expect(back.before("stars") == 7 && back.after("stars") == 5)
    #expect(try set(5) == head.number + 2)
    #expect(try set(.null) == head.number + 2)
    #expect(try set(8, 5) == head.number + 2)
    #expect(try store.snapshot().object(id)?["stars"] == 5)
    // A new object has the default itself.
    let new = try store.note("b")
    #expect(try store.transaction(head.number + 3).changes[0].after("stars") == 5)
    #expect(try store.commit { try $0.update(new, ["stars": 5]) }.token.number == head.number + 3)
    // What a null stood for stays when the attribute becomes optional.
    try store.require(Schema { Entity("Note") { Attribute("stars", .int64) } })
    #expect(try store.snapshot().object(id)?["stars"] == 5)
    #expect(try store.snapshot(at: head).object(id)?["stars"] == 5)
    #expect(try store.verifyHistory() == [])
    try store.close()
    let again = try Store(location, creates: false)
    #expect(try again.snapshot().object(id)?["stars"] == 5)
    #expect(try again.verifyHistory() == [])
  }

  @Test func theDefaultThatANullStandsForIsNoChangeOfARecord() throws {
    let location = memoryFile()
    let older = try Store(location, schema: Schema(records: [Memo.self]))
    let id = try older.write { try $0.insert(Memo(id: 1, text: "one")).objectID }
    try older.close()
    let store = try Store(location, records: StarredMemo.self)
    let head = store.token.number
    func set(_ stars: Int) throws -> Int64 {
      try store.commit { try $0.set(\StarredMemo.stars, of: id, to: stars) }.token.number
    }
    #expect(try set(5) == head)
    let commit = try store.commit { try $0.update(StarredMemo.self, id) { $0.stars = 5 } }
    #expect(commit.token.number == head)
    #expect(try set(6) == head + 1)
    #expect(try set(6) == head + 1)
    #expect(try set(5) == head + 2)
    #expect(try store.snapshot().object(StarredMemo.self, id)?.value.stars == 5)
    #expect(try store.verifyHistory() == [])
  }

  /// A transaction that another process could not sync is gone, and its number stands for another
  /// schema: records are not written as the lost one had it.
  @Test func recordsAreBoundAnewAfterALostSchemaChange() throws {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: "/a.annals")
    let writer = try Store(location, schema: Schema(records: [Memo.self]))
    try writer.write { try $0.insert(Memo(id: 1, text: "one")) }
    let before = try files.contents(of: location.path)
    let other = try Store(location, creates: false)
    try writer.require(Schema { Entity("Memo") { Attribute("extra", .string) } })
    try other.refresh()
    // Binds the type to the schema of transaction 3.
    _ = try other.snapshot().objects(of: ExtraMemo.self)
    let lost = try files.contents(of: location.path)
    let zeros = repeatElement(UInt8(0), count: lost.count - before.count)
    try files.overwrite(before + zeros, at: 0, of: location.path)
    let third = try Store(
      location, schema: Schema { Entity("Memo") { Attribute("more", .string) } })
    #expect(third.token.number == 3)
    try third.close()
    #expect(throws: AnnalsError.self) {
      try other.write { try $0.insert(ExtraMemo(id: 2, text: "two", extra: "lost")) }
    }
    #expect(other.token.number == 3)
    try other.write { try $0.insert(Memo(id: 2, text: "two")) }
    #expect(try other.snapshot().objects(of: "Memo").map { $0["more"] } == [.null, .null])
    #expect(try other.verifyHistory() == [])
  }
}

private struct Memo: Record {
  var id: Int
  var text: String

  static let entity = RecordEntity(
    "Memo", Memo.init, Property("id", \.id).unique(), Property("text", \.text))
}

private struct LinkedMemo: Record {
  var id: Int
  var next: ObjectID?
  var text: String

  static let entity = RecordEntity(
    "Memo", LinkedMemo.init, Property("id", \.id).unique(),
    Property("next", \.next, to: LinkedMemo.self).onDelete(.keep), Property("text", \.text))
}

private struct LongMemo: Record {
  var id: Int
  var text: String
  var more: String?

  static let entity = RecordEntity(
    "Memo", LongMemo.init, Property("id", \.id).unique(), Property("text", \.text),
    Property("more", \.more))
}

private struct StarredMemo: Record {
  var id: Int
  var text: String
  var stars: Int

  static let entity = RecordEntity(
    "Memo", StarredMemo.init, Property("id", \.id).unique(), Property("text", \.text),
    Property("stars", \.stars).default(5))
}

private struct ExtraMemo: Record {
  var id: Int
  var text: String
  var extra: String?

  static let entity = RecordEntity(
    "Memo", ExtraMemo.init, Property("id", \.id).unique(), Property("text", \.text),
    Property("extra", \.extra))
}

extension Store {
  /// The texts of all notes, long ones with their bytes.
  fileprivate func wholeTexts() throws -> [Value] {
    try snapshot().objects(of: "Note").map { note in
      guard case .large(let value) = note["text"] else { return note["text"] }
      return .string(String(decoding: try bytes(of: value), as: UTF8.self))
    }
  }
}
