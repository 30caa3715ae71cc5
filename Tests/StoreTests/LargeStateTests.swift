import Annals
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsExchange

/// The canonical form of a state with large values, which are written while they are read.
@Suite struct LargeStateTests {
  private static let schema = Schema {
    Entity("Note") {
      Attribute("key", .string, isUnique: true)
      Attribute("a", .string)
      Attribute("b", .any)
      Attribute("data", .data)
      Attribute("json", .json)
      Attribute("z", .any)
    }
  }

  /// Three bytes, four bytes, escapes, joiners that join and joiners that do not.
  private static let unit =
    "\u{65E5}\u{1F468}\u{200D}\u{1F469}\"\\\n\u{202E}\u{200D}\u{645}\u{200C}\u{62E}\u{E0041}\u{9B}"

  private static func text(_ length: Int) -> String {
    String(repeating: unit, count: length / unit.utf8.count + 1)
  }

  private static let notes: [[String: Value]] = [
    ["key": "3", "a": .string(text(2_500_000)), "z": .url("x:" + text(5_000))],
    ["key": "1", "b": .data((0..<3_000_001).map { UInt8(truncatingIfNeeded: $0 &* 7) })],
    [
      "key": "2", "a": .string(text(5_000)),
      "b": .json("[\"\(String(repeating: "e", count: 9_000))\"]"),
      "data": .data([UInt8](repeating: 9, count: 2_000_000)),
      "json": .json("[\"\(String(repeating: "\u{2028}", count: 500_000))\"]"),
    ],
    ["key": "4", "a": "small", "b": .int(4)], ["key": "5"],
  ]

  /// The lines as they are if each value is in memory.
  private static var expected: ContiguousArray<UInt8> {
    var json = JSONWriter(escapingHidden: false)
    let types: [String: AttributeType] = ["b": .any, "z": .any, "data": .data, "json": .json]
    for note in notes.sorted(by: { $0["key"]?.plainText ?? "" < $1["key"]?.plainText ?? "" }) {
      json.beginObject()
      for name in ["a", "b", "data", "entity", "id", "json", "key", "z"] {
        switch name {
        case "entity": json.member("entity", "Note")
        case "id": json.member("id", note["key"]?.plainText ?? "")
        default:
          if let value = note[name] { json.member(name, value, as: types[name] ?? .string) }
        }
      }
      json.endObjectLine()
    }
    return json.bytes
  }

  @Test(arguments: [1, 32 << 20]) func isWrittenInPieces(holding: Int) throws {
    let store = try Store(
      StoreLocation(fileSystem: MemoryFileSystem(), path: "/a.annals"),
      schema: LargeStateTests.schema)
    defer { try? store.close() }
    for note in LargeStateTests.notes { try store.write { _ = try $0.insert("Note", note) } }
    var written: ContiguousArray<UInt8> = []
    var longest = 0
    var state = CanonicalState(store.snapshot(), holding: holding)
    try state.write { piece in
      longest = max(longest, piece.count)
      written += piece
    }
    // Compared outside of the macro, which would look for the differences of megabytes.
    let isExpected = written == LargeStateTests.expected
    #expect(isExpected)
    // A piece of the file with each character escaped is the worst case.
    #expect(longest < 4 << 20)
    // One by one, as queries print them, with one plan.
    var alone: ContiguousArray<UInt8> = []
    var objects = CanonicalState(store.snapshot())
    for key in 1...5 {
      let object = try store.snapshot().object(of: "Note", where: "key", is: .string("\(key)"))
      let id = try #require(object).objectID
      try objects.write(ObjectReference(entity: id.entity, row: id.row)) { alone += $0 }
    }
    let isSame = alone == written
    #expect(isSame)
  }

  @Test func anErrorOfTheWriterStaysAsItIs() throws {
    struct Full: Error {}
    let store = try Store(
      StoreLocation(fileSystem: MemoryFileSystem(), path: "/a.annals"),
      schema: LargeStateTests.schema)
    defer { try? store.close() }
    try store.write { _ = try $0.insert("Note", LargeStateTests.notes[0]) }
    var state = CanonicalState(store.snapshot())
    #expect(throws: Full.self) { try state.write { _ in throw Full() } }
  }

  /// Wherever the pieces end, the text is the same.
  @Test func pieceEndsDoNotMatter() {
    let bytes =
      Array((LargeStateTests.unit + LargeStateTests.unit).utf8) + [0xE2, 0x80, 0x41, 0xFF]
    func text(_ ends: [Int], _ tag: ValueTag) -> ContiguousArray<UInt8> {
      var text = LargeValueText(
        LargeValue(tag: tag, number: 1, length: 9, checksum: 0), .json)
      var result: ContiguousArray<UInt8> = []
      var start = 0
      for end in ends + [bytes.count] {
        bytes[start..<end].withUnsafeBytes { text.append($0, to: &result) }
        start = end
      }
      text.appendRest(to: &result)
      return result
    }
    for tag in [ValueTag.string, .data] {
      let whole = text([], tag)
      #expect(!whole.isEmpty)
      for first in bytes.indices {
        for second in first..<bytes.count {
          #expect(text([first, second], tag) == whole, "\(first), \(second)")
        }
      }
      #expect(text(Array(bytes.indices), tag) == whole)
    }
  }
}
