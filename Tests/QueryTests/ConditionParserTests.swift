import AnnalsModel
import AnnalsQuery
import AnnalsTestSupport
import Testing

/// Conditions read from text.
@Suite struct ConditionParserTests {
  static let schema: Schema = {
    var place = Entity(
      "Place",
      attributes: [
        Attribute("name", .string), Attribute("size", .int64), Attribute("x.y", .int64),
      ],
      relationships: [Relationship("near", to: "Place", isToMany: true)])
    var event = Entity(
      "Event",
      attributes: AttributeType.allCases.map { Attribute("\($0)", $0) } + [
        Attribute("title", .string), Attribute("timestamp", .date), Attribute("a.b", .int64),
        Attribute("in", .int64),
      ],
      relationships: [Relationship("place", to: "Place"), Relationship("all_places", to: "Place")])
    place.number = 1
    event.number = 2
    place.relationships[0].destination = 1
    event.relationships[0].destination = 1
    event.relationships[1].destination = 1
    event.relationships[1].isToMany = true
    return Schema(entities: [place, event])
  }()

  static func parse(_ text: String) throws(ConditionTextError) -> Condition {
    try ConditionParser.parse(text, over: schema.entities[1], in: schema)
  }

  @Test(arguments: [
    (
      "title BEGINSWITH[cd] \"mist\" AND timestamp BETWEEN {2019-10-01, 2019-11-01}",
      "title BEGINSWITH[cd] \"mist\" AND timestamp BETWEEN "
        + "{2019-10-01T00:00:00Z, 2019-11-01T00:00:00Z}"
    ),
    (
      "int64=1 or int64<>2||!(bool==yes&&double=<1.5e3)",
      "int64 == 1 OR int64 != 2 OR NOT (bool == TRUE AND double <= 1500.0)"
    ),
    ("title != null and title = NIL", "title != nil AND title == nil"),
    ("not not title like 'a\\*b\"'", "title LIKE \"a\\\\*b\\\"\""),
    ("a.b IN {1, 2}", "`a.b` IN {1, 2}"), ("place.name == \"x\"", "place.name == \"x\""),
    ("`a.b` not in ()", "NOT `a.b` IN {}"), ("`in` > -1", "`in` > -1"),
    ("place == Place#5 AND SELF != 2#7", "place == 1#5 AND SELF != 2#7"),
    ("place.id IN {Place#5@1B4E28BA-2FA1-11D2-883F-B9A761BDE3FB}", "place.id IN {1#5}"),
    (
      "uuid == \"1b4e28ba-2fa1-11d2-883f-b9a761bde3fb\"",
      "uuid == 1B4E28BA-2FA1-11D2-883F-B9A761BDE3FB"
    ),
    ("date < 2019-10-01T12:00:00+02:00", "date < 2019-10-01T10:00:00Z"),
    ("date < '2019-10-01 12:30'", "date < 2019-10-01T12:30:00Z"),
    (
      "date < 2019-10-01 12:30:15.5 AND bool == NO",
      "date < 2019-10-01T12:30:15.5Z AND bool == FALSE"
    ),
    (
      "url == 'a:b' and json = '1' and data == DATA('00ff')",
      "url == URL(\"a:b\") AND json == JSON(\"1\") AND data == DATA(\"00FF\")"
    ),
    ("title ==[c] 'x' OR title !=[d] 'y'", "title ==[c] \"x\" OR NOT title ==[d] \"y\""),
    ("TRUEPREDICATE and falsepredicate", "TRUEPREDICATE AND FALSEPREDICATE"),
    ("all_places contains Place#5", "all_places CONTAINS 1#5"),
    ("all_places NOT CONTAINS 1#5 OR bool == YES", "NOT all_places CONTAINS 1#5 OR bool == TRUE"),
    ("any all_places.name = 'x' and int64 = 1", "ANY all_places.name == \"x\" AND int64 == 1"),
    ("NONE all_places.name == 'x'", "NOT ANY all_places.name == \"x\""),
    ("ALL all_places.size > 1", "NOT ANY all_places (NOT size > 1)"),
    ("all_places.@COUNT >= 2", "all_places.@count >= 2"),
    ("all_places.@count IN {1, 2}", "all_places.@count IN {1, 2}"),
    ("all_places.@Max.size > 2.5", "all_places.@max.size > 2.5"),
    ("place.near.@avg.size == nil", "place.near.@avg.size == nil"),
    ("all_places.@sum.near.@count > 1", "all_places.@sum.near.@count > 1"),
    ("ANY all_places.near.@min.size < 3", "ANY all_places.near.@min.size < 3"),
    ("ANY all_places (near.@count > 1)", "ANY all_places.near.@count > 1"),
    ("NOT ANY all_places.name !=[c] 'x'", "NOT ANY all_places (NOT name ==[c] \"x\")"),
    ("ANY all_places.name != nil", "ANY all_places.name != nil"),
    (
      "ANY all_places (name == 'x' AND size > 1 OR SELF == Place#2)",
      "ANY all_places (name == \"x\" AND size > 1 OR SELF == 1#2)"
    ),
    ("ANY all_places == Place#2", "ANY all_places (SELF == 1#2)"),
    ("ANY all_places.x.y > 1", "ANY all_places.`x.y` > 1"),
    ("ANY place.near.name IN {'x'}", "ANY place.near (name IN {\"x\"})"),
    ("place.near CONTAINS Place#1", "place.near CONTAINS 1#1"),
    ("ANY all_places.near CONTAINS Place#1", "ANY all_places.near CONTAINS 1#1"),
    ("ANY all_places (ANY near.size > 1)", "ANY all_places (ANY near.size > 1)"),
    ("ANY all_places (TRUEPREDICATE)", "ANY all_places (TRUEPREDICATE)"),
  ])
  func reads(text: String, canonical: String) throws {
    let condition = try Self.parse(text)
    #expect(condition.description == canonical)
    #expect(try Self.parse(canonical) == condition)
  }

  @Test(
    arguments: [
      ("", "column 1: expected a property"),
      (
        "titel == 1",
        "column 1: Event has no property \"titel\"; did you mean title?"
      ),
      ("title", "column 6: expected an operator such as ==, <, IN, BETWEEN, CONTAINS or LIKE"),
      ("title == ", "column 10: expected a value"),
      (
        "title == 1",
        "column 10: expected a value of type string; 1 is of type int. "
          + "A text stands in quotes: \"1\""
      ),
      (
        "title > 2019-10-01",
        "column 9: expected a value of type string; 2019-10-01T00:00:00Z is of type date. "
          + "A text stands in quotes: \"2019-10-01\""
      ),
      (
        "int64 == 1 AND date > \"x\"",
        "column 23: expected a value of type date; \"x\" is of type string. "
          + "A date stands without quotes: 2019-01-01"
      ),
      (
        "date > \"1940\"",
        "column 8: expected a value of type date; \"1940\" is of type string. "
          + "A date stands without quotes: 1940-01-01"
      ),
      (
        "date > 1940",
        "column 8: expected a value of type date; 1940 is of type int. "
          + "A date stands without quotes: 1940-01-01"
      ),
      ("date IS NULL", "column 6: write date == nil"),
      ("date IS NOT NULL", "column 6: write date != nil"),
      ("int64 BETWEEN 1 AND 3", "column 15: expected \"{\"; write BETWEEN {1, 3}"),
      ("title BETWEEN \"a\" AND \"b\"", "column 15: expected \"{\"; write BETWEEN {\"a\", \"b\"}"),
      ("int64 BETWEEN 1, 3", "column 15: expected \"{\"; write BETWEEN {low, high}"),
      ("(title == nil", "column 14: expected \")\""),
      ("title == nil title", "column 14: expected AND, OR or the end"),
      ("int64 BETWEEN {1}", "column 7: BETWEEN takes two values, {low, high}; there are 1"),
      ("int64 IN {1 2}", "column 13: expected \",\""), ("int64 IN 1", "column 10: expected \"{\""),
      ("title == \"x", "column 10: the text has no closing \""),
      ("title == \"\\q\"", "column 11: after \\ comes \", ', \\, n, r, t, u{…}, * or ?"),
      (
        "date == 2019-13-01",
        "column 9: 2019-13-01 is no date; write 2019-10-01 or 2019-10-01T12:00:00Z"
      ),
      ("int64 LIKE \"x\"", "column 12: LIKE asks for text, and int64 is of type int64"),
      ("place.nam == 1", "column 7: Place has no property \"nam\"; did you mean name?"),
      ("title.x == 1", "column 1: title of Event is an attribute: no name can follow it"),
      (
        "all_places.name == 1",
        "column 1: all_places of Event is to-many: write ANY all_places.name"
      ),
      (
        "ANY place == nil",
        "column 5: place of Event is to-one: ANY asks a to-many relationship"
      ),
      (
        "ANY title == nil",
        "column 5: title of Event is an attribute: ANY asks a to-many relationship"
      ),
      (
        "ANY all_place.name == nil",
        "column 5: Event has no property \"all_place\"; did you mean all_places?"
      ),
      (
        "ANY all_places.nam == nil",
        "column 16: Place has no property \"nam\"; did you mean name?"
      ),
      (
        "ANY all_places.near.name == 'x'",
        "column 16: near of Place is to-many: write ANY all_places (ANY near.name …)"
      ),
      (
        "all_places == Place#1",
        "column 12: all_places is to-many: write all_places CONTAINS Place#5, or "
          + "ANY all_places.name"
      ),
      (
        "all_places",
        "column 11: all_places is to-many: write all_places CONTAINS Place#5, or "
          + "ANY all_places.name"
      ),
      (
        "all_places CONTAINS 'x'",
        "column 21: expected an object, such as Place#5; to compare a property of it, write "
          + "ANY all_places.name"
      ),
      ("all_places CONTAINS Event#1", "column 21: all_places leads to Place, not to Event"),
      ("all_places CONTAINS Palace#1", "column 21: there is no entity of this name"),
      ("all_places CONTAINS[c] 'x'", "column 20: CONTAINS of an object takes no options"),
      ("place CONTAINS Place#1", "column 16: CONTAINS asks for text, and place is of type object"),
      (
        "ANY all_places (name == 1)",
        "column 25: expected a value of type string; 1 is of type int. "
          + "A text stands in quotes: \"1\""
      ),
      ("ANY all_places (name == 'x'", "column 28: expected \")\""),
      ("SOME all_places.size == 1", "column 1: SOME is not supported; write ANY"),
      (
        "all_places.@count",
        "column 18: expected an operator such as ==, <, IN, BETWEEN, CONTAINS or LIKE"
      ),
      ("all_places.@sum > 1", "column 17: expected a property: all_places.@sum.size"),
      ("all_places.@median.size > 1", "column 13: expected count, max, min, sum or avg"),
      ("all_places.@sum.name > 1", "column 17: name is of type string: @sum is of numbers"),
      (
        "all_places.@max.near > 1",
        "column 17: near leads to several objects: write near.@count, or another function of them"
      ),
      ("title.@count > 1", "column 8: title is one value: @count asks for several objects"),
      ("a MATCHES 'x'", "column 1: Event has no property \"a\""),
      (
        "title ~ 1",
        "column 7: \"~\" has no meaning here"
      ),
      (
        "int64 == 99999999999999999999",
        "column 10: 99999999999999999999 is beyond the numbers that there are"
      ),
      ("title LIKE[x] 'a'", "column 12: expected c, d or cd"),
      (String(repeating: "(", count: 101), "column 101: nested deeper than 100"),
    ] as [(String, String)])
  func pointsAtWhatIsWrong(text: String, message: String) {
    let error = #expect(throws: ConditionTextError.self) { try Self.parse(text) }
    #expect(error?.description == message)
  }

  @Test func sortKeysAreRead() throws {
    let event = Self.schema.entities[1]
    let text =
      "-timestamp,title[c],-place.name[l] NILS FIRST, a.b nils last,-all_places.@count, "
      + "place.near.@max.size nils last"
    let keys = try ConditionParser.parseSortKeys(text, over: event, in: Self.schema)
    #expect(
      keys.map(\.description)
        == [
          "-timestamp", "title[c]", "-place.name[l] NILS FIRST", "`a.b` NILS LAST",
          "-all_places.@count", "place.near.@max.size NILS LAST",
        ])
    for (wrong, column) in [
      ("", 1), ("titel", 1), ("title,", 7), ("title[x]", 7), ("-", 2), ("title,all_places", 7),
    ] {
      let error = #expect(throws: ConditionTextError.self) {
        try ConditionParser.parseSortKeys(wrong, over: event, in: Self.schema)
      }
      #expect(error?.column == column)
    }
  }

  @Test func datesAreOfTheZone() throws {
    let condition = try ConditionParser.parse(
      "date < 2019-10-01", over: Self.schema.entities[1], in: Self.schema, zone: { _ in 7_200 })
    #expect(condition.description == "date < 2019-09-30T22:00:00Z")
  }

  /// 2019-10-22 18:15 UTC, which is 20:15 two hours ahead.
  @Test(arguments: [
    ("date > now", "date > 2019-10-22T18:15:00Z"),
    ("date < today", "date < 2019-10-21T22:00:00Z"),
    ("date >= yesterday", "date >= 2019-10-20T22:00:00Z"),
    ("date > 7d", "date > 2019-10-15T18:15:00Z"),
    ("date > '90m' AND int64 == 7", "date > 2019-10-22T16:45:00Z AND int64 == 7"),
    (
      "date BETWEEN {2w, 12h} OR date IN {1y, 2019-10-01}",
      "date BETWEEN {2019-10-08T18:15:00Z, 2019-10-22T06:15:00Z} OR "
        + "date IN {2018-10-22T18:15:00Z, 2019-09-30T22:00:00Z}"
    ),
    ("title == 'now'", "title == \"now\""),
  ])
  func datesInRelationToNow(text: String, resolved: String) throws {
    let now = Timestamp(microseconds: 1_571_768_100_000_000)
    let condition = try ConditionParser.parse(
      text, over: Self.schema.entities[1], in: Self.schema, now: now, zone: { _ in 7_200 })
    #expect(condition.description == resolved)
    #expect(try Self.parse(condition.description) == condition)
    // Without a clock they are no dates.
    if !text.hasPrefix("title") {
      #expect(throws: ConditionTextError.self) { try Self.parse(text) }
    }
  }

  @Test(arguments: [
    ("int64 > 7d", 9, "7d is an age"), ("title == now", 10, "expected a value"),
    ("7d > 1", 1, "one that is named 7d stands in backquotes"),
    ("date > 7dx", 8, "begins with a digit"), ("date > 7.5d", 8, "begins with a digit"),
    ("date > 99999999999999999y", 8, "is an age"),
  ])
  func agesAreDatesOnly(text: String, column: Int, reason: String) {
    let error = #expect(throws: ConditionTextError.self) {
      try ConditionParser.parse(
        text, over: Self.schema.entities[1], in: Self.schema, now: Timestamp(microseconds: 0))
    }
    #expect(error?.column == column && error?.reason.contains(reason) == true, "\(error as Any)")
  }

  /// Without a schema any condition reads back from its own text.
  @Test(arguments: [1, 2] as [UInt64])
  func roundTrip(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    for number in 0..<3_000 {
      let condition = Self.condition(depth: 3, using: &random)
      let read = try ConditionParser.parse(condition.description)
      #expect(read == condition, "seed \(seed), condition \(number): \(condition)")
    }
  }

  /// No text does any harm: random characters, and texts with one piece changed.
  @Test func anythingIsReadOrRefused() {
    var random = SeededRandom(seed: 7)
    let pieces = [
      "title", "==", "(", ")", "{", "}", "AND", "NOT", "\"", "'", "\\", "`", "2019-10-01", "T12",
      "-", "1",
      "e", ".", "#", "@", "[cd]", "IN", "BETWEEN", "é", "\u{301}", "\0", " ", ",", "DATA(",
      "9999999999",
      "1B4E28BA-2FA1-11D2-883F-B9A761BDE3FB", "u{110000}", "+", "SELF", "LIKE", "nil",
      "7d", "today", "ANY",
      "all_places", "CONTAINS", "Place#1", ".@count", ".@max.", "size",
    ]
    for _ in 0..<20_000 {
      let text = (0..<random.below(9)).map { _ in
        pieces[random.below(pieces.count)] + (random.chance(40) ? " " : "")
      }.joined()
      if let condition = try? ConditionParser.parse(text) {
        #expect(throws: Never.self) { try ConditionParser.parse(condition.description) }
      }
      _ = try? Self.parse(text)
    }
  }

  static func condition(depth: Int, using random: inout SeededRandom) -> Condition {
    if depth > 0, random.chance(60) {
      let parts = (0..<random.number(0...3)).map { _ in condition(depth: depth - 1, using: &random)
      }
      let whole = random.chance(50) ? Condition.all(parts) : Condition.any(parts)
      return random.chance(30) ? whole.negated : whole
    }
    let names = ["a", "in", "a b", "`", "x.y", "", "é", "e\u{301}", "1", "_", "self", "URL", "\n"]
    let path = PropertyPath(
      (0..<random.below(3)).map { _ in names[random.below(names.count)] })
    switch random.below(7) {
    case 5:
      // Of the object itself there is no membership.
      let relationship = path.names.isEmpty ? "a" : path
      return .any(relationship, condition(depth: max(0, depth - 1), using: &random))
    case 6:
      return .contains(
        path,
        ObjectReference(entity: UInt32(random.number(1...9)), row: Int64(random.number(1...9))))
    case 0: return .isNil(path)
    case 1: return .isIn(path, (0..<random.below(4)).map { _ in value(using: &random) })
    case 2: return .isBetween(path, value(using: &random), value(using: &random))
    case 3:
      return .compare(path, Condition.Comparison.allCases[random.below(6)], value(using: &random))
    default:
      return .text(
        path, Condition.TextMatch.allCases[random.below(5)], text(using: &random),
        Condition.TextOptions(rawValue: UInt8(random.below(4))))
    }
  }

  static func text(using random: inout SeededRandom) -> String {
    let pieces = ["a", "\"", "'", "\\", "*", "?", "\n", "\u{1}", "é", "\u{301}", "u{41}", "{", "日"]
    return (0..<random.below(5)).map { _ in pieces[random.below(pieces.count)] }.joined()
  }

  static func value(using random: inout SeededRandom) -> Value {
    switch random.below(13) {
    case 0: .null
    case 1: .bool(random.chance(50))
    case 2: .int(Int64(bitPattern: random.next() >> UInt64(random.below(64))))
    case 3: .double(Double(bitPattern: random.next()).canonicalNaN)
    case 4: .string(text(using: &random))
    case 5:
      .date(Timestamp(microseconds: Int64(bitPattern: random.next()) >> Int64(random.below(40))))
    case 6: .uuid(RawUUID(high: random.next(), low: random.next()))
    case 7: .url(text(using: &random))
    case 8: .json("\"\(random.below(99))\"")
    case 10:
      .decimal(
        RawDecimal(significand: Int128(random.next()), exponent: random.below(40) - 20) ?? .zero)
    case 11: .day(CalendarDay(nearestTo: Int64(random.below(6_000_000)) - 4_000_000))
    case 9: .data((0..<random.below(5)).map { _ in UInt8(random.below(256)) })
    default:
      .object(
        ObjectReference(entity: UInt32(random.number(1...99)), row: Int64(random.number(1...99))))
    }
  }
}

extension Double {
  /// This number; of a NaN the one that text can say.
  fileprivate var canonicalNaN: Double { isNaN ? .nan : self }
}
