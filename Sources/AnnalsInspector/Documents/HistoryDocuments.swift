/// The versions of one object.
package struct LifeDocument: Codable, Sendable {
  package struct Version: Codable, Sendable {
    package var header: ShownHeader
    package var change: ShownChange?
    /// Whether it is the state at the base.
    package var base: Bool?
  }

  package var object: ShownObject
  package var versions: [Version]
  package var older: Int64?
  package var progress: Double
  package var command: String
}

/// Two versions of an object, compared.
package struct VersionDocument: Codable, Sendable {
  package var object: ShownObject
  package var from: ShownMoment
  package var to: ShownMoment
  package var change: ShownChange?
  package var command: String
}

/// A page of transactions, newest first.
package struct TransactionsDocument: Codable, Sendable {
  package struct Entry: Codable, Sendable {
    package var header: ShownHeader
    package var changes: [ShownChange]
    package var matching: Int
    /// The first of what it changed of the schema, and how many lines are left out.
    package var schemaLines: [String]?
    package var moreSchemaLines: Int?
  }

  package var transactions: [Entry]
  package var older: Int64?
  package var newer: Int64?
  package var isPartial: Bool
  package var head: Int64
  package var command: String
}

/// What a filter selects, counted.
package struct TallyDocument: Codable, Sendable {
  package struct Author: Codable, Sendable {
    package var author: String?
    package var transactions: Int
    package var changes: Int
  }

  package struct Entity: Codable, Sendable {
    package var entity: String
    package var inserts: Int
    package var updates: Int
    package var deletes: Int
  }

  package var transactions: Int
  /// The changes that match.
  package var changes: Int
  package var authors: [Author]
  package var authorCount: Int
  package var entities: [Entity]
  package var entityCount: Int
  /// The oldest transaction that was looked at; missing if all were.
  package var reached: Int64?
  package var command: String
}

/// One transaction whole.
package struct TransactionDocument: Codable, Sendable {
  package struct Entry: Codable, Sendable {
    package var key: String
    package var value: ShownValue
  }

  package var header: ShownHeader
  package var metadata: [Entry]
  package var schemaLines: [String]
  package var changes: [ShownChange]
  package var offset: Int
  package var total: Int
  package var previous: Int64?
  package var next: Int64?
  package var command: String
}

/// The net difference of two states.
package struct DifferenceDocument: Codable, Sendable {
  package struct Counts: Codable, Sendable, Hashable {
    package var entity: String
    package var inserts = 0
    package var updates = 0
    package var deletes = 0
    /// How many were deleted while another object was inserted under the same key; missing for
    /// none.
    package var replaces: Int?
  }

  package var from: ShownMoment
  package var to: ShownMoment
  package var entities: [Counts]
  package var changes: [ShownChange]
  package var offset: Int
  package var total: Int
  package var progress: Double
  package var command: String
}

/// Since when a condition has held.
package struct SinceDocument: Codable, Sendable {
  package struct Probe: Codable, Sendable, Hashable {
    package var number: Int64
    package var holds: Bool
    package var count: Int?
  }

  package var holds: Bool
  package var became: ShownHeader?
  package var changes: [ShownChange]
  package var states: Int
  package var from: ShownMoment
  package var to: ShownMoment
  package var probes: [Probe]
  /// Whether it stayed so since then, or was so all the time; otherwise that is not known.
  package var isExact: Bool
  package var note: String
  /// Other objects that had the key before, by number; missing if none is known.
  package var earlier: [String]?
  package var command: String
}

/// A timeline's bars and rows.
package struct TimelineDocument: Codable, Sendable {
  package struct Bar: Codable, Sendable {
    package enum Kind: String, CaseIterable, Codable, Sendable {
      case single, range, ongoing
    }

    /// Missing in a picture, which names it by its label.
    package var object: ShownObject?
    package var label: String
    package var kind: Kind
    package var startUs: Int64
    package var endUs: Int64
    package var start: String
    package var end: String
    package var group: Int?
    package var lane: Int
    package var remark: String?
    package var length: String?
    /// Whether it ends before it starts.
    package var isInverted: Bool?
  }

  package struct Row: Codable, Sendable {
    package enum Role: String, Codable, Sendable {
      case single, start, end, ongoing
    }

    /// The index among the bars of the answer; missing if the bar is not among them.
    package var bar: Int?
    package var role: Role
    package var object: ShownObject?
    package var label: String
    package var date: String
    package var us: Int64?
    package var gap: String?
    package var elapsed: String
    /// What a bar has, where a row stands alone.
    package var group: String?
    package var length: String?
    package var remark: String?
  }

  package struct Unplaced: Codable, Sendable {
    package var object: ShownObject
    package var reason: String
  }

  package struct Suggestion: Codable, Sendable, Hashable {
    package var entity: String
    package var starts: [String]
    package var flags: [String]
    package var groups: [String]
    package var labels: [String]
  }

  package struct Suggestions: Codable, Sendable, Hashable {
    package var entities: [Suggestion]
  }

  package var moment: ShownMoment
  package var title: String
  package var groups: [String]
  package var startUs: Int64?
  package var endUs: Int64?
  package var nowUs: Int64
  package var hasDays: Bool
  package var bars: [Bar]
  package var rows: [Row]
  package var lanes: [Int]
  package var offset: Int
  package var total: Int
  package var rowTotal: Int
  package var unplaced: [Unplaced]
  package var unplacedCount: Int
  package var suggestions: Suggestions?
  package var command: String
}
