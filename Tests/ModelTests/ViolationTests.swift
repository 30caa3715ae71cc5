import AnnalsModel
import Testing

/// What may be stored in a property.
@Suite struct ViolationTests {
  static let rows: [(Attribute, Value, ValidationRule?)] = [
    (Attribute("a", .bool), .bool(true), nil),
    (Attribute("a", .bool), .int(1), .type(.bool)),
    (Attribute("a", .int64), .bool(true), .type(.int64)),
    (Attribute("a", .int64), .int(.min), nil),
    (Attribute("a", .int32), .int(2_147_483_647), nil),
    (Attribute("a", .int32), .int(2_147_483_648), .range(-2_147_483_648...2_147_483_647)),
    (Attribute("a", .int16), .int(-32_768), nil),
    (Attribute("a", .int16), .int(-32_769), .range(-32_768...32_767)),
    (Attribute("a", .double), .double(-0.0), nil),
    (Attribute("a", .double), .double(.infinity), .finite),
    (Attribute("a", .double), .double(.nan), .finite),
    (Attribute("a", .any), .double(.nan), .finite),
    (Attribute("a", .double), .int(1), .type(.double)),
    (Attribute("a", .string), .url("a"), .type(.string)),
    (Attribute("a", .url), .url(""), .url),
    (Attribute("a", .json), .json("{}"), nil),
    (Attribute("a", .json), .json("{]"), .json(offset: 1)),
    (Attribute("a", .any), .json("x"), .json(offset: 0)),
    (Attribute("a", .any), .object(ObjectReference(entity: 1, row: 1)), .type(.any)),
    (Attribute("a", .any), .string(""), nil),
    (Attribute("a", .string), .null, nil),
    (Attribute("a", .string, isOptional: false), .null, .required),
    (
      Attribute("a", .string, isUnique: true), .string(String(repeating: "x", count: 4_097)),
      .uniqueLength(4_096)
    ),
    (Attribute("a", .string, isUnique: true), .string(String(repeating: "x", count: 4_096)), nil),
    (
      Attribute("a", .int64, validation: Validation(minimum: .int(1))), .int(0),
      .minimum(.int(1))
    ),
    (Attribute("a", .int64, validation: Validation(minimum: .int(1))), .int(1), nil),
    (
      Attribute("a", .date, validation: Validation(maximum: .date(Timestamp(microseconds: 5)))),
      .date(Timestamp(microseconds: 6)), .maximum(.date(Timestamp(microseconds: 5)))
    ),
    // Length counts scalars, so the two forms of "é" are of lengths 1 and 2.
    (
      Attribute("a", .string, validation: Validation(maximumLength: 1)), .string("\u{E9}"), nil
    ),
    (
      Attribute("a", .string, validation: Validation(maximumLength: 1)), .string("e\u{301}"),
      .maximumLength(1)
    ),
    (
      Attribute("a", .data, validation: Validation(minimumLength: 2)), .data([1]),
      .minimumLength(2)
    ),
    // One of: by kind and bytes.
    (
      Attribute("a", .string, validation: Validation(oneOf: [.string("\u{E9}")])),
      .string("e\u{301}"), .oneOf([.string("\u{E9}")])
    ),
    (
      Attribute("a", .string, validation: Validation(oneOf: [.string("\u{E9}")])),
      .string("\u{E9}"), nil
    ),
  ]

  @Test(arguments: rows)
  func attributesAdmit(attribute: Attribute, value: Value, rule: ValidationRule?) {
    #expect(attribute.violation(of: value) == rule)
  }

  @Test func relationshipsAdmitObjectsAsManyAsTheyHold() throws {
    let schema = try Schema().adding(
      Schema {
        Entity("Post") {
          Relationship("one", to: "Post")
          Relationship("many", to: "Post", isToMany: true)
        }
      }
    ).schema
    let (one, many) = (schema.entities[0].relationships[0], schema.entities[0].relationships[1])
    let post = ObjectReference(entity: 1, row: 4)
    #expect(one.admits(.object(post)) && one.admits(.null) && many.admits(.null))
    #expect(many.admits(.objects([post, post])))
    #expect(!one.admits(.objects([post])) && !many.admits(.object(post)))
    #expect(!one.admits(.int(1)) && !many.admits(.int(1)))
    #expect(many.canonical([post, ObjectReference(entity: 1, row: 2), post]).map(\.row) == [2, 4])
  }

  @Test func theMessageNamesObjectPropertyAndRule() {
    let violation = ValidationViolation(
      entity: "Post", key: "7", property: "title", rule: .maximumLength(3), value: .string("Foggy"))
    #expect(violation.description == "Post/7.title: \"Foggy\" is longer than 3")
    let list = Value.objects([ObjectReference(entity: 1, row: 1)])
    let few = ValidationViolation(
      entity: "Post", key: "7", property: "tags", rule: .minimumCount(2), value: list)
    #expect(few.description == "Post/7.tags: it has 1 object, fewer than 2")
    let many = ValidationViolation(
      entity: "Post", key: "7", property: "tags", rule: .maximumCount(0), value: list)
    #expect(many.description == "Post/7.tags: it has 1 object, more than 0")
  }

  @Test(arguments: [
    "null", " true ", "0", "-0", "1.5e+3", "\"\"", "\"\\u00e9\\n\"", "[]", "{}",
    "[1,[2,{\"a\":[]}]]",
    "{\"a\":1,\"a\":2}", "\t[ 1 , 2 ]\r\n",
    "\"\\ud83d\\ude00\"",
  ])
  func jsonTextIsValid(text: String) {
    #expect(JSONText.firstError(in: text) == nil)
  }

  @Test(arguments: [
    ("", 0), (" ", 1), ("01", 1), ("1.", 2), ("+1", 0), ("1e", 2), ("\"", 1), ("\"\\x\"", 2),
    ("\"\n\"", 1), ("\"\\u12g4\"", 5), ("[1,]", 3), ("[1", 2), ("{\"a\"}", 4), ("{a:1}", 1),
    ("{\"a\":1,}", 7), ("[}", 1), ("1 2", 2), ("nul", 3), ("tru ", 3), ("]", 0),
    ("\"\\ud83d\"", 7), ("\"\\ude00\"", 7), ("\"\\ud83d\\u0041\"", 13), ("\u{FEFF}1", 0),
  ])
  func jsonTextIsInvalid(text: String, offset: Int) {
    #expect(JSONText.firstError(in: text) == offset)
  }

  @Test func jsonNestsToALimitWithoutRecursion() {
    let deep = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
    #expect(JSONText.firstError(in: deep) == nil)
    #expect(JSONText.firstError(in: "[" + deep + "]") == 512)
    #expect(JSONText.firstError(in: String(repeating: "[", count: 1_000_000)) == 512)
  }
}
