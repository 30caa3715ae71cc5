import AnnalsExchange
import AnnalsModel
import Testing

@testable import Annals

@Suite struct SchemaJSONTests {
  /// A schema with everything that a schema can have.
  static var everything: Schema {
    var attributes: [Attribute] = AttributeType.allCases.map { Attribute("\($0)", $0) }
    for index in attributes.indices { attributes[index].number = PropertyNumber(index + 1) }
    attributes[5].isUnique = true
    attributes[5].isOptional = false
    attributes[5].isPreservedAfterDeletion = true
    attributes[5].validation = Validation(
      minimumLength: 1, maximumLength: 9, oneOf: [.string("a"), .string("\"")])
    attributes[3].defaultValue = .int(7)
    attributes[3].validation = Validation(minimum: .int(-1), maximum: .int(.max))
    attributes[6].defaultValue = .date(Timestamp(microseconds: 1))
    attributes[11].defaultValue = .uuid(RawUUID(high: 3, low: 4))
    attributes[12].defaultValue = .decimal(RawDecimal("-12.50") ?? .zero)
    attributes[12].validation = Validation(minimum: .decimal(RawDecimal("-1e30") ?? .zero))
    attributes[13].validation = Validation(oneOf: [.day(.earliest), .day(.latest)])
    attributes[0].isRemoved = true
    var post = Entity("Post", attributes: attributes, displayName: "string")
    post.number = 1
    var tags = Relationship(
      "tags", to: "Tag", isToMany: true, isOrdered: true, onDelete: .cascade, inverse: "posts",
      count: ...9)
    tags.number = 15
    tags.destination = 2
    var index = IndexDescription(
      "byDate", [IndexElement("date", isDescending: true), IndexElement("string")], isUnique: true)
    index.number = 17
    index.elements[0].property = 7
    index.elements[1].property = 6
    index.tests = [
      IndexTest("string", .notEqual, .null), IndexTest("string", .equal, .data([0, 255])),
      IndexTest("date", .greater, .int(-1)), IndexTest("date", .lessOrEqual, .double(7)),
    ]
    for place in index.tests.indices { index.tests[place].property = place < 2 ? 6 : 7 }
    post.relationships = [tags]
    index.elements[1].nullsFirst = false
    var box = IndexDescription("box", box: ["double", "date"])
    box.number = 18
    box.elements[0].property = 5
    box.elements[1].property = 7
    post.indexes = [index, box]
    post.nextPropertyNumber = 20
    var tag = Entity("Tag")
    tag.number = 2
    var old = Entity("Tag")
    old.number = 3
    old.isRemoved = true
    return Schema(entities: [post, tag, old])
  }

  @Test func everythingReadsBack() throws {
    let schema = SchemaJSONTests.everything
    for text in [Array(SchemaJSON.text(schema).utf8), Array(SchemaJSON.line(schema))] {
      var read = try SchemaJSON.read(MemorySource(text, step: 5))
      // Names beside numbers stay in what is read; they mean the same.
      for (index, entity) in read.entities.enumerated() {
        for place in entity.relationships.indices {
          read.entities[index].relationships[place].destinationName =
            schema.entities[index].relationships[place].destinationName
        }
      }
      #expect(read == schema)
    }
    #expect(!SchemaJSON.line(schema).contains(0x0A))
  }

  /// The name of a removed entity may be in use again: its number says which is meant.
  @Test func aRemovedDestinationHasItsNumber() throws {
    var schema = SchemaJSONTests.everything
    var old = Relationship("old", to: "")
    (old.number, old.destination, old.isRemoved) = (16, 3, true)
    schema.entities[0].relationships.append(old)
    schema.entities[0].relationships[0].destinationName = ""
    let text = SchemaJSON.text(schema)
    #expect(text.contains(#"{"name":"old","number":16,"to":"Tag","removed":true,"toNumber":3}"#))
    #expect(text.matches(of: /toNumber/).count == 1)
    let read = try SchemaJSON.read(MemorySource(text.utf8))
    #expect(read.entities[0].relationships.map(\.destination) == [2, 3])
  }

  static let refused: [(String, String)] = [
    ("", "there is no schema"), ("[]", "a schema is not an object"),
    (#"{"entities":[],"entities":[]}"#, "a schema has two members `entities`"),
    (#"{"x":1}"#, "a schema has no member `x`"), (#"{"entities":[{}]}"#, "an entity has no name"),
    (#"{"entities":[{"name":"A"},{"name":"A"}]}"#, "two entities are named A"),
    (#"{"entities":[{"name":"A","number":0}]}"#, "a number must be from 1 to 1,048,576"),
    (#"{"entities":[{"name":"A","attributes":[{"name":"x"}]}]}"#, "attribute x has no type"),
    (
      #"{"entities":[{"name":"A","attributes":"#
        + #"[{"name":"x","type":"bool"},{"name":"x","type":"bool"}]}]}"#,
      "two properties of A are named x"
    ),
    (
      #"{"entities":[{"name":"A","attributes":[{"default":"a","name":"x","type":"int64"}]}]}"#,
      "default of x is no value of type int64"
    ),
  ]

  @Test(arguments: refused)
  func refuses(text: String, reason: String) {
    do throws(InputFault) {
      _ = try SchemaJSON.read(MemorySource(text.utf8))
      Issue.record("accepted")
    } catch {
      #expect(error.reason == reason)
    }
  }
}

@Suite struct UnpackingSourceTests {
  /// `printf 'hello\n' | gzip -n`
  static let packed: [UInt8] = [
    0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0xE7, 0x02, 0, 0x20,
    0x30,
    0x3A, 0x36, 0x06, 0, 0, 0,
  ]

  private func all(_ bytes: [UInt8], step: Int, room: Int = 100) throws(InputFault) -> String {
    let source = UnpackingSource(MemorySource(bytes, step: step), bufferSize: 4)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
    defer { buffer.deallocate() }
    var result: [UInt8] = []
    while true {
      let count = try source.read(into: buffer)
      if count == 0 { return String(decoding: result, as: UTF8.self) }
      result += buffer[..<count]
    }
  }

  @Test func unpacksOneMemberAndSeveral() throws {
    for step in [1, 3, 100] {
      for room in [1, 2, 100] {
        #expect(try all(UnpackingSourceTests.packed, step: step, room: room) == "hello\n")
        let two = UnpackingSourceTests.packed + UnpackingSourceTests.packed
        #expect(try all(two, step: step, room: room) == "hello\nhello\n")
      }
    }
  }

  @Test func leavesPlainBytesAlone() throws {
    for text in ["", "x", "plain text", "\u{1f}x"] {
      #expect(try all(Array(text.utf8), step: 1) == text)
    }
  }

  @Test func refusesEveryTruncationAndFlip() {
    let packed = UnpackingSourceTests.packed
    for count in 3..<packed.count {
      #expect(throws: InputFault.self, "\(count) bytes") {
        try all(Array(packed[..<count]), step: 2)
      }
    }
    // The checksum and length at the end.
    for index in 18..<packed.count {
      var flipped = packed
      flipped[index] ^= 1
      #expect(throws: InputFault.self, "byte \(index)") { try all(flipped, step: 7) }
    }
  }
}
