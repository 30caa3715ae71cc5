// The schema as a program writes it that does not use typed records:
//
//     let schema = Schema {
//       Entity("Post", displayName: "title") {
//         Attribute("id", .uuid, isOptional: false, isUnique: true)
//         Attribute("title", .string)
//         Relationship("author", to: "Person")
//         IndexDescription("title", ["title"])
//       }
//     }

extension Schema {
  /// Creates the schema of the entities that `content` lists.
  public init(@SchemaBuilder _ content: () -> [Entity]) {
    self.init(entities: content())
  }
}

extension Entity {
  /// Creates an entity with the properties and indexes that `content` lists.
  public init(
    _ name: String, displayName: String? = nil, @EntityBuilder _ content: () -> [EntityMember]
  ) {
    self.init(name, displayName: displayName)
    for member in content() {
      switch member.content {
      case .attribute(let attribute): attributes.append(attribute)
      case .relationship(let relationship): relationships.append(relationship)
      case .index(let index): indexes.append(index)
      }
    }
  }
}

/// A member of an entity: an attribute, a relationship or an index.
public struct EntityMember: Hashable, Sendable {
  enum Content: Hashable {
    case attribute(Attribute)
    case relationship(Relationship)
    case index(IndexDescription)
  }

  let content: Content
}

/// Collects the entities of a schema.
@resultBuilder
public enum SchemaBuilder {
  /// One member, or those of a list.
  public static func buildExpression(_ entity: Entity) -> [Entity] { [entity] }
  /// One member, or those of a list.
  public static func buildExpression(_ entities: [Entity]) -> [Entity] { entities }
  /// All that the block lists, in order.
  public static func buildBlock(_ parts: [Entity]...) -> [Entity] { parts.flatMap { $0 } }
  /// What an `if` without `else` lists, or nothing.
  public static func buildOptional(_ part: [Entity]?) -> [Entity] { part ?? [] }
  /// What the branch taken lists.
  public static func buildEither(first: [Entity]) -> [Entity] { first }
  /// What the branch taken lists.
  public static func buildEither(second: [Entity]) -> [Entity] { second }
  /// What all rounds of a loop list, in order.
  public static func buildArray(_ parts: [[Entity]]) -> [Entity] { parts.flatMap { $0 } }
}

/// Collects the attributes, relationships and indexes of an entity.
@resultBuilder
public enum EntityBuilder {
  /// One member, or those of a list.
  public static func buildExpression(_ attribute: Attribute) -> [EntityMember] {
    [EntityMember(content: .attribute(attribute))]
  }
  /// One member, or those of a list.
  public static func buildExpression(_ relationship: Relationship) -> [EntityMember] {
    [EntityMember(content: .relationship(relationship))]
  }
  /// One member, or those of a list.
  public static func buildExpression(_ index: IndexDescription) -> [EntityMember] {
    [EntityMember(content: .index(index))]
  }
  /// All that the block lists, in order.
  public static func buildBlock(_ parts: [EntityMember]...) -> [EntityMember] {
    parts.flatMap { $0 }
  }
  /// What an `if` without `else` lists, or nothing.
  public static func buildOptional(_ part: [EntityMember]?) -> [EntityMember] { part ?? [] }
  /// What the branch taken lists.
  public static func buildEither(first: [EntityMember]) -> [EntityMember] { first }
  /// What the branch taken lists.
  public static func buildEither(second: [EntityMember]) -> [EntityMember] { second }
  /// What all rounds of a loop list, in order.
  public static func buildArray(_ parts: [[EntityMember]]) -> [EntityMember] {
    parts.flatMap { $0 }
  }
}

extension IndexElement: ExpressibleByStringLiteral {
  /// An ascending element over the property of this name.
  public init(stringLiteral name: String) {
    self.init(name)
  }
}
