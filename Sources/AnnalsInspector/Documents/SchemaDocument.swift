/// The schema at one moment, and how it grew.
package struct SchemaDocument: Codable, Sendable {
  package struct AttributeEntry: Codable, Sendable {
    package var name: String
    package var type: String
    package var isRequired: Bool
    package var isUnique: Bool
    package var isIndexed: Bool
    package var isPreserved: Bool
    package var `default`: String?
    package var rules: [String]
    package var derived: String?
  }

  package struct RelationshipEntry: Codable, Sendable {
    package var name: String
    package var destination: String
    package var isToMany: Bool
    package var isOrdered: Bool
    package var isRequired: Bool
    package var deleteRule: String?
    package var inverse: String?
    package var rules: [String]
  }

  package struct EntityEntry: Codable, Sendable {
    package var name: String
    package var number: Int64
    package var displayName: String?
    package var count: Int
    package var attributes: [AttributeEntry]
    package var relationships: [RelationshipEntry]
    package var indexes: [String]
  }

  package struct Growth: Codable, Sendable {
    package var header: ShownHeader
    package var lines: [String]
  }

  package struct Migration: Codable, Sendable {
    package var name: String
    package var number: Int64
  }

  package var moment: ShownMoment
  package var entities: [EntityEntry]
  package var growth: [Growth]
  package var growthMore: Int
  package var migrations: [Migration]
  package var text: String
  package var json: String
  package var command: String
}
