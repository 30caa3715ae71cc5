import AnnalsModel
import AnnalsQuery
import Testing

/// Names with dots beside paths through relationships, both written `place.name`.
@Suite struct DottedNameTests {
  private static let schema: Schema = {
    var place = Entity("Place")
    place.number = 1
    place.attributes = [Attribute("name", .string)]
    place.attributes[0].number = 1
    var event = Entity("Event")
    event.number = 2
    event.attributes = ["place.name", "place.size", "title.short", "title"].map {
      Attribute($0, .string)
    }
    for index in event.attributes.indices {
      event.attributes[index].number = PropertyNumber(index + 1)
    }
    event.relationships = [Relationship("place", to: "Place")]
    event.relationships[0].number = 9
    event.relationships[0].destination = 1
    return Schema(entities: [place, event])
  }()

  private func parse(_ text: String) throws -> Condition {
    try ConditionParser.parse(text, over: Self.schema.entities[1], in: Self.schema)
  }

  @Test(arguments: [
    ["place", "name"], ["place.name"], ["place.size"], ["title.short"], ["title"],
  ])
  func `a description parses to the same condition`(names: [String]) throws {
    let condition = Condition.compare(PropertyPath(names), .equal, .string("x"))
    #expect(try parse(condition.description) == condition)
  }

  @Test func `a name with a dot needs backquotes only where a path says the same`() throws {
    #expect(try parse("place.size == 'x'") == .compare("place.size", .equal, .string("x")))
    #expect(try parse("title.short == 'x'") == .compare("title.short", .equal, .string("x")))
    #expect(try parse("place.name == 'x'") == .compare(["place", "name"], .equal, .string("x")))
    #expect(throws: ConditionTextError.self) { try parse("place.none == 'x'") }
  }
}
