import Annals
import AnnalsExchange
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

/// Values of more than 4 KiB in the lines of an import, which go from the reader to the log.
@Suite struct LargeImportTests {
  private static let schema = Schema {
    Entity("E") {
      Attribute("id", .string, isOptional: false, isUnique: true)
      Attribute("text", .string)
      Attribute("url", .url)
      Attribute("json", .json)
      Attribute("data", .data)
      Attribute("any", .any)
      Attribute("short", .string, validation: Validation(maximumLength: 5_000))
    }
  }

  private func lines(_ members: [(String, String)], op: String = "insert") -> Data {
    let set = members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",")
    return Data(#"{"changes":[{"op":"\#(op)","entity":"E","id":"a","set":{\#(set)}}]}"#.utf8)
  }

  private func quoted(_ text: String) -> String { "\"\(text)\"" }

  private func copy(_ lines: Data, into store: Store) throws {
    var pieces = [lines].makeIterator()
    try store.import { pieces.next() }
  }

  /// Lengths around the limit and around the end of a group of base64 digits.
  @Test(arguments: [4_095, 4_096, 4_097, 4_098, 4_099, 5_461, 5_466, 300_000])
  func eachKindIsAsItWas(length: Int) throws {
    var random = SeededRandom(seed: UInt64(length))
    let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
    let text = String(decoding: bytes.map { 97 + $0 % 26 }, as: UTF8.self)
    let json = "[\(text.utf8.count)" + String(repeating: " ", count: length) + "]"
    let base64 = Data(bytes).base64EncodedString()
    let store = try Store(.memory, schema: LargeImportTests.schema)
    try copy(
      lines([
        ("text", quoted(text)), ("url", quoted(text)), ("json", quoted(json)),
        ("data", quoted(base64)), ("any", quoted(base64)),
      ]), into: store)
    let object = try #require(try store.snapshot().objects(of: "E").first)
    #expect(object["text"] == .string(text) && object["url"] == .url(text))
    #expect(object["json"] == .json(json) && object["data"] == .data(bytes))
    #expect(object["any"] == .string(base64))
    // The same values again are no change.
    try copy(lines([("text", quoted(text)), ("data", quoted(base64))], op: "update"), into: store)
    #expect(try store.transaction(store.token.number).changes.isEmpty)
    #expect(try store.verifyHistory() == [])
  }

  /// A long text is the first value of an attribute that is inferred from it.
  @Test func anInferredAttributeHasIt() throws {
    let store = try Store(.memory, schema: Schema())
    let text = String(repeating: "fog ", count: 5_000)
    var pieces = [lines([("text", quoted(text)), ("short", quoted("x"))])].makeIterator()
    try store.import(infersSchema: true) { pieces.next() }
    let object = try #require(try store.snapshot().objects(of: "E").first)
    #expect(object["text"] == .string(text) && object["short"] == "x")
    #expect(store.schema.entities[0].attribute(named: "text")?.type == .string)
    #expect(try store.verifyHistory() == [])
  }

  @Test(arguments: ["data", "json", "short", "id"])
  func whatIsNoValueIsRefused(property: String) throws {
    let store = try Store(.memory, schema: LargeImportTests.schema)
    let wrong = String(repeating: "a", count: 8_000) + "=a=="
    let error = #expect(throws: AnnalsError.self) {
      try copy(lines([(property, quoted(wrong))]), into: store)
    }
    #expect(error?.inputPlace?.line == 1, "\(error as Any)")
    #expect(try store.snapshot().count(of: "E") == 0)
    // The memory of the long text is not in the way of what follows.
    try copy(lines([("text", quoted("short"))]), into: store)
    #expect(try store.snapshot().objects(of: "E").map { $0["text"] } == ["short"])
  }

  /// Longer strings are read, checked and stored in parts, wherever these end.
  @Test(arguments: [1 << 20 - 1, 1 << 20, 1 << 20 + 1, 1 << 20 + 2, 3 << 20])
  func longStringsAreReadInParts(length: Int) throws {
    let store = try Store(.memory, schema: LargeImportTests.schema)
    let bytes = randomBytes(length, seed: UInt64(length))
    let text = String(repeating: "f\\u006Fg\\n\\uD83C\\uDF2B🌫é", count: length / 20)
    let read = String(repeating: "fog\n🌫🌫é", count: length / 20)
    let plain = String(repeating: "x", count: length)
    let base64 = Data(bytes).base64EncodedString()
    let values = [
      ("text", quoted(text)), ("url", quoted(plain)), ("data", quoted(base64)),
      ("any", quoted(plain + "\\\\")), ("short", quoted("y")),
    ]
    try copy(lines(values), into: store)
    let object = try #require(try store.snapshot().objects(of: "E").first)
    #expect(object["text"] == .string(read) && object["url"] == .url(plain))
    #expect(object["data"] == .data(bytes) && object["any"] == .string(plain + "\\"))
    #expect(object["short"] == "y")
    try copy(lines(values, op: "update"), into: store)
    #expect(try store.transaction(store.token.number).changes.isEmpty)
    // A line with it can be exported and imported again.
    var pieces: [Data] = []
    try store.export { pieces.append($0) }
    let again = try Store(.memory, schema: LargeImportTests.schema)
    var iterator = pieces.makeIterator()
    try again.import { iterator.next() }
    #expect(
      try again.snapshot().objects(of: "E").map(\.dictionary)
        == store.snapshot().objects(of: "E").map(\.dictionary))
    #expect(try store.verifyHistory() == [] && again.verifyHistory() == [])
    // An attribute that is inferred from it.
    let inferred = try Store(.memory, schema: Schema())
    var line = [lines([("note", quoted(text)), ("short", quoted("x"))])].makeIterator()
    try inferred.import(infersSchema: true) { line.next() }
    let made = try #require(try inferred.snapshot().objects(of: "E").first)
    #expect(made["note"] == .string(read) && made["short"] == "x")
  }

  /// What is wrong far behind in a long string leaves nothing.
  @Test(arguments: ["data", "text", "note"])
  func whatIsWrongInALaterPartIsRefused(property: String) throws {
    let long = String(repeating: "abcd", count: 1 << 19)
    for end in ["a", "==a=", "=abc", "é\u{0}", "\\uD800", "\\x"] {
      let isWrong = property == "data" || end.utf8.contains(0) || end.hasPrefix("\\")
      guard isWrong else { continue }
      let store = try Store(.memory, schema: LargeImportTests.schema)
      var pieces = [lines([(property, quoted(long + end))])].makeIterator()
      let error = #expect(throws: AnnalsError.self) {
        try store.import(infersSchema: true) { pieces.next() }
      }
      #expect(error?.inputPlace?.line == 1, "\(end) \(error as Any)")
      #expect(try store.snapshot().count(of: "E") == 0)
      try copy(lines([("text", quoted("short"))]), into: store)
      #expect(try store.snapshot().objects(of: "E").map { $0["text"] } == ["short"])
    }
    // A line that ends within it.
    let store = try Store(.memory, schema: LargeImportTests.schema)
    let error = #expect(throws: AnnalsError.self) {
      try copy(lines([(property == "note" ? "text" : property, "\"" + long)]), into: store)
    }
    #expect(error?.inputPlace?.line == 1)
    #expect(try store.snapshot().count(of: "E") == 0)
  }
}
