import Annals
import AnnalsModel
import AnnalsQuery

/// Conditions and sort keys as text. What parses must survive printing and parsing, and find the
/// same objects with any index.
enum FuzzConditions {
  private static let snapshot: Snapshot = {
    let schema = Schema {
      Entity("Place") {
        Attribute("name", .string, isOptional: false, isUnique: true)
      }
      Entity("Event") {
        Attribute("title", .string)
        Attribute("start", .date)
        Attribute("count", .int32)
        Attribute("level", .double)
        Attribute("anything", .any)
        Attribute("price", .decimal)
        Attribute("due", .day)
        Relationship("place", to: "Place")
        Relationship("stops", to: "Place", isToMany: true)
        IndexDescription("title", [IndexElement("title")])
        IndexDescription("start", [IndexElement("start", isDescending: true), "count"])
        IndexDescription("level", ["level"])
        IndexDescription("price", ["price", IndexElement("due", isDescending: true)])
        IndexDescription("due", ["due"])
        IndexDescription("anything", ["anything"])
        IndexDescription("place", ["place", "start"])
      }
    }
    do {
      let store = try Store(.memory, schema: schema, environment: .fixed())
      try store.write { tx in
        let places = try ["Kyoto", "Nara"].map { try tx.insert("Place", ["name": .string($0)]) }
        for number in 0..<24 {
          var values: [String: Value] = [
            "start": .date(Timestamp(microseconds: Int64(number % 5) * 86_400_000_000)),
            "count": .int(Int64(number % 4)),
            "level": [.null, .double(-0.0), .double(0), .double(1.5)][number % 4],
            "anything": [
              .null, .int(1), .string("1"), .bool(true), .double(1), .decimal(RawDecimal(1)),
              .day(.latest),
            ][number % 7],
            "price": .decimal(RawDecimal(["0", "-1.5", "12.50", "1e164"][number % 4]) ?? .zero),
            "due": .day(CalendarDay(["2019-10-06", "0000-02-29"][number % 2]) ?? .latest),
          ]
          if number % 3 > 0 { values["title"] = .string(["", "fog", "fog at dawn"][number % 3]) }
          if number % 7 > 1 { values["place"] = .object(ObjectReference(places[number % 2])) }
          values["stops"] = .objects(
            places.prefix(number % 3).map { ObjectReference($0) })
          try tx.insert("Event", values)
        }
      }
      return store.snapshot()
    } catch {
      preconditionFailure("the store to be asked cannot be made: \(error)")
    }
  }()

  static func run(_ bytes: UnsafeRawBufferPointer) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let condition = try? ConditionParser.parse(text) {
      let again = try? ConditionParser.parse(condition.description)
      precondition(again == condition, "a condition that reads otherwise: \(condition)")
    }
    let schema = snapshot.schema
    guard let event = schema.entity(named: "Event") else { return }
    var fetch = DynamicFetch("Event")
    if let keys = try? ConditionParser.parseSortKeys(text, over: event, in: schema) {
      fetch = fetch.sorted(by: keys).limit(7)
    } else if let condition = try? ConditionParser.parse(text, over: event, in: schema) {
      fetch = fetch.where(condition)
    } else {
      return
    }
    do {
      let found = try snapshot.objectIDs(fetch)
      let expected = try snapshot.objectIDs(fetch.withoutIndexes())
      precondition(found == expected, "an index changes what is found: \(text)")
      _ = try snapshot.explain(fetch)
    } catch {
      precondition(error.code == .invalidArgument, "a query failed with \(error)")
    }
  }

  static let seeds = [
    #"title BEGINSWITH[cd] "fog" AND start BETWEEN {1970-01-01, 1970-01-03}"#,
    #"price >= 12.50 AND due < 2019-10-07 OR anything == DECIMAL("1.0")"#,
    #"due IN {DAY("2019-10-06"), today} AND price BETWEEN {-1.5e0, 1}"#,
    #"count IN {1, 3, nil} OR NOT (level <= 0 || level == 1.5e0)"#,
    #"place.name LIKE 'K*o\?' && anything != TRUE"#, "place == Place#1 OR place = nil",
    #"title BEGINSWITH 'fog' or title > "x\u{e9}""#, "`start` < 1970-01-02T10:00:00.5+02:00",
    "-start,title[c] NILS LAST,place.name", "SELF IN {Event#1, Event#9} AND TRUEPREDICATE",
    "stops CONTAINS Place#2 AND NOT ANY stops.name BEGINSWITH 'K'",
    "ANY stops (name == 'Nara' OR SELF == Place#1) AND start > 1970-01-02",
  ].map { ContiguousArray($0.utf8) }
}
