import AnnalsExchange
import AnnalsModel
import Testing

@testable import Annals

@Suite struct JSONWriterTests {
  static let strings: [(String, String)] = [
    ("", #""""#), ("a/b", #""a/b""#), ("\" \\", #""\" \\""#),
    ("\u{8}\u{9}\u{a}\u{c}\u{d}", #""\b\t\n\f\r""#), ("\u{0}\u{7}\u{1f}", #""\u0000\u0007\u001f""#),
    ("\u{7f}\u{2028}\u{2029}", #""\u007f\u2028\u2029""#), ("cafe\u{301}", "\"cafe\u{301}\""),
    ("\u{10000}", "\"\u{10000}\""),
  ]

  @Test(arguments: strings)
  func quotes(text: String, expected: String) {
    var json = JSONWriter()
    json.string(text)
    #expect(Array(json.bytes) == Array(expected.utf8))
  }

  static let doubles: [(Double, String)] = [
    (0, "0.0"), (-0.0, "-0.0"), (1, "1.0"), (-0.5, "-0.5"), (34.0522, "34.0522"), (100, "100.0"),
    (1e15, "1000000000000000.0"), (1e16, "10000000000000000.0"), (1.5e17, "150000000000000000.0"),
    (123_456_789_012_345_683_968, "123456789012345680000.0"), (0.0001, "0.0001"),
    (0.00001, "0.00001"),
    (1.25e-7, "0.000000125"), (-1.25e-7, "-0.000000125"), (0.1, "0.1"),
    (9_007_199_254_740_992, "9007199254740992.0"),
  ]

  @Test(arguments: doubles)
  func writesDoublesPlainly(value: Double, expected: String) {
    #expect(PlainDecimal.text(of: value) == expected)
  }

  @Test func doublesReadBack() throws {
    var generator = SystemRandomNumberGenerator()
    let seed = UInt64.random(in: 0...UInt64.max, using: &generator)
    var state = seed
    for _ in 0..<2000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let value = Double(bitPattern: state)
      guard value.isFinite else { continue }
      let text = PlainDecimal.text(of: value)
      #expect(!text.contains("e") && text.contains("."), "seed \(seed)")
      let reader = JSONReader(MemorySource(text.utf8), framing: .document)
      #expect(try reader.next() == .number)
      #expect(try reader.number() == .double(value), "seed \(seed)")
    }
  }

  static let values: [(Value, AttributeType, String)] = [
    (.null, .string, "null"), (.bool(true), .bool, "true"),
    (.int(.min), .int64, "-9223372036854775808"),
    (.double(1), .any, "1.0"), (.string("x"), .any, #""x""#),
    (.date(Timestamp(microseconds: 1_571_768_104_000_000)), .date, #""2019-10-22T18:15:04Z""#),
    (.date(Timestamp(microseconds: -1)), .any, #"{"$date":"1969-12-31T23:59:59.999999Z"}"#),
    (.uuid(RawUUID(high: 1, low: 2)), .uuid, #""00000000-0000-0001-0000-000000000002""#),
    (.uuid(RawUUID(high: 1, low: 2)), .any, #"{"$uuid":"00000000-0000-0001-0000-000000000002"}"#),
    (.url("https://a.b/c"), .url, #""https://a.b/c""#), (.url("a"), .any, #"{"$url":"a"}"#),
    (.data([0, 255]), .data, #""AP8=""#), (.data([]), .any, #"{"$data":""}"#),
    (.json(#"{"a": [1]}"#), .json, #""{\"a\": [1]}""#), (.json("[1]"), .any, #"{"$json":"[1]"}"#),
  ]

  @Test(arguments: values)
  func valuesReadBack(value: Value, type: AttributeType, expected: String) throws {
    var json = JSONWriter()
    json.value(value, as: type)
    #expect(String(decoding: json.bytes, as: UTF8.self) == expected)
    let reader = JSONReader(MemorySource(json.bytes, step: 3), framing: .document)
    #expect(try reader.value(reader.next(), for: type) == value)
    try reader.endDocument()
  }

  static let mismatches: [(String, AttributeType)] = [
    ("1", .bool), ("true", .int64), ("1.5", .int64), ("1", .double), ("1", .string),
    ("[1]", .string),
    ("{}", .int64), (#""1""#, .int64),
    (#"{"$uuid":"00000000-0000-0001-0000-000000000002"}"#, .date),
  ]

  @Test(arguments: mismatches)
  func tellsMismatches(text: String, type: AttributeType) throws {
    let reader = JSONReader(MemorySource(text.utf8), framing: .document)
    #expect(try reader.value(reader.next(), for: type) == nil)
    try reader.endDocument()
  }

  static let badTexts: [(String, AttributeType)] = [
    (#""2019""#, .date), (#""x""#, .uuid), (#""*""#, .data), (#""{""#, .json), (#""""#, .url),
    ("40000", .int16), ("3000000000", .int32), (#"{"$date":"x"}"#, .any),
  ]

  @Test(arguments: badTexts)
  func refusesBadTexts(text: String, type: AttributeType) throws {
    let reader = JSONReader(MemorySource(text.utf8), framing: .document)
    #expect(throws: InputFault.self) { try reader.value(reader.next(), for: type) }
  }

  @Test func keepsNestedValuesAsCompactText() throws {
    let text = #"{ "a" : [ 1e3 , {"$date":"x"} , "\u00e9" ] }"#
    let reader = JSONReader(MemorySource(text.utf8), framing: .document)
    #expect(
      try reader.value(reader.next(), for: .any)
        == .json("{\"a\":[1e3,{\"$date\":\"x\"},\"\u{e9}\"]}"))
  }
}
