/// How many objects an entity has.
package struct EntityCount: Codable, Sendable, Hashable {
  package var entity: String
  package var count: Int
}

/// The stores that are shown.
package struct StoresDocument: Codable, Sendable {
  package struct Entry: Codable, Sendable {
    package var name: String
    package var size: Int64
    package var modified: String?
    package var isOpen = false
    package var uuid: String?
    package var base: Int64?
    package var head: Int64?
    package var objects: [EntityCount]?
    package var first: String?
    package var last: String?
    package var problem: FaultDocument.Fault?
  }

  package var folder: String?
  package var stores: [Entry]
  package var more: Int
  package var command: String
}

/// A store in numbers, and what waits to be done for it.
package struct SummaryDocument: Codable, Sendable {
  package struct Consumer: Codable, Sendable {
    package var name: String
    package var number: Int64
    package var isBlocking: Bool
    package var isLeaseRunning: Bool
  }

  /// An erasure that was recorded and not carried out.
  package struct Unfinished: Codable, Sendable {
    package var number: Int64
    /// The first transaction that has such a value.
    package var found: Int64
    /// The commands that carry it out.
    package var commands: [String]
  }

  package var uuid: String
  package var base: Int64
  package var head: Int64
  /// Most objects first.
  package var objects: [EntityCount]
  package var consumers: [Consumer]
  package var moreConsumers: Int
  package var unfinishedErasures: [Unfinished]
  /// Nil for a store that keeps everything.
  package var maintenance: MaintenanceSummary?
  package var command: String
}

/// What maintenance would do now.
package struct MaintenanceSummary: Codable, Sendable {
  package struct Drop: Codable, Sendable {
    package var transactions: Int
    package var changes: Int
    package var floor: Int64
  }

  package var retention: String
  /// `off`, `nothingToDrop`, `blocked`, `littleGained` or `prunes`.
  package var outcome: String
  package var wantedFloor: Int64
  package var drop: Drop?
  /// The consumers that it waits for.
  package var blockers: [String]
}

/// A store at one moment.
package struct OverviewDocument: Codable, Sendable {
  package struct EntityEntry: Codable, Sendable, Hashable {
    package var name: String
    package var count: Int
    package var displayName: String?
    package var key: String?
    package var properties: Int
    /// The first of its texts, as conditions name them: those in which a word is looked for.
    package var texts: [String]
  }

  package struct Mark: Codable, Sendable {
    package var number: Int64
    package var timestamp: String
    package var us: Int64
  }

  package var file: String
  package var path: String
  package var size: Int64
  package var uuid: String
  package var base: Int64
  package var head: Int64
  package var moment: ShownMoment
  package var first: Mark?
  package var last: Mark?
  package var entities: [EntityEntry]
  package var zoneOffset: Int
  package var findings: [String]
  package var isLive: Bool
  package var program: String
  package var command: String
}

/// A place in history, and those beside it.
package struct MomentDocument: Codable, Sendable {
  package var moment: ShownMoment
  package var previous: Int64?
  package var next: Int64?
  package var command: String
}

/// How many transactions there are, over time or by number, by author.
package struct DensityDocument: Codable, Sendable {
  package struct Bucket: Codable, Sendable {
    package var from: Int64
    package var to: Int64
    package var first: Int64?
    package var last: Int64?
    package var count: Int
    package var authors: [Int]
  }

  package var by: String
  package var from: Int64
  package var to: Int64
  package var progress: Double
  package var total: Int64
  /// The last is nil for all others, if there are more.
  package var authors: [String?]
  /// The most active authors by name, at most 500.
  package var active: [String]
  package var buckets: [Bucket]
  package var command: String
}
