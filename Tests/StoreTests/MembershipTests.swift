import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

private struct Topic: Record {
  var name: String
  var parent: Reference<Topic>?
  static let entity = RecordEntity(
    "Topic", Topic.init, Property("name", \.name), Property("parent", \.parent))
}

private struct Shelf: Record {
  var topics: [Reference<Topic>]
  static let entity = RecordEntity(
    "Shelf", Shelf.init, Property("topics", \.topics).onDelete(.keep))
}

private struct Note: Record {
  var title: String
  var topics: [Reference<Topic>]
  var shelf: Reference<Shelf>?
  var others: [ObjectID]
  var day: Date? = Date(timeIntervalSince1970: 0)
  static let entity = RecordEntity(
    "Note", Note.init, Property("title", \.title).indexed(),
    Property("topics", \.topics).onDelete(.keep),
    Property("shelf", \.shelf), Property("others", \.others, to: Topic.self).onDelete(.keep),
    Property("day", \.day))
}

/// Conditions on the objects of to-many relationships.
@Suite(.deadline) struct MembershipTests {
  /// Notes a to d: a has food and wine, b food, c none, d wine, which is deleted. The parent of
  /// food is home.
  private struct Lab {
    let store: Store
    let home, food, wine: Object<Topic>

    init() throws {
      store = try Store(.memory, records: Note.self, Topic.self, Shelf.self)
      (home, food, wine) = try store.write { tx in
        let home = try tx.insert(Topic(name: "home", parent: nil))
        let food = try tx.insert(Topic(name: "food", parent: home.reference))
        let wine = try tx.insert(Topic(name: "wine", parent: nil))
        let shelf = try tx.insert(Shelf(topics: [food.reference]))
        func note(_ title: String, _ topics: Object<Topic>..., shelf: Reference<Shelf>? = nil)
          throws
        {
          try tx.insert(
            Note(
              title: title, topics: topics.map(\.reference), shelf: shelf,
              others: topics.map(\.objectID)))
        }
        try note("a", food, wine)
        try note("b", food, shelf: shelf.reference)
        try note("c")
        try note("d", wine)
        return (home, food, wine)
      }
      try store.write { try $0.delete(wine) }
    }

    func found(_ condition: RecordCondition<Note>) throws -> String {
      let fetch = Fetch(Note.self).where(condition)
      let snapshot = store.snapshot()
      let titles = try snapshot.fetch(fetch).map(\.title).joined()
      #expect(try snapshot.count(fetch) == titles.count)
      return titles
    }

    func found(text: String) throws -> String {
      let condition = try Condition(parsing: text, of: "Note", in: store.schema)
      let names = try store.snapshot().fetch(DynamicFetch("Note").where(condition))
      return names.map { if case .string(let title) = $0["title"] { title } else { "?" } }.joined()
    }
  }

  @Test func typedFormsFindWhatTheyTell() throws {
    let lab = try Lab()
    #expect(try lab.found(.contains(\.topics, lab.food)) == "ab")
    #expect(try lab.found(.contains(\.topics, lab.food.reference)) == "ab")
    #expect(try lab.found(!.contains(\.topics, lab.food)) == "cd")
    // By id also what was deleted; no object is there that could meet anything.
    #expect(try lab.found(.contains(\.topics, lab.wine)) == "ad")
    #expect(try lab.found(.any(\.topics, \.name == "wine")) == "")
    #expect(try lab.found(.any(\.topics, .always)) == "ab")
    #expect(try lab.found(!.any(\.topics, .always)) == "cd")
    #expect(try lab.found(.any(\.topics, .never)) == "")
    #expect(try lab.found(.any(\.topics, \.name == "food" && .begins(\.name, with: "f"))) == "ab")
    #expect(try lab.found(.any(\.topics, \.parent == lab.home)) == "ab")
    #expect(try lab.found(.any(\.topics, .through(\.parent, \.name == "home"))) == "ab")
    #expect(try lab.found(.contains(\.others, lab.wine.objectID)) == "ad")
    #expect(try lab.found(.through(\.shelf, .contains(\.topics, lab.food))) == "b")
    #expect(try lab.found(.through(\.shelf, .any(\.topics, \.name == "food"))) == "b")
    #expect(try lab.found(\.title == "a" && .contains(\.topics, lab.food)) == "a")
  }

  @Test func textFormsFindTheSame() throws {
    let lab = try Lab()
    let row = lab.food.objectID.row
    #expect(try lab.found(text: "topics CONTAINS Topic#\(row)") == "ab")
    #expect(try lab.found(text: "NOT topics CONTAINS Topic#\(row)") == "cd")
    #expect(try lab.found(text: "ANY topics.name == 'food'") == "ab")
    #expect(try lab.found(text: "ANY topics.parent.name BEGINSWITH 'h'") == "ab")
    #expect(try lab.found(text: "NOT ANY topics.name IN {'food', 'wine'}") == "cd")
    #expect(try lab.found(text: "ANY shelf.topics.name LIKE 'f*' AND title > 'a'") == "b")
    let typed: RecordCondition<Note> = .any(\.topics, \.name == "food" || \.parent == nil)
    let back = try Condition(parsing: typed.description, of: "Note", in: lab.store.schema)
    #expect(back == typed.condition)
  }

  @Test func changesByConditionFollow() throws {
    let lab = try Lab()
    let changed = try lab.store.write {
      try $0.update(Note.self, where: .contains(\.topics, lab.food)) { $0.title += "!" }
    }
    #expect(changed == 2)
    let deleted = try lab.store.write { tx in
      try tx.update(lab.food) { $0.name = "meals" }
      return try tx.delete(Note.self, where: .any(\.topics, \.name == "meals"))
    }
    #expect(deleted == 2)
    #expect(try lab.found(.always) == "cd")
  }

  @Test func groupsAndValuesTakeThem() throws {
    let lab = try Lab()
    let fetch = Fetch(Note.self).where(.contains(\.topics, lab.wine))
    let groups = try lab.store.snapshot().groups(fetch, by: .value(\.title))
    #expect(groups.map(\.count) == [1, 1])
    #expect(try lab.store.snapshot().values(fetch, \.title) == ["a", "d"])
  }

  @Test func explainSaysThatAllObjectsAreRead() throws {
    let lab = try Lab()
    let snapshot = lab.store.snapshot()
    let row = lab.food.objectID.row
    let entity = lab.food.objectID.entity
    let plain = try snapshot.explain(Fetch(Note.self).where(.contains(\.topics, lab.food)))
    #expect(plain.hasPrefix("reads all 4 objects\neach is asked: topics CONTAINS \(entity)#\(row)"))
    let both = Fetch(Note.self).where(\.title == "a" && .any(\.topics, \.name == "food"))
    #expect(try snapshot.explain(both.using("title")).contains("each is asked: ANY topics.name =="))
    #expect(try snapshot.fetch(both.using("title")).map(\.title) == ["a"])
  }

  @Test func objectsOfOtherStoresAndEntitiesAreRefused() throws {
    let lab = try Lab()
    let other = try Lab()
    let foreign = #expect(throws: AnnalsError.self) {
      try lab.found(.contains(\.topics, other.food))
    }
    #expect(foreign?.code == .otherStore)
    let nested = #expect(throws: AnnalsError.self) {
      try lab.found(.any(\.topics, \.parent == other.home))
    }
    #expect(nested?.code == .otherStore)
    let note = try #require(try lab.store.snapshot().objectIDs(Fetch(Note.self)).first)
    let wrong = #expect(throws: AnnalsError.self) {
      try lab.found(.contains(\.topics, Reference(note)))
    }
    #expect(wrong?.code == .invalidArgument)
    #expect(wrong?.message.contains("leads to Topic, and row 1 is one of Note") == true)
  }

  /// Before the relationship, or the entity, existed no object lists anything.
  @Test func thePastHasItsOwnProperties() throws {
    let location = memoryFile()
    let old = try Store(location, schema: Schema { Entity("Note") { Attribute("title", .string) } })
    let token = try old.commit { try $0.insert("Note", ["title": "z"]) }.token
    try old.close()
    let store = try Store(location, records: Note.self, Topic.self, Shelf.self)
    let topic = try store.write { tx in
      let topic = try tx.insert(Topic(name: "food", parent: nil))
      try tx.insert(Note(title: "a", topics: [topic.reference], shelf: nil, others: []))
      return topic
    }
    let past = try store.snapshot(at: token)
    for condition: RecordCondition<Note> in [
      .contains(\.topics, topic), .any(\.topics, \.name == "food"), .any(\.topics, .always),
    ] {
      #expect(try past.count(Fetch(Note.self).where(condition)) == 0)
      #expect(try past.count(Fetch(Note.self).where(!condition)) == 1)
      #expect(try store.snapshot().count(Fetch(Note.self).where(condition)) == 1)
    }
  }

  /// Foundation's predicates become the condition, and find what they find in an array.
  @Test func aPredicateIsPlanned() throws {
    let lab = try Lab()
    let snapshot = lab.store.snapshot()
    for topic in [lab.food, lab.wine, lab.home].map(\.reference) {
      let predicate = #Predicate<Note> { $0.topics.contains(topic) || $0.title == "c" }
      let fetch = Fetch(Note.self).where(predicate)
      #expect(try !snapshot.explain(fetch).contains("predicate"))
      let expected = try snapshot.objects(of: Note.self).filter { try predicate.evaluate($0.value) }
      #expect(try snapshot.fetch(fetch).map(\.title) == expected.map(\.title))
    }
  }

  /// A timeline is made anew as objects beyond its own change.
  @Test func aTimelineFollows() async throws {
    let lab = try Lab()
    let timeline = Timeline<Note>(start: \.day).labeled(by: \.title)
      .where(.any(\.topics, \.name == "food"))
    let view = lab.store.live(timeline)
    var updates = view.makeAsyncIterator()
    func next() async throws -> String {
      try #require(try await updates.next()).rows.all().map(\.label).joined()
    }
    #expect(try await next() == "ab")
    try await lab.store.write { try $0.update(lab.food) { $0.name = "meals" } }
    #expect(try await next() == "")
    try await lab.store.write { try $0.update(lab.home) { $0.name = "food" } }
    try await lab.store.write { tx in
      try tx.update(Note.self, where: \.title == "c") { $0.topics = [lab.home.reference] }
    }
    #expect(try await next() == "c")
  }

  @Test func sectionsFollow() async throws {
    let lab = try Lab()
    let fetch = Fetch(Note.self).where(.any(\.topics, \.name == "food"))
    let view = lab.store.live(fetch.sorted(by: \.title), sections: .by(\.title))
    var updates = view.makeAsyncIterator()
    func next() async throws -> [Int] {
      try #require(try await updates.next()).rows.sections().map(\.count)
    }
    #expect(try await next() == [1, 1])
    try await lab.store.write { try $0.update(lab.home) { $0.name = "food" } }
    try await lab.store.write { tx in
      try tx.update(Note.self, where: \.title >= "b") {
        ($0.title, $0.topics) = ("b", [lab.home.reference])
      }
    }
    #expect(try await next() == [1, 3])
    try await lab.store.write { try $0.delete(lab.food) }
    #expect(try await next() == [3])
  }

  /// An index stores its condition, which cannot be one of membership.
  @Test func noIndexHasSuchACondition() throws {
    let index = IndexDescription(
      "some", ["title"], where: .any("topics", .compare("name", .equal, "food")))
    let schema = Schema {
      Entity("Topic") { Attribute("name", .string) }
      Entity("Note") {
        Attribute("title", .string)
        Relationship("topics", to: "Topic", isToMany: true)
        index
      }
    }
    let error = #expect(throws: AnnalsError.self) { try Store(.memory, schema: schema) }
    #expect(error?.message.contains("topics is asked for its objects") == true)
  }
}
