import Annals
import AnnalsModel
import AnnalsState
import Foundation
import Testing

// One entity as three ages of a program know it.

private struct ArticleV1: Record, Equatable {
  var key: String
  var text: String?
  var count: Int16
  static let entity = RecordEntity(
    "Article", ArticleV1.init,
    Property("key", \.key).unique(), Property("text", \.text), Property("count", \.count))
}

private struct ArticleV2: Record, Equatable {
  var key: String
  var body: String?
  var count: Int
  var stars: Int
  var note: String?
  static let entity = RecordEntity(
    "Article", ArticleV2.init,
    Property("key", \.key).unique(), Property("body", \.body).renamed(from: "text"),
    Property("count", \.count), Property("stars", \.stars).default(3),
    Property("note", \.note))
}

private struct ArticleV3: Record, Equatable {
  var key: String
  var stars: Int?
  static let entity = RecordEntity(
    "Article", ArticleV3.init, Property("key", \.key), Property("stars", \.stars))
}

private struct Strict: Record {
  var key: String
  var missing: Int
  static let entity = RecordEntity(
    "Article", Strict.init, Property("key", \.key), Property("missing", \.missing))
}

/// Its properties stand in another order than the initialiser takes them.
private struct Exchanged: Record {
  var first: String
  var number: Int
  var last: String
  static let entity = RecordEntity(
    "Exchanged", Exchanged.init,
    Property("last", \.last), Property("number", \.number), Property("first", \.first))
}

/// A property of which is computed, so that it has no place in memory.
private struct Computed: Record, Equatable {
  var base: Int
  var doubled: Int {
    get { base * 2 }
    set { base = newValue / 2 }
  }
  init(_ doubled: Int) { base = doubled / 2 }
  static let entity = RecordEntity(
    "Computed", { Computed($0) }, Property("doubled", \.doubled))
}

@Suite struct RecordEvolutionTests {
  @Test func olderObjectsReadWithDefaultsNilAndTheirRenamedValues() throws {
    var bench = try Bench(ArticleV1.self)
    let row = try bench.insert(ArticleV1(key: "a", text: "Fog", count: 7))
    let past = bench.state
    try bench.open(ArticleV2.self)
    #expect(
      try bench.read(ArticleV2.self, row)
        == ArticleV2(key: "a", body: "Fog", count: 7, stars: 3, note: nil))
    // The state of the time, read by today's record type.
    let binding = try bench.binding(ArticleV2.self)
    #expect(
      try binding.read(row, from: past, store: Bench.store, largeValues: bench.largeValues)
        == ArticleV2(key: "a", body: "Fog", count: 7, stars: 3, note: nil))
  }

  @Test func twoProgramsTakeTurnsAndNothingDisappears() throws {
    var bench = try Bench(ArticleV1.self)
    let first = try bench.insert(ArticleV1(key: "a", text: "Fog", count: 1))
    try bench.open(ArticleV2.self)
    let second = try bench.insert(
      ArticleV2(key: "b", body: "Sun", count: 70_000, stars: 5, note: "n"))
    // The older program adds its own name again, and reads what it can.
    try bench.open(ArticleV1.self)
    let third = try bench.insert(ArticleV1(key: "c", text: "Rain", count: 2))
    #expect(try bench.read(ArticleV1.self, first).text == nil)
    let error = #expect(throws: AnnalsError.self) { try bench.read(ArticleV1.self, second) }
    #expect(error?.message.contains("Article/b.count is 70000 (int), which is no Int16") == true)
    let schema = bench.state.schema
    try bench.open(ArticleV2.self)
    try bench.open(ArticleV1.self)
    #expect(bench.state.schema == schema)
    #expect(
      try bench.read(ArticleV2.self, first)
        == ArticleV2(key: "a", body: "Fog", count: 1, stars: 3, note: nil))
    #expect(
      try bench.read(ArticleV2.self, second)
        == ArticleV2(key: "b", body: "Sun", count: 70_000, stars: 5, note: "n"))
    // What the older program wrote has the default of what it does not know.
    #expect(
      try bench.read(ArticleV2.self, third)
        == ArticleV2(key: "c", body: nil, count: 2, stars: 3, note: nil))
    #expect(try bench.read(ArticleV1.self, third).text == "Rain")
    #expect(try bench.stored(ArticleV2.self, third, "stars") == .int(3))
    #expect(bench.violations.isEmpty)
  }

  @Test func newObjectsGetTheDefaultsOfWhatTheProgramDoesNotKnow() throws {
    var bench = try Bench(ArticleV2.self)
    try bench.open(ArticleV3.self)
    let row = try bench.insert(ArticleV3(key: "b", stars: nil))
    // A required attribute that the program does not know and that has no default is missed; the
    // transaction fails at its end.
    #expect(bench.violations.isEmpty)
    #expect(try bench.stored(ArticleV2.self, row, "count") == .null)
    let error = #expect(throws: AnnalsError.self) { try bench.read(ArticleV2.self, row) }
    #expect(error?.message.contains("Article/b.count has no value") == true)
  }

  @Test func whatTheStoreLacksReadsAsNilOrDefaultAndCannotBeWritten() throws {
    var bench = try Bench(ArticleV1.self)
    let row = try bench.insert(ArticleV1(key: "a", text: "Fog", count: 7))
    let article = try bench.read(ArticleV2.self, row)
    #expect(article == ArticleV2(key: "a", body: nil, count: 7, stars: 3, note: nil))
    let error = #expect(throws: AnnalsError.self) { try bench.update(row, to: article) }
    #expect(error?.schemaConflicts.map(\.property) == ["body", "stars", "note"])
    let missing = #expect(throws: AnnalsError.self) { try bench.read(Strict.self, row) }
    #expect(missing?.message.contains("Article/a.missing has no value") == true)
    let refused = #expect(throws: SchemaError.self) { try bench.open(Strict.self) }
    #expect(refused?.conflicts.map(\.kind) == [.missingDefault])
  }

  @Test func computedPropertiesGoByTheirKeyPath() throws {
    var bench = try Bench(Computed.self)
    let row = try bench.insert(Computed(42))
    #expect(try bench.stored(Computed.self, row, "doubled") == .int(42))
    #expect(try bench.read(Computed.self, row) == Computed(42))
    try bench.update(row, to: Computed(8))
    #expect(try bench.read(Computed.self, row) == Computed(8))
  }

  @Test func bindingsAreMadeOnceForAVersionOfTheSchema() throws {
    let bench = try Bench(Post.self)
    let bindings = RecordBindings(DerivedFunctions { $0 })
    let first = try bindings.binding(of: Post.self, schema: bench.state.schema, version: 1)
    #expect(try bindings.binding(of: Post.self, schema: bench.state.schema, version: 1) === first)
    #expect(try bindings.binding(of: Post.self, schema: bench.state.schema, version: 2) !== first)
  }

  @Test func exchangedPropertiesAreFound() throws {
    let bench = try Bench(Exchanged.self)
    let binding = try bench.binding(Exchanged.self)
    let found = binding.exchangedProperties(
      written: Exchanged(first: "a", number: 1, last: "b"),
      read: Exchanged(first: "b", number: 1, last: "a"))
    #expect(found?.0 == "last" && found?.1 == "first")
    let same = Exchanged(first: "a", number: 1, last: "b")
    #expect(binding.exchangedProperties(written: same, read: same) == nil)
  }

  @Test func exchangedPropertiesStopTheProgramAtTheFirstInsertWhereTheyDiffer() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      var bench = try Bench(Exchanged.self)
      // One binding, as a store keeps it.
      let binding = try bench.binding(Exchanged.self)
      for (first, last) in [("a", "a"), ("b", "b"), ("a", "b")] {
        try bench.insert(Exchanged(first: first, number: 1, last: last), binding)
        FileHandle.standardError.write(Data("inserted \(first)\(last)\n".utf8))
      }
    }
    let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(text.contains("inserted aa\ninserted bb\n") && !text.contains("inserted ab"))
    #expect(text.contains("\"last\" and \"first\" in another order"))
  }

  @Test func propertiesSeenInTheirPlaceAreNotCheckedAgain() throws {
    var bench = try Bench(Person.self)
    let binding = try bench.binding(Person.self)
    // `friends` and `path` are of one type.
    #expect(binding.exchange.pairs.map { [$0.first, $0.second] } == [[2, 3]])
    let ada = Person(name: "Ada", mentor: nil, friends: [], path: [])
    let row = try bench.insert(ada, binding)
    #expect(binding.exchange.isOpen)
    let id = try bench.id(Person.self, row)
    try bench.insert(Person(name: "Bob", mentor: nil, friends: [id], path: []), binding)
    #expect(!binding.exchange.isOpen)
    let one = try Bench(ArticleV1.self).binding(ArticleV1.self)
    #expect(!one.exchange.isOpen)
  }
}
