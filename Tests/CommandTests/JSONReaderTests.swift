import AnnalsExchange
import AnnalsModel
import Testing

@testable import Annals

/// What the reader says of a text, one word a token: the form in which the tables below expect it.
private func tokens(
  _ bytes: some Sequence<UInt8>, step: Int = .max, framing: JSONReader.Framing = .document,
  limits: JSONReader.Limits = JSONReader.Limits()
) throws(InputFault) -> String {
  let reader = JSONReader(
    MemorySource(bytes, step: step), framing: framing, limits: limits, bufferSize: 16)
  var words: [String] = []
  while try reader.beginDocument() {
    repeat { words.append(word(try reader.next(), reader)) } while reader.depth > 0
    try reader.endDocument()
    words.append(".")
  }
  return words.joined(separator: " ")
}

private func word(_ token: JSONToken, _ reader: JSONReader) -> String {
  switch token {
  case .beginObject: "{"
  case .endObject: "}"
  case .beginArray: "["
  case .endArray: "]"
  case .key: String(decoding: reader.text, as: UTF8.self) + ":"
  case .string: "'" + String(decoding: reader.text, as: UTF8.self) + "'"
  case .number: String(decoding: reader.text, as: UTF8.self)
  case .bool(let value): "\(value)"
  case .null: "null"
  }
}

@Suite struct JSONReaderTests {
  static let accepted: [(String, String)] = [
    ("{}", "{ } ."),
    (" [ ] ", "[ ] ."),
    ("null", "null ."),
    (#"{"a":1,"b":[true,false,null]}"#, "{ a: 1 b: [ true false null ] } ."),
    (#"[[],{},[{}]]"#, "[ [ ] { } [ { } ] ] ."),
    (#""""#, "'' ."),
    (#""a\"\\\/\b\f\n\r\t""#, "'a\"\\/\u{8}\u{c}\n\r\t' ."),
    (#""\u0041\u00e9\u20AC\ud83d\uDE00""#, "'A\u{e9}\u{20ac}\u{1f600}' ."),
    ("\"\u{7f}\u{2028}\u{e9}\u{ffff}\u{10ffff}\"", "'\u{7f}\u{2028}\u{e9}\u{ffff}\u{10ffff}' ."),
    ("[0,-0,10,-1,0.5,1e5,1E+5,1.25e-3]", "[ 0 -0 10 -1 0.5 1e5 1E+5 1.25e-3 ] ."),
    ("\u{feff}{}", "{ } ."),
  ]

  @Test(arguments: accepted)
  func acceptsAtEveryStep(text: String, expected: String) throws {
    for step in [1, 2, 3, 7, Int.max] {
      #expect(try tokens(text.utf8, step: step) == expected, "step \(step)")
    }
  }

  @Test(arguments: accepted)
  func refusesEveryTruncation(text: String, expected: String) {
    let bytes = Array(text.utf8)
    // What ends in white space, or is a number, is complete before its last byte.
    let whole = text.last == " " ? bytes.count - 1 : bytes.count
    for count in 1..<whole {
      let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
      if bytes[..<count].allSatisfy({ $0 == 0x20 }) || start == count { continue }
      #expect(throws: InputFault.self, "\(count) bytes") {
        try tokens(bytes[..<count], step: 1)
      }
    }
  }

  static let refused: [(String, UInt64)] = [
    ("{", 1), ("[1,]", 3), ("[,1]", 1), ("{,}", 1), (#"{"a"}"#, 4), (#"{"a":}"#, 5),
    (#"{"a":1,}"#, 7), ("{1:2}", 1), ("[1 2]", 3), ("[}", 1), ("{]", 1), ("1 2", 2), ("tru", 0),
    ("nul1", 0), ("True", 0), ("'a'", 0), ("[01]", 3), ("[1.]", 3), ("[.5]", 1), ("[+1]", 1),
    ("[1e]", 3), ("[--1]", 4), ("[-]", 2), ("\"a\nb\"", 2), ("\"\u{1}\"", 1), (#""\x""#, 1),
    (#""\u12g4""#, 1), (#""\ud800""#, 1), (#""\udc00""#, 1), (#""\ud800\u0041""#, 1), ("NaN", 0),
    ("// c\n1", 0),
  ]

  @Test(arguments: refused)
  func refusesWithTheOffset(text: String, offset: UInt64) {
    for step in [1, Int.max] {
      do throws(InputFault) {
        let words = try tokens(text.utf8, step: step)
        Issue.record("accepted as \(words)")
      } catch {
        #expect(error.offset == offset, "\(error.reason)")
      }
    }
  }

  static let notUTF8: [[UInt8]] = [
    [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80],
    [0xF0, 0x8F, 0xBF, 0xBF],
    [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xC3], [0xE2, 0x82], [0xE2, 0x28, 0xA1],
    [0xFF],
  ]

  @Test(arguments: notUTF8)
  func refusesWhatIsNotUTF8(bytes: [UInt8]) {
    let text = [0x22, 0x61] + bytes + [0x22]
    do throws(InputFault) {
      _ = try tokens(text, step: 1)
      Issue.record("accepted")
    } catch {
      #expect(error.offset == 2)
    }
  }

  static let numbers: [(String, Value?)] = [
    ("0", .int(0)), ("-0", .int(0)), ("7", .int(7)),
    ("999999999999999999", .int(999_999_999_999_999_999)),
    ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
    ("9223372036854775808", nil), ("-9223372036854775809", nil), ("1.0", .double(1)),
    ("1e2", .double(100)), ("-0.0", .double(-0.0)), ("34.0522", .double(34.0522)),
    ("9007199254740993", .int(9_007_199_254_740_993)), ("1e400", nil),
    ("5e-324", .double(.leastNonzeroMagnitude)),
    ("100000000000000000000.0", .double(1e20)),
  ]

  @Test(arguments: numbers)
  func tellsIntegersFromDoublesByTheText(text: String, expected: Value?) throws {
    let reader = JSONReader(MemorySource(text.utf8), framing: .document)
    #expect(try reader.beginDocument())
    #expect(try reader.next() == .number)
    guard let expected else {
      #expect(throws: InputFault.self) { try reader.number() }
      return
    }
    #expect(try reader.number() == expected)
  }

  @Test func countsLines() throws {
    let text = "{}\n\n  \r\n[1]\r\n\n\"x\""
    let reader = JSONReader(MemorySource(text.utf8, step: 1), framing: .lines)
    var lines: [Int] = []
    while try reader.beginDocument() {
      lines.append(reader.line)
      _ = try reader.compactText(reader.next())
      try reader.endDocument()
    }
    #expect(lines == [1, 4, 6])
  }

  @Test func endsADocumentAtItsLine() {
    do throws(InputFault) {
      _ = try tokens("{}\n{\"a\":\n1}".utf8, framing: .lines)
      Issue.record("accepted")
    } catch {
      let reason = "the line ends inside the document"
      #expect(error == InputFault(offset: 8, line: 2, column: 6, reason: reason))
    }
  }

  @Test func boundsNestingAndLengths() throws {
    var limits = JSONReader.Limits()
    limits.nesting = 3
    limits.textLength = 20
    limits.numberLength = 4
    #expect(try tokens("[[[]]]".utf8, limits: limits) == "[ [ [ ] ] ] .")
    #expect(throws: InputFault.self) { try tokens("[[[[]]]]".utf8, limits: limits) }
    let long = String(repeating: "a", count: 20)
    #expect(try tokens("\"\(long)\"".utf8, step: 3, limits: limits) == "'\(long)' .")
    #expect(throws: InputFault.self) { try tokens("\"\(long)a\"".utf8, limits: limits) }
    #expect(throws: InputFault.self) {
      try tokens("\"\(long.dropLast())\u{e9}\"".utf8, limits: limits)
    }
    for escape in [#"\n"#, #"\u0041"#] {
      let text = String(repeating: escape, count: 20)
      #expect(try tokens("\"\(text)\"".utf8, limits: limits).utf8.count == 24)
      #expect(throws: InputFault.self) { try tokens("\"\(text)\(escape)\"".utf8, limits: limits) }
    }
    #expect(try tokens("1234".utf8, limits: limits) == "1234 .")
    #expect(throws: InputFault.self) { try tokens("12345".utf8, limits: limits) }
    let deep = Array(repeating: UInt8(ascii: "["), count: 100_000)
    #expect(throws: InputFault.self) { try tokens(deep) }
  }
}
