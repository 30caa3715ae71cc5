import Annals
import AnnalsExchange
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

private struct LimitedTag: Record {
  var name: String
  static let entity = RecordEntity("Tag", LimitedTag.init, Property("name", \.name).unique())
}

private struct LimitedPost: Record {
  var name: String
  var tags: [Reference<LimitedTag>]
  static let entity = RecordEntity(
    "Post", LimitedPost.init, Property("name", \.name).unique(),
    Property("tags", \.tags).count(1...2))
}

/// How many objects a to-many relationship leads to.
@Suite struct CountLimitTests {
  private static func schema(
    _ count: (any RangeExpression<Int>)?, _ rule: DeleteRule = .nullify
  ) -> Schema {
    Schema {
      Entity("Tag") { Attribute("name", .string, isOptional: false, isUnique: true) }
      Entity("Post") {
        Attribute("name", .string, isOptional: false, isUnique: true)
        Relationship("tags", to: "Tag", isToMany: true, onDelete: rule, count: count)
      }
    }
  }

  /// A store of three tags, and a post with as many of them as said.
  private func store(
    _ count: (any RangeExpression<Int>)?, tags number: Int, at location: StoreLocation? = nil
  ) throws -> (Store, tags: [ObjectReference], post: ObjectID) {
    let store = try Store(
      location ?? memoryFile(), schema: CountLimitTests.schema(count), environment: .fixed())
    return try store.write { tx in
      let tags = try ["a", "b", "c"].map {
        ObjectReference(try tx.insert("Tag", ["name": .string($0)]))
      }
      let values: [String: Value] = ["name": "p", "tags": .objects(Array(tags.prefix(number)))]
      return (store, tags, try tx.insert("Post", values))
    }
  }

  private func refused(_ body: () throws -> Void) -> [String]? {
    let error = #expect(throws: AnnalsError.self) { try body() }
    #expect(error?.code == .invalidChange)
    return error?.violations.map(\.description)
  }

  private func limits(_ store: Store) -> [Int64?] {
    let tags = store.schema.entity(named: "Post")?.relationship(named: "tags")
    return [tags?.minimumCount, tags?.maximumCount]
  }

  @Test func whateverWritesObeys() throws {
    let (store, tags, post) = try store(1...2, tags: 1)
    let few = ["Post/p.tags: it has 0 objects, fewer than 1"]
    let many = ["Post/p.tags: it has 3 objects, more than 2"]
    #expect(refused { try store.write { try $0.update(post, ["tags": .null]) } } == few)
    #expect(refused { try store.write { try $0.update(post, ["tags": .objects(tags)]) } } == many)
    #expect(
      refused { try store.write { try $0.insert("Post", ["name": "q"]) } }
        == ["Post/q.tags: it has 0 objects, fewer than 1"])
    // What the end of the transaction says counts, after delete rules.
    try store.write { tx in
      try tx.update(post, ["tags": .objects(tags)])
      try tx.update(post, ["tags": .objects(Array(tags[1...]))])
    }
    func delete(_ tag: ObjectReference) throws {
      try store.write {
        try $0.delete(ObjectID(store: store.token.store, entity: tag.entity, row: tag.row))
      }
    }
    try delete(tags[1])
    #expect(refused { try delete(tags[2]) } == few)
    #expect(
      refused {
        try store.erase(
          ObjectID(store: store.token.store, entity: tags[2].entity, row: tags[2].row),
          reason: "asked")
      } == few)
    var lines = [
      Data(#"{"changes":[{"op":"update","entity":"Post","id":"p","set":{"tags":null}}]}"#.utf8)
    ]
    #expect(refused { try store.import { lines.popLast() } } == few)
    #expect(try store.snapshot().object(post)?["tags"].targets == [tags[2]])
    #expect(try store.problems() == [])
  }

  @Test func mergesAndRevertsObey() throws {
    let (store, tags, post) = try store(1..., tags: 2)
    let before = store.token
    func id(_ tag: ObjectReference) -> ObjectID {
      ObjectID(store: store.token.store, entity: tag.entity, row: tag.row)
    }
    // What others have deleted leaves the list that it was put into.
    try store.write { try $0.delete(id(tags[0])) }
    let values: [String: Value] = ["name": "q", "tags": .objects([tags[0]])]
    #expect(
      refused {
        try store.write(basedOn: before, merging: .storedWins) { try $0.insert("Post", values) }
      } == ["Post/q.tags: it has 0 objects, fewer than 1"])
    try store.write { try $0.update(post, ["tags": .objects(Array(tags[1...]))]) }
    let second = store.token
    try store.require(CountLimitTests.schema(2...3))
    #expect(
      refused { try store.revert(second) } == ["Post/p.tags: it has 1 object, fewer than 2"])
    #expect(try store.problems() == [])
  }

  @Test func whatIsStoredIsCheckedOnceALimitIsDeclared() throws {
    let (store, tags, post) = try store(nil, tags: 3)
    try store.write { try $0.insert("Post", ["name": "q"]) }
    let all = [
      "Post/p.tags: it has 3 objects, more than 2", "Post/q.tags: it has 0 objects, fewer than 1",
    ]
    #expect(refused { try store.require(CountLimitTests.schema(1...2)) } == all)
    #expect(limits(store) == [nil, nil])
    // One that the transaction changes, too, is told once.
    #expect(
      refused {
        try store.write { tx in
          try tx.require(CountLimitTests.schema(1...2))
          try tx.update(post, ["tags": .null])
        }
      } == [all[1], "Post/p.tags: it has 0 objects, fewer than 1"].sorted())
    try store.write { tx in
      try tx.require(CountLimitTests.schema(1...2))
      for object in try tx.objects(of: "Post") {
        try tx.update(object.objectID, ["tags": .objects([tags[0]])])
      }
    }
    #expect(limits(store) == [1, 2])
    // A declaration without limits changes none, a looser one needs no look, 0... has none.
    let number = store.token.number
    try store.require(CountLimitTests.schema(nil))
    #expect(store.token.number == number)
    try store.require(CountLimitTests.schema(1...))
    #expect(limits(store) == [1, nil])
    try store.require(CountLimitTests.schema(...7))
    #expect(limits(store) == [nil, 7])
    try store.require(CountLimitTests.schema(0..<3))
    #expect(limits(store) == [nil, 2])
    try store.require(CountLimitTests.schema(0...))
    #expect(limits(store) == [nil, nil])
  }

  /// Whatever the limits were, the new ones hold for what is stored, or are refused.
  @Test func everyChangeOfLimitsHoldsForWhatIsStored() throws {
    let limits: [ClosedRange<Int>?] = [nil, 0...1, 0...2, 1...1, 1...2, 1...3, 2...2, 2...3]
    for old in limits {
      for new in limits where new != nil {
        for number in 0...3 where old?.contains(number) ?? true {
          let (store, _, _) = try store(old, tags: number)
          let isFine = new?.contains(number) ?? true
          let place = "\(String(describing: old)) to \(String(describing: new)), \(number)"
          do throws(AnnalsError) {
            try store.require(CountLimitTests.schema(new))
            #expect(isFine, "\(place)")
          } catch {
            #expect(!isFine && error.code == .invalidChange, "\(place): \(error)")
          }
          #expect(try store.problems() == [], "\(place)")
        }
      }
    }
  }

  @Test func aNewRelationshipMayHaveALimitThatTheTransactionMeets() throws {
    let (store, tags, post) = try store(nil, tags: 0)
    let more = Schema {
      Entity("Tag")
      Entity("Post") {
        Relationship("others", to: "Tag", isToMany: true, count: 1...)
      }
    }
    #expect(
      refused { try store.require(more) } == ["Post/p.others: it has 0 objects, fewer than 1"])
    try store.write { tx in
      try tx.require(more)
      try tx.update(post, ["others": .objects([tags[0]])])
    }
    #expect(try store.problems() == [])
  }

  @Test func limitsThatNoneCanHaveAreRefused() throws {
    func problem(_ relationship: Relationship) throws -> [SchemaConflict.Kind]? {
      let error = #expect(throws: AnnalsError.self) {
        try Store(memoryFile(), schema: Schema { Entity("A") { relationship } })
      }
      return error?.schemaConflicts.map(\.kind)
    }
    #expect(try problem(Relationship("a", to: "A", count: 1...2)) == [.incompatibleRelationship])
    var wrong = Relationship("a", to: "A", isToMany: true, count: 3...)
    wrong.maximumCount = 2
    #expect(try problem(wrong) == [.incompatibleRelationship])
    wrong.minimumCount = -1
    #expect(try problem(wrong) == [.incompatibleRelationship])
  }

  @Test func recordsDeclareThem() throws {
    let file = memoryFile()
    let store = try Store(file, records: LimitedPost.self, LimitedTag.self, environment: .fixed())
    #expect(limits(store) == [1, 2])
    let error = #expect(throws: AnnalsError.self) {
      try store.write { try $0.insert(LimitedPost(name: "p", tags: [])) }
    }
    #expect(error?.violations.map(\.rule) == [.minimumCount(1)])
    try store.write { tx in
      let tag = try tx.insert(LimitedTag(name: "a"))
      try tx.insert(LimitedPost(name: "p", tags: [tag.reference]))
    }
    try store.checkpoint()
    // Both are kept by every form of the file, by JSON and by an import.
    try store.close()
    let again = try Store(file, environment: .fixed(seed: 2))
    #expect(limits(again) == [1, 2])
    _ = try again.compact()
    #expect(limits(again) == [1, 2])
    #expect(try again.problems() == [])
    var lines: [Data] = []
    try again.export { lines.append($0) }
    let other = try Store(memoryFile(), environment: .fixed(seed: 3))
    lines.reverse()
    try other.import { lines.popLast() }
    #expect(limits(other) == [1, 2])
  }
}
