/// A page of a table of objects.
package struct TableDocument: Codable, Sendable {
  package struct Column: Codable, Sendable {
    package var name: String
    package var type: String
    package var isKey = false
    package var isDisplayName = false
    package var isRelationship = false
    package var isToMany = false
    package var destination: String?
    package var isIndexed = false
  }

  package struct Row: Codable, Sendable {
    package var object: ShownObject
    package var values: [ShownValue]
    package var referrers: Int?
  }

  package var moment: ShownMoment
  package var entity: String
  package var columns: [Column]
  package var rows: [Row]
  package var widths: [Int]
  package var offset: Int
  package var total: Int
  package var all: Int
  package var plan: [String]
  package var planRemedy: String?
  package var command: String
}

/// The plan of a query, and how many objects it finds.
package struct PlanDocument: Codable, Sendable {
  package var moment: ShownMoment
  /// A line each.
  package var plan: [String]
  /// The command that adds the index which the last line recommends.
  package var planRemedy: String?
  /// How many objects are found, and how many the entity has; nil where nobody asked.
  package var total: Int?
  package var all: Int?
  package var command: String
}

/// Groups of objects.
package struct GroupsDocument: Codable, Sendable {
  package struct Entry: Codable, Sendable {
    package var key: ShownValue
    package var text: String
    package var count: Int
    package var filter: String?
  }

  package var moment: ShownMoment
  package var entity: String
  package var by: String
  package var groups: [Entry]
  package var offset: Int
  package var total: Int
  package var groupCount: Int
  package var command: String
}

/// One object.
package struct ObjectDocument: Codable, Sendable {
  package struct Origin: Codable, Sendable {
    package var number: Int64
    package var timestamp: String
    package var us: Int64
    package var author: String?
    package var message: String?
  }

  package struct Member: Codable, Sendable {
    package var name: String
    package var type: String
    package var value: ShownValue
    package var isKey = false
    package var isRelationship = false
    package var isToMany = false
    package var destination: String?
    package var inverse: String?
    package var setBy: Origin?
    package var isOfBase = false
  }

  package struct Referring: Codable, Sendable {
    package var entity: String
    package var property: String
    package var inverse: String?
    package var count: Int
  }

  package var moment: ShownMoment
  package var object: ShownObject
  package var exists: Bool
  package var entity: String
  package var properties: [Member]
  package var referrers: [Referring]
  package var deleted: ShownHeader?
  package var command: String
}

/// Who last set each property of an object.
package struct BlameDocument: Codable, Sendable {
  package struct Line: Codable, Sendable {
    package var property: String
    package var value: ShownValue
    /// Who set or cleared it; nil if that was pruned, and for a default that nobody wrote.
    package var setBy: ObjectDocument.Origin?
  }

  package var moment: ShownMoment
  package var object: ShownObject
  package var lines: [Line]
  package var deleted: ShownHeader?
  package var command: String
}

/// The objects that refer to one.
package struct ReferrersDocument: Codable, Sendable {
  package var moment: ShownMoment
  package var object: ShownObject
  package var property: String
  package var objects: [ShownObject]
  package var offset: Int
  package var total: Int
  package var command: String
}
