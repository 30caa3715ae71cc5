import Annals
import AnnalsModel
import AnnalsState
import Foundation
import Testing

@Suite struct RecordTests {
  @Test func aRecordIsReadAsWritten() throws {
    var bench = try Bench(Post.self)
    let post = Post.sample()
    let row = try bench.insert(post)
    #expect(bench.violations.isEmpty)
    let back = try bench.read(Post.self, row)
    #expect(back == post)
    #expect(try bench.stored(Post.self, row, "mood") == .string("stormy"))
    #expect(try bench.stored(Post.self, row, "rating") == .int(1))
  }

  @Test func datesAreRoundedToMicroseconds() throws {
    var bench = try Bench(Post.self)
    var post = Post.sample()
    post.timestamp = Date(timeIntervalSinceReferenceDate: 700_000_000.1234567)
    let row = try bench.insert(post)
    let back = try bench.read(Post.self, row)
    #expect(back.timestamp != post.timestamp)
    #expect(
      try bench.stored(Post.self, row, "timestamp")
        == .date(Timestamp(microseconds: 1_678_307_200_123_457)))
    // What was read is what is stored: writing it again changes nothing.
    let before = bench.state
    try bench.update(row, to: back)
    let entity = try bench.binding(Post.self).entity
    var batch = ChangeBatch()
    var changes = NetChanges(from: before, to: bench.state)
    let differs = try changes.append(ObjectReference(entity: entity, row: row), to: &batch)
    #expect(!differs)
  }

  @Test func nilAndNullAreTheSame() throws {
    var bench = try Bench(Post.self)
    var post = Post.sample()
    post.title = nil
    post.mood = nil
    let row = try bench.insert(post)
    #expect(try bench.read(Post.self, row) == post)
    post.title = "Mist"
    try bench.update(row, to: post)
    #expect(try bench.read(Post.self, row).title == "Mist")
    post.title = nil
    try bench.update(row, to: post)
    #expect(try bench.stored(Post.self, row, "title") == .null)
  }

  @Test func longValuesAreKeptBeside() throws {
    var bench = try Bench(Post.self)
    var post = Post.sample()
    post.body = String(repeating: "é", count: 3_000)
    let row = try bench.insert(post)
    guard case .large(let large) = try bench.stored(Post.self, row, "body") else {
      Issue.record("not large")
      return
    }
    #expect(large.length == 6_000)
    #expect(try bench.read(Post.self, row) == post)
    // Setting the same text again keeps the large value there is.
    var other = post
    other.body = "short"
    try bench.update(row, to: other)
    try bench.update(row, to: post)
    #expect(bench.largeValues.values.count == 2)
    try bench.set(\Post.body, row, to: post.body)
    #expect(bench.largeValues.values.count == 2)
  }

  @Test func onlyWhatDiffersIsWritten() throws {
    var bench = try Bench(Post.self)
    let row = try bench.insert(Post.sample())
    let before = bench.state
    var post = try bench.read(Post.self, row)
    post.title = "Misty Morning"
    try bench.update(row, to: post)
    var batch = ChangeBatch()
    let entity = try bench.binding(Post.self).entity
    var changes = NetChanges(from: before, to: bench.state)
    let differs = try changes.append(ObjectReference(entity: entity, row: row), to: &batch)
    #expect(differs)
    #expect(batch.properties.map(\.property) == [try bench.binding(Post.self).property(\.title)])
  }

  private static func bad() -> Post {
    var post = Post.sample()
    post.title = String(repeating: "x", count: 101)
    post.rating = 6
    post.score = .nan
    post.timestamp = Date(timeIntervalSinceReferenceDate: .infinity)
    return post
  }

  @Test func valuesThatNoColumnHoldsAreListedAndNotWritten() throws {
    var bench = try Bench(Post.self)
    let row = try bench.insert(RecordTests.bad())
    #expect(bench.violations.map(\.property) == ["timestamp"])
    #expect(bench.violations.map(\.rule) == [.type(.date)])
    #expect(bench.violations.allSatisfy { $0.object == ObjectReference(entity: 1, row: row) })
    #expect(try bench.stored(Post.self, row, "timestamp") == .null)
  }

  @Test func valuesThatBreakRulesAreListedAtTheEnd() throws {
    let store = try Store(.memory, records: Post.self)
    let before = store.token
    let error = #expect(throws: AnnalsError.self) {
      try store.write { try $0.insert(RecordTests.bad()) }
    }
    let found = try #require(error).violations
    #expect(Set(found.map(\.property)) == ["timestamp", "title", "rating", "score"])
    #expect(
      Set(found.map(\.rule)) == [
        .type(.date), .maximumLength(100), .maximum(.int(5)), .finite,
      ])
    #expect(found.count == 4)
    #expect(
      found.first { $0.rule == .type(.date) }?.description.hasSuffix(
        ".timestamp: a date lies between -290308-12-21 and +294247-01-10") == true)
    #expect(found.allSatisfy { $0.object == ObjectReference(entity: 1, row: 1) })
    let name = "Post/\(Post.sample().identifier.uuidString)"
    #expect(error?.message.contains("\(name).rating: 6 is greater than 5") == true)
    #expect(store.token == before)
  }

  /// Only the net change of a transaction counts.
  @Test func aValueReplacedBeforeTheEndIsNotChecked() throws {
    let store = try Store(.memory, records: Post.self)
    var bad = Post.sample()
    bad.rating = 6
    try store.write { tx in
      let object = try tx.insert(bad)
      #expect(object.value.rating == 6)
      try tx.set(\.rating, of: object, to: 5)
      let other = try tx.insert("Post", ["rating": .int(7)])
      try tx.delete(other)
    }
    #expect(try store.snapshot().objects(of: Post.self).map(\.value.rating) == [5])
  }

  @Test func relationshipsHoldIds() throws {
    var bench = try Bench(Person.self)
    let ada = try bench.insert(Person(name: "Ada", mentor: nil, friends: [], path: []))
    let bob = try bench.insert(Person(name: "Bob", mentor: nil, friends: [], path: []))
    let (a, b) = (try bench.id(Person.self, ada), try bench.id(Person.self, bob))
    let row = try bench.insert(
      Person(name: "Cyd", mentor: b, friends: [b, a, b], path: [b, a, b]))
    let cyd = try bench.read(Person.self, row)
    #expect(cyd.mentor == b)
    #expect(cyd.friends == [a, b])
    #expect(cyd.path == [b, a, b])
    // A to-one whose object was deleted since is nil; a list keeps what it was given.
    try bench.draft.delete(ObjectReference(entity: b.entity, row: bob))
    #expect(try bench.read(Person.self, row).mentor == nil)
    #expect(try bench.read(Person.self, row).friends == [a, b])
  }

  @Test func relationshipsAreCheckedForStoreAndEntity() throws {
    var bench = try Bench(Person.self, Post.self)
    let foreign = ObjectID(store: RawUUID(high: 9, low: 9), entity: 1, row: 1)
    #expect(throws: AnnalsError.self) {
      try bench.insert(Person(name: "x", mentor: foreign, friends: [], path: []))
    }
    let store = try Store(.memory, records: Person.self, Post.self)
    let error = #expect(throws: AnnalsError.self) {
      try store.write { tx in
        let post = try tx.insert(Post.sample()).objectID
        try tx.insert(Person(name: "x", mentor: post, friends: [post], path: []))
      }
    }
    #expect(
      error?.violations.map(\.rule) == [.destination("Person"), .destination("Person")])
  }

  @Test func whatDoesNotFitIsAnErrorThatNamesIt() throws {
    var bench = try Bench(Post.self)
    let row = try bench.insert(Post.sample())
    let name = "Post/\(Post.sample().identifier.uuidString)"
    let mood = try #require(try bench.binding(Post.self).property(\.mood))
    try bench.draft.set(ObjectReference(entity: 1, row: row), mood, to: .string("sunny"))
    let error = #expect(throws: AnnalsError.self) { try bench.read(Post.self, row) }
    #expect(error?.code == .unreadableRecord)
    #expect(error?.message.hasPrefix("\(name).mood is \"sunny\" (string)") == true)
    let body = try #require(try bench.binding(Post.self).property(\.body))
    try bench.draft.set(ObjectReference(entity: 1, row: row), mood, to: .null)
    try bench.draft.set(ObjectReference(entity: 1, row: row), body, to: .null)
    let second = #expect(throws: AnnalsError.self) { try bench.read(Post.self, row) }
    #expect(second?.message.contains("\(name).body has no value") == true)
  }

  @Test func aRecordTypeThatTheStoreDoesNotKnowIsNamed() throws {
    let bench = try Bench(Post.self)
    let error = #expect(throws: AnnalsError.self) { try bench.binding(Person.self) }
    #expect(error?.code == .invalidSchema)
    #expect(error?.schemaConflicts.first?.entity == "Person")
  }

  @Test func changesAreReadByKeyPath() throws {
    let bench = try Bench(Post.self)
    let binding = try bench.binding(Post.self)
    func value<V: AttributeValue>(_ keyPath: KeyPath<Post, V>, _ value: Value) throws -> V {
      var arena: ContiguousArray<UInt8> = []
      let cell = ValueCell(value, appendingTo: &arena)
      var result: Result<V, any Error>?
      arena.withUnsafeBytes { bytes in
        result = Result {
          try binding.value(
            of: keyPath, row: 1, cell, in: bytes, store: Bench.store,
            largeValues: bench.largeValues)
        }
      }
      return try #require(result).get()
    }
    #expect(try value(\.title, .string("Fog")) == "Fog")
    #expect(try value(\.title, .null) == nil)
    #expect(try value(\.mood, .string("calm")) == .calm)
    #expect(try value(\.rating, .int(3)) == 3)
    #expect(throws: AnnalsError.self) { try value(\.rating, .null) }
  }

  @Test func theObjectShowsItsRecord() {
    let id = ObjectID(store: Bench.store, entity: 1, row: 4)
    let object = Object(objectID: id, value: Post.sample())
    #expect(object.title == "Fog")
    #expect(object.objectID == id)
    #expect(object == Object(objectID: id, value: Post.sample()))
  }
}
