import AnnalsModel
import Testing

/// How a store's schema follows the programs that open it: what grows, what stays, what is refused.
@Suite struct SchemaEvolutionTests {
  /// A store's schema with one entity of these members.
  private func store(@EntityBuilder _ content: () -> [EntityMember]) throws -> Schema {
    try Schema().adding(Schema(entities: [Entity("Post", content)])).schema
  }

  /// What happens when a program with one entity of these members opens the store.
  private func open(
    _ store: Schema, objects: Int = 3, edits: [SchemaEdit] = [],
    @EntityBuilder _ content: () -> [EntityMember]
  ) throws -> SchemaChange {
    try store.adding(
      Schema(entities: [Entity("Post", content)]), edits: edits, objectCount: { _ in objects })
  }

  private func conflicts(_ body: () throws -> SchemaChange) -> [String] {
    do {
      _ = try body()
      return []
    } catch let error as SchemaError {
      return error.conflicts.map { conflict in
        "\(conflict.kind) \(conflict.entity)" + (conflict.property.map { ".\($0)" } ?? "")
      }
    } catch {
      return ["\(error)"]
    }
  }

  @Test func numbersAreGivenInOrderAndShared() throws {
    let schema = try Schema().adding(
      Schema {
        Entity("Post") {
          Attribute("title", .string, isUnique: true)
          Relationship("author", to: "Person")
          Attribute("date", .date)
          IndexDescription("by date", ["date", IndexElement("title", isDescending: true)])
        }
        Entity("Person") { Attribute("name", .string) }
      }
    ).schema
    #expect(schema.entities.map(\.number) == [1, 2])
    let post = try #require(schema.entity(named: "Post"))
    #expect(post.attributes.map(\.number) == [1, 2])
    #expect(post.relationships.map(\.number) == [3])
    #expect(post.relationships.map(\.destination) == [2])
    #expect(post.relationships.map(\.destinationName) == [""])
    #expect(post.indexes.map(\.number) == [4])
    #expect(post.indexes.first?.elements.map(\.property) == [2, 1])
    #expect(post.indexes.first?.elements.map(\.propertyName) == ["", ""])
    #expect(post.nextPropertyNumber == 5)
    #expect(post.uniqueRules == [UniqueRule(number: 1, properties: [1])])
  }

  @Test func openingAgainChangesNothing() throws {
    let required = Schema {
      Entity("Post", displayName: "title") {
        Attribute(
          "title", .string, isOptional: false, default: .string(""),
          validation: Validation(maximumLength: 10))
        Relationship("tags", to: "Post", isToMany: true, isOrdered: true)
        IndexDescription("by title", ["title"], isUnique: true)
      }
    }
    let first = try Schema().adding(required)
    #expect(first.changed.count == 1)
    let second = try first.schema.adding(required, objectCount: { _ in 5 })
    #expect(second.isEmpty)
    #expect(second.backfills.isEmpty)
    #expect(second.schema == first.schema)
    // A store's own schema may be required of it, though it names destinations by number.
    #expect(try first.schema.adding(first.schema).isEmpty)
    #expect(try Schema().adding(first.schema).schema == first.schema)
  }

  /// (stored, required, result); nil where the change is refused.
  static let types: [(AttributeType, AttributeType, AttributeType?)] = {
    var rows: [(AttributeType, AttributeType, AttributeType?)] = []
    let wide: [AttributeType: Int] = [.int16: 1, .int32: 2, .int64: 3]
    for stored in AttributeType.allCases {
      for required in AttributeType.allCases {
        let result: AttributeType? =
          if stored == required { stored } else if stored == .any || required == .any {
            .any
          } else if let a = wide[stored], let b = wide[required] { a > b ? stored : required } else
          { nil }
        rows.append((stored, required, result))
      }
    }
    return rows
  }()

  @Test(arguments: types)
  func typesGrowAndNeverShrink(
    stored: AttributeType, required: AttributeType, result: AttributeType?
  ) throws {
    let schema = try store { Attribute("a", stored) }
    guard let result else {
      #expect(
        conflicts { try open(schema) { Attribute("a", required) } } == ["incompatibleType Post.a"])
      return
    }
    let change = try open(schema) { Attribute("a", required) }
    #expect(change.schema.entities[0].attribute(named: "a")?.type == result)
    #expect(change.isEmpty == (stored == result))
    #expect(change.schema.entities[0].attribute(named: "a")?.number == 1)
  }

  @Test func requiredBecomesOptionalAndNotBack() throws {
    let required = try store { Attribute("a", .int64, isOptional: false) }
    let loose = try open(required) { Attribute("a", .int64) }
    #expect(loose.schema.entities[0].attributes[0].isOptional)
    let back = try open(loose.schema) { Attribute("a", .int64, isOptional: false) }
    #expect(back.isEmpty)
  }

  @Test func whatTheStoreHasBeyondStays() throws {
    let schema = try store {
      Attribute("a", .string, isUnique: true, isPreservedAfterDeletion: true)
      Attribute("b", .date)
      Relationship("r", to: "Post", isToMany: true, isOrdered: true)
      IndexDescription("i", ["b"], isUnique: true)
    }
    let change = try open(schema) {
      Attribute("a", .string)
      Relationship("r", to: "Post", isToMany: true)
      IndexDescription("i", ["b"])
      Attribute("b", .date)
    }
    #expect(change.isEmpty)
  }

  @Test func rulesGrowAndAreAddedButNeverTightened() throws {
    let schema = try store {
      Attribute(
        "n", .int64,
        validation: Validation(minimum: .int(0), maximum: .int(9), oneOf: [.int(1), .int(2)]))
      Attribute("s", .string, validation: Validation(maximumLength: 5))
    }
    let change = try open(schema) {
      Attribute(
        "n", .int64,
        validation: Validation(minimum: .int(3), maximum: .int(20), oneOf: [.int(2), .int(4)]))
      Attribute("s", .string, validation: Validation(minimumLength: 1, maximumLength: 3))
    }
    let attributes = change.schema.entities[0].attributes
    #expect(
      attributes[0].validation
        == Validation(
          minimum: .int(0), maximum: .int(20), oneOf: [.int(1), .int(2), .int(4)]))
    #expect(attributes[1].validation == Validation(minimumLength: 1, maximumLength: 5))
    // Either program opens it again without a change.
    #expect(
      try open(change.schema) {
        Attribute("s", .string, validation: Validation(minimumLength: 1, maximumLength: 3))
      }.isEmpty)
    #expect(
      try open(change.schema) {
        Attribute("s", .string, validation: Validation(maximumLength: 5))
      }.isEmpty)
  }

  @Test func rulesThatExcludeEachOtherAreRefused() throws {
    let schema = try store {
      Attribute("n", .int64, default: .int(9), validation: Validation(minimum: .int(5)))
    }
    #expect(
      conflicts {
        try open(schema) { Attribute("n", .int64, validation: Validation(maximum: .int(3))) }
      } == ["invalidValidation Post.n", "invalidDefault Post.n"])
  }

  @Test func aNewRequiredAttributeNeedsADefaultWhereThereAreObjects() throws {
    let schema = try store { Attribute("a", .string) }
    #expect(
      conflicts { try open(schema) { Attribute("b", .int64, isOptional: false) } }
        == ["missingDefault Post.b"])
    #expect(
      try open(schema, objects: 0) { Attribute("b", .int64, isOptional: false) }.changed.count == 1)
    let change = try open(schema) { Attribute("b", .int64, isOptional: false, default: .int(7)) }
    #expect(change.schema.entities[0].attribute(named: "b")?.defaultValue == .int(7))
    #expect(change.backfills.isEmpty)
    #expect(
      try open(schema) { Attribute("b", .int64, default: .null) }.schema.entities[0]
        .attribute(named: "b")?.defaultValue == nil)
  }

  @Test func defaultsOfOlderObjectsAreWrittenOutBeforeNullMeansNil() throws {
    let schema = try store { Attribute("a", .int64, isOptional: false, default: .int(7)) }
    let change = try open(schema) { Attribute("a", .int64) }
    #expect(
      change.backfills == [SchemaChange.Backfill(entity: 1, property: 1, value: .int(7))])
    #expect(try open(schema, objects: 0) { Attribute("a", .int64) }.backfills.isEmpty)
  }

  @Test func newUniquenessSeesDefaults() throws {
    let schema = try store {
      Attribute("a", .string)
      Attribute("b", .int64, isOptional: false, default: .int(1))
      IndexDescription("i", ["a", "b"])
    }
    let change = try open(schema) {
      Attribute("a", .string, isUnique: true)
      Attribute("b", .int64, isOptional: false, default: .int(1))
      IndexDescription("i", ["a", "b"], isUnique: true)
    }
    #expect(change.backfills.map(\.property) == [2])
    #expect(
      conflicts {
        try open(schema) {
          Attribute("c", .string, isOptional: false, default: .string(""), isUnique: true)
        }
      } == ["notUnique Post.c"])
  }

  /// One object may have the default of a unique attribute; two would have the same.
  @Test func aUniqueDefaultIsForOneObjectAtMost() throws {
    let schema = try store { Attribute("a", .string) }
    func add(to objects: Int) -> [String] {
      conflicts {
        try open(schema, objects: objects) {
          Attribute("c", .string, isOptional: false, default: .string(""), isUnique: true)
        }
      }
    }
    #expect(add(to: 0) == [] && add(to: 1) == [])
    #expect(add(to: 2) == ["notUnique Post.c"])
  }

  @Test func impossibleChangesAreRefusedByNameAllAtOnce() throws {
    let schema = try store {
      Attribute("a", .string)
      Attribute("d", .date)
      Relationship("one", to: "Post")
      Relationship("many", to: "Post", isToMany: true)
      IndexDescription("i", ["a"])
    }
    let found = conflicts {
      try schema.adding(
        Schema {
          Entity("Post") {
            Attribute("a", .int64)
            Attribute("one", .string)
            Attribute("b", .string)
            Relationship("many", to: "Other", isToMany: true, isOrdered: true)
            Relationship("d", to: "Post")
            IndexDescription("i", ["b"])
          }
          Entity("Other") {}
        })
    }
    #expect(
      found == [
        "incompatibleType Post.a", "incompatibleType Post.one",
        "incompatibleRelationship Post.many", "incompatibleRelationship Post.many",
        "incompatibleRelationship Post.d", "incompatibleIndex Post.i",
      ])
    #expect(
      conflicts { try open(schema) { Relationship("one", to: "Post", isToMany: true) } }
        == ["incompatibleRelationship Post.one"])
  }

  @Test func renamesKeepNumbersAndAreDoneOnce() throws {
    let schema = try store {
      Attribute("text", .string)
      IndexDescription("i", ["text"])
    }
    let edit = [SchemaEdit.renameProperty(entity: "Post", "text", to: "body")]
    let change = try open(schema, edits: edit) { Attribute("body", .string) }
    #expect(change.schema.entities[0].attributes.map(\.name) == ["body"])
    #expect(change.schema.entities[0].attributes.map(\.number) == [1])
    #expect(try open(change.schema, edits: edit) { Attribute("body", .string) }.isEmpty)
    // The older program comes by and adds its own again; the rename stays done.
    let older = try open(change.schema) { Attribute("text", .string) }
    #expect(older.schema.entities[0].attributes.map(\.number) == [1, 3])
    #expect(try open(older.schema, edits: edit) { Attribute("body", .string) }.isEmpty)
    // A store that never had the old name needs no rename.
    #expect(try open(Schema(), edits: edit) { Attribute("body", .string) }.changed.count == 1)
  }

  /// A program names its indexes after their properties: the one that renames a property finds its
  /// indexes, and the older one may have its own again.
  @Test func indexesFollowTheRenamesOfTheirProperties() throws {
    func entity(_ text: String, _ second: String) -> Schema {
      Schema {
        Entity("Post") {
          Attribute(text, .string)
          Attribute(second, .int64)
          Attribute("size", .int64)
          IndexDescription(text, [IndexElement(text)])
          IndexDescription("\(text) descending", [IndexElement(text, isDescending: true)])
          IndexDescription("\(text), size", [IndexElement(text), IndexElement("size")])
          IndexDescription("box of size, \(second)", box: ["size", second])
          IndexDescription(
            "size where \(second) > 3", ["size"],
            where: .compare(PropertyPath(second), .greater, .int(3)))
          IndexDescription("mine", [IndexElement("size"), IndexElement(text)])
        }
      }
    }
    let before = entity("text", "rank")
    let after = entity("body", "place")
    let edits: [SchemaEdit] = [
      .renameProperty(entity: "Post", "text", to: "body"),
      .renameProperty(entity: "Post", "rank", to: "place"),
    ]
    let schema = try Schema().adding(before).schema
    let renamed = try schema.adding(after, edits: edits).schema
    let post = try #require(renamed.entity(named: "Post"))
    #expect(
      post.indexes.map(\.name) == [
        "body", "body descending", "body, size", "box of size, place", "size where place > 3",
        "mine",
      ])
    #expect(post.indexes.map(\.number) == schema.entities[0].indexes.map(\.number))
    #expect(try renamed.adding(after, edits: edits).isEmpty)
    // Without the program's own schema all but the partial one follow.
    let alone = try schema.adding(Schema(), edits: edits).schema
    #expect(
      alone.entities[0].indexes.map(\.name) == [
        "body", "body descending", "body, size", "box of size, place", "size where rank > 3",
        "mine",
      ])
    // The older program has properties of its own now, and indexes over them; "mine" is another's.
    var older = before
    older.entities[0].indexes.removeLast()
    let both = try renamed.adding(older).schema
    #expect(both.entities[0].indexes.count == 11)
    #expect(try both.adding(after, edits: edits).isEmpty)
  }

  @Test func aRenameToANameAddedBeforeIsRefused() throws {
    let schema = try store {
      Attribute("text", .string)
      Attribute("body", .string)
    }
    let edit = [SchemaEdit.renameProperty(entity: "Post", "text", to: "body")]
    #expect(
      conflicts { try open(schema, edits: edit) { Attribute("body", .string) } }
        == ["ambiguousRename Post.text"])
  }

  @Test func entitiesAreRenamedAndRemoved() throws {
    let schema = try Schema().adding(
      Schema {
        Entity("Post") { Relationship("author", to: "Person") }
        Entity("Person") {}
      }
    ).schema
    let rename = [SchemaEdit.renameEntity("Person", to: "Human")]
    let renamed = try schema.adding(Schema(), edits: rename)
    #expect(renamed.schema.entity(named: "Human")?.number == 2)
    #expect(renamed.changed.map(\.number) == [2])
    #expect(try renamed.schema.adding(Schema(), edits: rename).isEmpty)
    #expect(
      conflicts { try schema.adding(Schema(), edits: [.removeEntity("Person")]) }
        == ["inUse Person"])
    let removals: [SchemaEdit] = [
      .removeProperty(entity: "Post", "author"), .removeEntity("Person"),
    ]
    let removed = try schema.adding(Schema(), edits: removals)
    #expect(removed.schema.entity(named: "Person") == nil)
    #expect(removed.schema.entity(numbered: 2)?.isRemoved == true)
    // Done once: what an older program adds again stays.
    let again = try removed.schema.adding(
      Schema {
        Entity("Post") { Relationship("author", to: "Person") }
        Entity("Person") {}
      })
    #expect(again.schema.entity(named: "Person")?.number == 3)
    #expect(try again.schema.adding(Schema(), edits: removals).isEmpty)
  }

  @Test func aRemovedPropertyIsHiddenAndItsNameIsFree() throws {
    let schema = try store {
      Attribute("a", .string, isUnique: true)
      IndexDescription("i", ["a"])
    }
    let change = try open(schema, edits: [.removeProperty(entity: "Post", "a")]) {
      Attribute("a", .int64)
    }
    let post = change.schema.entities[0]
    #expect(post.attributes.map(\.isRemoved) == [true, false])
    #expect(post.attribute(named: "a")?.number == 3)
    #expect(post.indexes.isEmpty)
    #expect(post.uniqueRules.isEmpty)
  }

  @Test func namesAreBytes() throws {
    // "é" as one scalar and as two: equal for Swift, two names here.
    let schema = try store { Attribute("\u{E9}", .string) }
    let change = try open(schema) { Attribute("e\u{301}", .string) }
    #expect(change.schema.entities[0].attributes.count == 2)
    #expect(change.schema.entities[0].propertyNumber(named: "e\u{301}") == 2)
    let renamed = try open(
      schema, edits: [.renameProperty(entity: "Post", "\u{E9}", to: "e\u{301}")]
    ) { Attribute("e\u{301}", .string) }
    #expect(renamed.changed.count == 1)
    #expect(
      renamed.schema.entities[0].attributes[0].name.utf8.elementsEqual("e\u{301}".utf8))
  }

  @Test func whatIsWrongWithASchemaByItselfIsNamed() {
    let schema = Schema {
      Entity("A/B") {
        Attribute("", .string)
        Attribute("x", .int16, default: .int(40_000))
        Attribute("x", .string)
        Attribute("b", .bool, validation: Validation(minimum: .bool(true)))
        Attribute("l", .int64, validation: Validation(minimumLength: 1))
        Attribute("o", .string, validation: Validation(oneOf: [.int(1)]))
        Attribute("r", .double, validation: Validation(minimum: .double(2), maximum: .double(1)))
        Attribute("line\n", .string)
        Attribute("many", .int64, validation: Validation(oneOf: (0...65_535).map { .int($0) }))
        Relationship("to", to: "Nowhere", isToMany: true)
        IndexDescription("i", [])
        IndexDescription("j", ["b", "b", "to", "gone"])
      }
      Entity("A/B") {}
    }
    let found = schema.conflicts().map {
      "\($0.kind) \($0.property ?? "-")"
    }
    #expect(
      found == [
        "invalidName -", "invalidName ", "duplicateName x", "invalidName line\n",
        "invalidDefault x", "invalidValidation b", "invalidValidation l", "invalidValidation o",
        "invalidValidation r", "invalidValidation many", "unknownName to", "invalidIndex i",
        "invalidIndex j",
        "invalidIndex j", "unknownName j", "invalidName -", "duplicateName -",
      ])
  }
}
