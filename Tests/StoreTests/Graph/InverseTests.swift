import Annals
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

private struct Line: Record {
  var name: String
  static let entity = RecordEntity(
    "Line", Line.init, Property("name", \.name).unique())

  static let events = Inverse(\Event.line)
  static let covers = Inverse(\Event.cover)
  static let starred = Inverse(\List.lines)
}

private struct Event: Record {
  var title: String
  var line: Reference<Line>?
  var cover: Reference<Line>?
  static let entity = RecordEntity(
    "Event", Event.init,
    Property("title", \.title), Property("line", \.line).onDelete(.cascade),
    Property("cover", \.cover).onDelete(.keep))
}

private struct List: Record {
  var title: String
  var lines: [Reference<Line>]
  static let entity = RecordEntity(
    "List", List.init,
    Property("title", \.title), Property("lines", \.lines, isOrdered: true).inverse("starred"))
}

/// The other side of references, and rules of record types.
@Suite struct InverseTests {
  private let store: Store
  private let red: Object<Line>
  private let blue: Object<Line>

  init() throws {
    store = try Store(.memory, records: Line.self, Event.self, List.self, environment: .fixed())
    (red, blue) = try store.write { tx in
      let red = try tx.insert(Line(name: "red"))
      let blue = try tx.insert(Line(name: "blue"))
      for number in 1...3 {
        try tx.insert(Event(title: "r\(number)", line: red.reference, cover: blue.reference))
      }
      try tx.insert(Event(title: "b", line: blue.reference))
      try tx.insert(List(title: "all", lines: [blue.reference, red.reference]))
      try tx.insert(List(title: "some", lines: [red.reference]))
      return (red, blue)
    }
  }

  @Test func anInverseFindsWhatRefersToAnObject() throws {
    let snapshot = store.snapshot()
    #expect(try snapshot.objects(red, \.events).map(\.title) == ["r1", "r2", "r3"])
    #expect(try snapshot.count(red, \.events) == 3)
    #expect(try snapshot.objects(blue, \.events).map(\.title) == ["b"])
    #expect(try snapshot.object(blue, \.events)?.title == "b")
    #expect(try snapshot.objects(blue, \.covers).count == 3)
    #expect(try snapshot.objects(red, \.starred).map(\.title) == ["all", "some"])
    #expect(try snapshot.object(blue, \.starred)?.title == "all")
    let sorted = Fetch(red, \.events).where(\.title != "r2").sorted(by: \.title, .descending)
    #expect(try snapshot.fetch(sorted).map(\.title) == ["r3", "r1"])
  }

  @Test func theReferenceIndexServesWhereThereIsOne() throws {
    try store.write { tx in
      for number in 0..<200 { try tx.insert(Event(title: "x\(number)", cover: red.reference)) }
    }
    let snapshot = store.snapshot()
    #expect(
      try snapshot.explain(Fetch(red, \.events)).contains("by reference index `line`: 3 of 204"))
    #expect(
      try snapshot.explain(Fetch(List.self).where(.contains(\.lines, blue)))
        .contains("by reference index `lines`: 1 of 2") == false)
    // `.keep` without an inverse has none.
    #expect(try snapshot.explain(Fetch(blue, \.covers)).contains("reads all 204 objects"))
    let either = Fetch(Event.self).where(\.line == red || \.line == blue)
    #expect(try snapshot.explain(either).contains("by reference index `line`: 4 of 204"))
    #expect(try snapshot.fetch(either).map(\.title) == ["r1", "r2", "r3", "b"])
  }

  /// By a plan, and by the index alone where the fetch says nothing else.
  @Test func aFetchOfWhatRefersToAnObjectNeedsNoPlan() throws {
    let snapshot = store.snapshot()
    let events = Fetch(red, \.events)
    let ids = try snapshot.objectIDs(events)
    #expect(try ids == snapshot.objects(red, \.events).map(\.objectID))
    #expect(try snapshot.objectIDs(events.withoutIndexes()) == ids)
    #expect(try snapshot.objectIDs(events.sorted(by: \.title, .descending)) == ids.reversed())
    #expect(try snapshot.objectIDs(events.offset(1).limit(1)) == [ids[1]])
    #expect(try snapshot.objectIDs(events.where(\.title != "r2")) == [ids[0], ids[2]])
    let lists = Fetch(List.self).where(.contains(\.lines, red))
    #expect(try snapshot.fetch(lists).map(\.title) == ["all", "some"])
    try store.write { tx in
      try tx.delete(ids[0])
      let new = try tx.insert(Event(title: "new", line: red.reference))
      #expect(try tx.objectIDs(events) == [ids[1], ids[2], new.objectID])
      #expect(try tx.count(red, \.events) == 3)
    }
    #expect(try snapshot.objectIDs(events) == ids)
    let other = try Store(.memory, records: Line.self, Event.self, environment: .fixed(seed: 2))
    let line = try other.write { try $0.insert(Line(name: "red")) }
    let error = #expect(throws: AnnalsError.self) {
      try snapshot.objectIDs(Fetch(line, \.events))
    }
    #expect(error?.code == .otherStore)
  }

  @Test func anInverseIsWritten() throws {
    let event = try #require(try store.snapshot().first(Fetch(blue, \.events)))
    try store.write { tx in
      try tx.add(event, to: red, \.events)
      #expect(try tx.count(red, \.events) == 4)
    }
    #expect(try store.snapshot().count(blue, \.events) == 0)
    try store.write { tx in
      try tx.remove(event, from: blue, \.events)
      #expect(try tx.count(red, \.events) == 4)
      try tx.remove(event, from: red, \.events)
    }
    #expect(try store.snapshot().object(Event.self, event.objectID)?.line == nil)
    let list = try #require(
      try store.snapshot().first(Fetch(List.self).where(\.title == "some")))
    try store.write { tx in
      try tx.add(list, to: blue, \.starred)
      try tx.add(list, to: blue, \.starred)
      try tx.remove(list, from: red, \.starred)
    }
    #expect(
      try store.snapshot().object(List.self, list.objectID)?.lines == [blue.reference])
  }

  @Test func aLiveViewFollowsAnInverse() async throws {
    var rows = store.live(Fetch(red, \.events)).makeAsyncIterator()
    #expect(try await rows.next()?.rows.all().map(\.title) == ["r1", "r2", "r3"])
    try await store.write { tx in
      try tx.insert(Event(title: "new", line: red.reference))
      try tx.insert(Event(title: "other", line: blue.reference))
    }
    #expect(try await rows.next()?.rows.all().map(\.title) == ["r1", "r2", "r3", "new"])
    try await store.write { try $0.delete(red) }
    #expect(try await rows.next()?.rows.isEmpty == true)
  }

  @Test func conditionsGoThroughInverses() throws {
    let snapshot = store.snapshot()
    func names(_ condition: RecordCondition<Line>) throws -> [String] {
      try snapshot.fetch(Fetch(Line.self).where(condition)).map(\.name)
    }
    #expect(try names(.any(\.events, \.title == "b")) == ["blue"])
    #expect(try names(.every(\.events, \.title != "r2")) == ["blue"])
    #expect(try names(.none(\.events, \.title == "b")) == ["red"])
    #expect(try names(.count(\.events) > 1) == ["red"])
    #expect(try names(.count(\.events) == 1 && .count(\.covers) == 3) == ["blue"])
    #expect(try names(.any(\.starred, \.title == "some")) == ["red"])
    #expect(try names(.count(\.starred) <= 1) == ["blue"])
    let lists = Fetch(List.self).where(.count(\.lines) >= 2)
    #expect(try snapshot.fetch(lists).map(\.title) == ["all"])
    let through = Fetch(List.self).where(
      .any(\.lines, .any(\.events, \.title == "b") && .count(\.events) != 3))
    #expect(try snapshot.fetch(through).map(\.title) == ["all"])
    // As text, by the name that the relationship says, or by that of every one.
    func dynamic(_ text: String) throws -> [Value] {
      let condition = try Condition(parsing: text, of: "Line", in: snapshot.schema)
      return try snapshot.fetch(DynamicFetch("Line").where(condition)).map { $0["name"] }
    }
    #expect(try dynamic("ANY starred.title == 'some'") == ["red"])
    #expect(try dynamic("starred.@count > 1") == ["red"])
    #expect(try dynamic("NONE starred (title == 'some')") == ["blue"])
    #expect(try dynamic("ALL `^Event.line`.title BEGINSWITH 'r'") == ["red"])
    #expect(try dynamic("starred CONTAINS List#2") == ["red"])
    let printed = try Condition(
      parsing: "ALL starred.title == 'all'", of: "Line", in: snapshot.schema
    ).description
    #expect(try dynamic(printed) == ["blue"])
    #expect(throws: AnnalsError.self) { try dynamic("starred.title == 'all'") }
    #expect(throws: AnnalsError.self) { try dynamic("name.@count > 1") }
    #expect(throws: AnnalsError.self) { try dynamic("ANY unknown.title == 'all'") }
  }

  @Test func aLiveViewFollowsConditionsThroughInverses() async throws {
    let busy = Fetch(Line.self).where(.count(\.events) > 1 || .any(\.events, \.title == "x"))
    var rows = store.live(busy).makeAsyncIterator()
    #expect(try await rows.next()?.rows.all().map(\.name) == ["red"])
    let event = try #require(try store.snapshot().first(Fetch(blue, \.events)))
    try await store.write { try $0.set(\.title, of: event, to: "x") }
    #expect(try await rows.next()?.rows.all().map(\.name) == ["red", "blue"])
    // It moves: both lines are affected, and one is no longer met.
    try await store.write { try $0.set(\.line, of: event, to: red) }
    #expect(try await rows.next()?.rows.all().map(\.name) == ["red"])
    try await store.write { tx in
      for event in try tx.objects(red, \.events).dropFirst() { try tx.delete(event) }
    }
    #expect(try await rows.next()?.rows.isEmpty == true)
  }

  @Test func rulesOfRecordsHold() throws {
    try store.write { try $0.delete(red) }
    let snapshot = store.snapshot()
    #expect(try snapshot.fetch(Fetch(Event.self)).map(\.title) == ["b"])
    // The usual rule of a list takes it out.
    #expect(try snapshot.fetch(Fetch(List.self)).map(\.lines) == [[blue.reference], []])
    #expect(try store.verify().filter { $0.severity != .note } == [])
  }
}

/// Rules that come to a store with objects.
@Suite struct NewRuleTests {
  private struct Plain: Record {
    var name: String
    static let entity = RecordEntity("Plain", Plain.init, Property("name", \.name))
  }

  private struct Kept: Record {
    var to: Reference<Plain>?
    static let entity = RecordEntity("User", Kept.init, Property("to", \.to).onDelete(.keep))
  }

  private struct Silent: Record {
    var to: Reference<Plain>?
    static let entity = RecordEntity("User", Silent.init, Property("to", \.to))
  }

  private struct Cascading: Record {
    var to: Reference<Plain>?
    static let entity = RecordEntity(
      "User", Cascading.init, Property("to", \.to).onDelete(.cascade))
  }

  private struct Clearing: Record {
    var to: Reference<Plain>?
    static let entity = RecordEntity(
      "User", Clearing.init, Property("to", \.to).onDelete(.cascade, .nullifyDangling))
  }

  @Test func aStoreKeepsItsRuleUntilAProgramDeclaresOne() throws {
    let location = StoreLocation(fileSystem: MemoryFileSystem(), path: "/rules.annals")
    func rule(_ store: Store) -> DeleteRule? {
      store.snapshot().schema.entity(named: "User")?.relationship(named: "to")?.deleteRule
    }
    var store = try Store(location, records: Plain.self, Kept.self, environment: .fixed())
    #expect(rule(store) == .keep)
    let (a, b) = try store.write { tx in
      let a = try tx.insert(Plain(name: "a"))
      let b = try tx.insert(Plain(name: "b"))
      try tx.insert(Kept(to: a.reference))
      try tx.insert(Kept(to: b.reference))
      return (a, b)
    }
    try store.write { try $0.delete(a) }
    try store.close()
    store = try Store(location, records: Plain.self, Silent.self, environment: .fixed())
    #expect(rule(store) == .keep)
    try store.close()
    let head = store.token.number
    let error = #expect(throws: AnnalsError.self) {
      try Store(location, records: Plain.self, Cascading.self, environment: .fixed())
    }
    #expect(error?.code == .invalidSchema)
    #expect(error?.message.contains("refers to deleted objects in User#1") == true)
    store = try Store(location, records: Plain.self, Clearing.self, environment: .fixed())
    #expect(rule(store) == .cascade)
    #expect(store.token.number == head + 1)
    #expect(try store.snapshot().fetch(Fetch(Clearing.self)).map(\.to) == [nil, b.reference])
    #expect(try store.transaction(store.token.number).changes.count == 1)
    try store.write { try $0.delete(b) }
    #expect(try store.snapshot().count(of: "User") == 1)
    try store.close()
    // Once it has a rule, a program that says nothing, or another rule, decides no less.
    store = try Store(location, records: Plain.self, Silent.self, environment: .fixed())
    #expect(rule(store) == .cascade)
    try store.close()
    store = try Store(location, records: Plain.self, Kept.self, environment: .fixed())
    #expect(rule(store) == .keep)
    #expect(try store.verify().filter { $0.severity != .note } == [])
  }

  /// The first twenty are named; the others are counted.
  @Test(arguments: [1, 2, 19, 20, 21, 22, 40])
  func whatDanglesIsNamedOrCounted(_ count: Int) throws {
    let location = StoreLocation(fileSystem: MemoryFileSystem(), path: "/rules.annals")
    let store = try Store(location, records: Plain.self, Kept.self, environment: .fixed())
    try store.write { tx in
      let (gone, there) = (try tx.insert(Plain(name: "a")), try tx.insert(Plain(name: "b")))
      for _ in 0..<count {
        try tx.insert(Kept(to: there.reference))
        try tx.insert(Kept(to: gone.reference))
      }
    }
    try store.write { try $0.delete(#require(try $0.objects(of: Plain.self).first)) }
    try store.close()
    let error = #expect(throws: AnnalsError.self) {
      try Store(location, records: Plain.self, Cascading.self, environment: .fixed())
    }
    let names = (1...min(count, 20)).map { "User#\($0 * 2)" }.joined(separator: ", ")
    let more = count > 20 ? " and \(count - 20) more" : ""
    #expect(
      error?.message.contains(
        "refers to deleted objects in \(names)\(more). Clear them with `.nullifyDangling`")
        == true, "\(error?.message ?? "")")
  }

  private struct Needing: Record {
    var to: Reference<Plain>
    static let entity = RecordEntity("User", Needing.init, Property("to", \.to).onDelete(.keep))
  }

  private struct NeedingCleared: Record {
    var to: Reference<Plain>
    static let entity = RecordEntity(
      "User", NeedingCleared.init, Property("to", \.to).onDelete(.cascade, .nullifyDangling))
  }

  /// What must lead to an object cannot be cleared.
  @Test func aRequiredReferenceIsNotCleared() throws {
    let location = StoreLocation(fileSystem: MemoryFileSystem(), path: "/rules.annals")
    let store = try Store(location, records: Plain.self, Needing.self, environment: .fixed())
    let gone = try store.write { tx in
      let gone = try tx.insert(Plain(name: "a"))
      try tx.insert(Needing(to: gone.reference))
      return gone
    }
    try store.write { try $0.delete(gone) }
    try store.close()
    let error = #expect(throws: AnnalsError.self) {
      try Store(location, records: Plain.self, NeedingCleared.self, environment: .fixed())
    }
    #expect(error?.code == .invalidSchema)
    #expect(
      error?.message.contains(
        "refers to deleted objects in User#1. Set others first, or delete these objects") == true,
      "\(error?.message ?? "")")
  }

  @Test func aNewRelationshipHasTheUsualRule() throws {
    let store = try Store(.memory, records: Plain.self, Silent.self, environment: .fixed())
    let to = store.snapshot().schema.entity(named: "User")?.relationship(named: "to")
    #expect(to?.deleteRule == .nullify)
  }
}
