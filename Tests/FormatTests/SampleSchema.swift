import AnnalsModel

/// Definitions that use every field of a schema.
enum SampleSchema {
  static var entities: [Entity] {
    var post = Entity("Post", displayName: "title")
    post.number = 1
    post.attributes = [
      attribute(
        1,
        Attribute(
          "id", .uuid, isOptional: false, isUnique: true, isPreservedAfterDeletion: true)),
      attribute(2, Attribute("title", .string, default: .string("untitled"))),
      attribute(
        4,
        Attribute(
          "rating", .int16,
          validation: Validation(minimum: .int(0), maximum: .int(5), oneOf: [.int(1), .int(3)]))),
      attribute(
        5, Attribute("body", .any, validation: Validation(minimumLength: 1, maximumLength: 99))),
      attribute(
        10,
        Attribute(
          "price", .decimal, default: .decimal(RawDecimal("-12.50") ?? .zero),
          validation: Validation(minimum: .decimal(.zero), oneOf: [.decimal(RawDecimal(7))]))),
      attribute(
        11, Attribute("day", .day, validation: Validation(maximum: .day(.latest)))),
    ]
    post.attributes[3].isRemoved = true
    post.attributes[1].extensions = [3, 1, 7]
    post.attributes[1].derivation = Derivation(.sum)
    post.attributes[1].derivation?.sourceEntity = 2
    post.attributes[1].derivation?.source = 3
    post.attributes[1].derivation?.inputs = [Derivation.Input("", number: 300)]
    post.attributes[3].derivation = Derivation(.function)
    post.attributes[3].derivation?.version = 200
    post.attributes[3].derivation?.inputs = [1, 2].map { Derivation.Input("", number: $0) }
    // Rules that only a later version knows, beside one that this one does.
    post.attributes[1].validation.maximumLength = 7
    post.attributes[1].validation.laterFlags = 0x60
    post.attributes[1].validation.laterRules = [1, 2, 3]
    var author = Relationship("author", to: "", onDelete: .cascade, inverse: "posts")
    author.number = 3
    author.destination = 2
    author.extensions = [4, 0]
    author.isOptional = false
    var tags = Relationship(
      "tags", to: "", isToMany: true, isOrdered: true, onDelete: .keep, count: 3...300)
    tags.number = 7
    tags.destination = 1
    tags.isRemoved = true
    post.relationships = [author, tags]
    var element = IndexElement("", isDescending: true)
    element.property = 2
    var index = IndexDescription("byTitle", [element], isUnique: true)
    index.number = 6
    index.extensions = [2, 1, 1]
    var test = IndexTest("", .greater, .double(-0.5))
    test.property = 1
    index.tests = [test, test]
    index.tests[1].comparison = .notEqual
    index.tests[1].value = .null
    var later = IndexDescription("nearby", [])
    later.number = 8
    later.laterDefinition = [16, 0, 3, 1, 2, 3]
    var box = IndexDescription("nearer", box: ["", ""], where: nil)
    box.number = 9
    box.elements[0].property = 4
    box.elements[1].property = 2
    box.tests = [index.tests[0]]
    post.indexes = [index, later, box]
    post.nextPropertyNumber = 12
    post.extensions = [3, 2, 0xAA, 0xBB, 9, 0]
    post.madeEdits = [
      .renameEntity("Entry", to: "Post"),
      .renameProperty(entity: "Post", "heading", to: "title"),
      .removeProperty(entity: "Post", "note"), .removeProperty(entity: "Post", "note"),
      .removeIndex(entity: "Post", "byNote"),
    ]
    var person = Entity("Person")
    person.number = 2
    person.isRemoved = true
    person.madeEdits = [.removeEntity("Person")]
    return [post, person]
  }

  private static func attribute(_ number: PropertyNumber, _ attribute: Attribute) -> Attribute {
    var result = attribute
    result.number = number
    return result
  }
}
