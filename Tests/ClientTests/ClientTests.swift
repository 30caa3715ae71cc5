import Annals
import Foundation
import Testing

// What a program sees that depends on the product `Annals` and imports nothing else of it.

private enum Weather: Int, AttributeValue {
  case fair
  case foul
}

private struct Note: Record {
  var identifier: UUID
  var created: Date
  var weather: Weather
  var link: URL?
  var attachment: Data?
  var author: ObjectID?
  var tags: [ObjectID]
  var payload: String?
  var anything: Value
  var small: UInt8
  var ratio: Float
  static let entity = RecordEntity(
    "Note", Note.init,
    Property("identifier", \.identifier).unique().preservedAfterDeletion(),
    Property("created", \.created).indexed(.descending),
    Property("weather", \.weather).default(.fair).oneOf([.fair, .foul]),
    Property("link", \.link).renamed(from: "url"),
    Property("attachment", \.attachment).length(...1_000),
    Property("author", \.author, to: Author.self),
    Property("tags", \.tags, to: Author.self, isOrdered: true),
    Property("payload", \.payload).json(),
    Property("anything", \.anything),
    Property("small", \.small).range(1...),
    Property("ratio", \.ratio).range(0...1)
  )
  .renamed(from: "Memo")
  .unique(by: \.created, \.small)
}

private struct Author: Record {
  var name: String
  static let entity = RecordEntity("Author", Author.init, Property("name", \.name).displayName())
}

@Suite struct ClientTests {
  @Test func aRecordTypeStatesASchema() throws {
    let schema = Schema(records: [Note.self, Author.self])
    let note = try #require(schema.entity(named: "Note"))
    #expect(
      note.attributes.map(\.type) == [
        .uuid, .date, .int64, .url, .data, .json, .any, .int16, .double,
      ])
    #expect(
      note.attributes.map(\.isOptional) == [
        false, false, false, true, true, true, true, false, false,
      ])
    #expect(note.attribute(named: "weather")?.defaultValue == 0)
    #expect(note.attribute(named: "weather")?.validation.oneOf == [0, 1])
    #expect(note.attribute(named: "small")?.validation.minimum == 1)
    #expect(note.attribute(named: "ratio")?.validation.maximum == 1.0)
    #expect(note.relationships.map(\.destinationName) == ["Author", "Author"])
    #expect(note.relationships.map(\.isToMany) == [false, true])
    #expect(note.indexes.map(\.name) == ["created descending", "created, small"])
    #expect(note.indexes.map(\.isUnique) == [false, true])
    #expect(schema.entity(named: "Author")?.displayName == "name")
  }

  @Test func theRunTimeFormStatesTheSame() {
    let isRich = true
    let schema = Schema {
      Entity("Author", displayName: "name") {
        Attribute("name", .string, isOptional: false)
        if isRich {
          for name in ["home", "work"] { Attribute(name, .url) }
        }
      }
    }
    #expect(schema.entity(named: "Author")?.attributes.count == 3)
    #expect(Schema(records: [Author.self]).entities.map(\.name) == ["Author"])
  }

  @Test func valuesHaveLiteralsAndFoundationForms() throws {
    let values: [String: Value] = ["a": 1, "b": "x", "c": 2.5, "d": true, "e": nil]
    #expect(values["a"] == .int(1) && values["d"] == .bool(true) && values["e"] == .null)
    let date = Date(timeIntervalSince1970: 1.5)
    #expect(Value.date(date) == .date(Timestamp(microseconds: 1_500_000)))
    let uuid = try #require(UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF"))
    #expect(Value.uuid(uuid).as(UUID.self) == uuid)
    #expect(RawUUID(uuid).description == uuid.uuidString)
    #expect(UUID(RawUUID(uuid)) == uuid)
    #expect(Value.int(300).as(UInt8.self) == nil)
    #expect(Value.int(200).as(UInt8.self) == 200)
    #expect(Value("x" as String?).as(String.self) == "x")
    #expect(Value(nil as Int?) == .null)
    #expect(Value.null.as(Int?.self) == .some(nil))
  }

  @Test(arguments: [
    Date.distantPast, .distantFuture, Date(timeIntervalSince1970: 0.1234565),
    Date(timeIntervalSince1970: -0.0000004), Date(timeIntervalSinceReferenceDate: 800_000_000.7),
  ])
  func datesKeepTheirMicroseconds(date: Date) {
    let timestamp = Timestamp(date)
    #expect(abs(Date(timestamp).timeIntervalSince(date)) <= 0.000_016)
    #expect(Timestamp(Date(timestamp)) == timestamp)
  }

  @Test func datesBeyondAllBoundsAreSeen() {
    #expect(Timestamp(exactly: Date(timeIntervalSince1970: .nan)) == nil)
    #expect(Timestamp(exactly: Date(timeIntervalSince1970: 1e14)) == nil)
    #expect(Timestamp(Date(timeIntervalSince1970: -1e14)).microseconds == .min)
  }

  @Test func anObjectsIDHasATextForm() throws {
    let store = try Store(.memory, records: Author.self, environment: .fixed())
    let id = try store.write { try $0.insert(Author(name: "Ann")) }.objectID
    #expect(id.description == "1#1@\(store.id)")
    #expect(ObjectID(id.description) == id && id.storeID == store.id)
    let coded = try JSONEncoder().encode([id])
    #expect(try JSONDecoder().decode([ObjectID].self, from: coded) == [id])
    for text in [
      "", "1#1", "1#1@", "0#1@\(store.id)", "1#0@\(store.id)", "1#-1@\(store.id)",
      "1#1#1@\(store.id)", "1@\(store.id)", "1#1@\(store.id)@", "x#1@\(store.id)",
    ] {
      #expect(ObjectID(text) == nil, "\(text)")
    }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([ObjectID].self, from: Data(#"["1#1"]"#.utf8))
    }
  }

  @Test func aClockOfDatesIsExactToTheMicrosecond() throws {
    var environment = StoreEnvironment.fixed()
    environment.now = { Date(timeIntervalSince1970: 1_571_767_200.123456) }
    let store = try Store(.memory, records: Author.self, environment: environment)
    let schema = try store.transaction(1)
    #expect(Timestamp(schema.timestamp).description == "2019-10-22T18:00:00.123456Z")
  }

  @Test func aFixedEnvironmentRepeatsItself() {
    let (a, b) = (StoreEnvironment.fixed(seed: 7), StoreEnvironment.fixed(seed: 7))
    #expect((0..<4).map { _ in a.random() } == (0..<4).map { _ in b.random() })
    #expect(a.now() == b.now())
    #expect(StoreEnvironment.fixed(seed: 8).random() != StoreEnvironment.fixed(seed: 7).random())
    #expect(StoreEnvironment.system.processID > 0)
  }

  @Test func anErrorSaysWhatToDo() {
    var error = AnnalsError(.damaged, "the header is damaged", offset: 12)
    #expect(error.description == "the header is damaged (offset 12)")
    error = AnnalsError(.noSuchObject, "gone")
    #expect(error.code == .noSuchObject && error.violations.isEmpty && error.gap == nil)
    switch error.code {
    case .noSuchObject: break
    default: Issue.record("codes do not match in a switch")
    }
  }
}
