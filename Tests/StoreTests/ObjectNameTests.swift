import Annals
import AnnalsModel
import Testing

/// An object has one name, wherever it is named in text.
@Suite struct ObjectNameTests {
  @Test(arguments: [
    (AttributeType.data, Value.data([0, 1, 254, 255]), "AAH+/w=="), (.data, .data([7]), "Bw=="),
    (.data, .data([1, 2, 3]), "AQID"), (.double, .double(1e21), "1000000000000000000000.0"),
    (.any, .bool(true), "true"), (.url, .url("https://a.b"), "https://a.b"),
  ])
  func violationsAndHistoryNameAlike(type: AttributeType, key: Value, text: String) throws {
    let schema = Schema {
      Entity("Post") {
        Attribute("id", type, isOptional: false, isUnique: true)
        Attribute("title", .string, validation: Validation(maximumLength: 3))
      }
    }
    let store = try Store(.memory, schema: schema)
    let post = try store.commit { try $0.insert("Post", ["id": key]) }.value
    let change = try #require(try store.transaction(store.token.number).changes.first)
    let name = try change.objectName { () throws(AnnalsError) in store.snapshot().reader }
    #expect(name.text == "Post/\(text)")
    let tooLong = #expect(throws: AnnalsError.self) {
      try store.write { try $0.update(post, ["title": "much too long"]) }
    }
    #expect(tooLong?.violations.first?.key == text)
  }
}
