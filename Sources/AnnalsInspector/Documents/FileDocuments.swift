/// What the bytes of a file are used for.
package struct SpaceDocument: Codable, Sendable {
  package struct Use: Codable, Sendable {
    package var use: String
    package var bytes: UInt64
  }

  package struct Share: Codable, Sendable {
    package var entity: String
    package var property: String?
    package var bytes: UInt64
    package var history: UInt64
    package var state: UInt64
    package var large: UInt64
    package var changes: Int64
  }

  package struct Author: Codable, Sendable {
    package var author: String?
    package var bytes: UInt64
    package var transactions: Int64
  }

  package struct Month: Codable, Sendable {
    package var month: String
    package var bytes: UInt64
    package var transactions: Int64
  }

  /// What is in the file, in numbers.
  package struct Contents: Codable, Sendable {
    package struct Author: Codable, Sendable {
      package var author: String?
      package var transactions: Int64
    }

    package struct Feature: Codable, Sendable {
      package var place: String
      package var text: String
    }

    package var transactions: Int64
    package var emptyTransactions: Int64
    package var inserts: Int64
    package var updates: Int64
    package var deletes: Int64
    package var earliestUs: Int64?
    package var latestUs: Int64?
    /// How often a writer's clock jumped back.
    package var clockJumps: Int64
    /// How many transactions are dated earlier than the one before.
    package var datedBack: Int64
    package var openings: Int
    /// Those of the most transactions first.
    package var authors: [Author]
    package var authorCount: Int
    package var features: [Feature]
  }

  package var size: UInt64
  package var progress: Double
  package var contents: Contents?
  package var uses: [Use]
  package var properties: [Share]
  /// How many properties are left out, and their bytes.
  package var moreProperties = 0
  package var moreBytes: UInt64 = 0
  package var authors: [Author]
  package var months: [Month]
  package var isSound: Bool
  package var command: String
}

/// What a verification found.
package struct FindingsDocument: Codable, Sendable {
  package struct Entry: Codable, Sendable {
    package var severity: String
    package var subject: String?
    package var offset: UInt64?
    package var message: String
    /// The command that does what the finding recommends.
    package var remedy: String?
  }

  package var findings: [Entry]
  package var errors: Int
  package var warnings: Int
  package var isSound: Bool
  /// `bytes`, `history` or `done`.
  package var stage: String
  package var progress: Double
  package var more: Int
  package var size: UInt64?
  /// How many transactions there are; nil unless the history was replayed.
  package var transactions: Int64?
  package var command: String
}

/// A page of a file's regions.
package struct FramesDocument: Codable, Sendable {
  package struct Region: Codable, Sendable {
    package var offset: UInt64
    package var length: UInt64
    package var kind: String
    package var flags: String?
    package var checksum: String?
    package var chain: String?
    package var isOk: Bool
    package var summary: String?
  }

  package var size: UInt64
  package var regions: [Region]
  package var next: UInt64?
  package var end: UInt64?
  package var damage: String?
  package var isStore: Bool
  package var command: String
}

/// A file to scale, in a bounded number of pieces.
package struct StripDocument: Codable, Sendable {
  package struct Piece: Codable, Sendable {
    package var offset: UInt64
    package var length: UInt64
    package var kind: String
    package var count: Int
    package var isOk: Bool
    package var kinds: [String: UInt64]?
  }

  package var size: UInt64
  package var progress: Double
  package var from: UInt64
  package var to: UInt64
  package var pieces: [Piece]
  package var command: String
}

/// The bytes of one region, with their fields.
package struct BytesDocument: Codable, Sendable {
  package struct Detail: Codable, Sendable {
    package var name: String
    package var value: String
  }

  package struct Field: Codable, Sendable {
    package var offset: UInt64
    package var length: UInt64
    package var depth: Int
    package var name: String
    package var value: String
  }

  package var offset: UInt64
  package var length: UInt64
  package var kind: String
  package var flags: String?
  package var isOk: Bool
  package var checksum: String?
  package var chain: String?
  package var durableMark: UInt64?
  package var details: [Detail]
  package var skip: UInt64
  package var bytes: String
  package var fields: [Field]
  package var moreFields: Int
  package var previous: UInt64?
  package var next: UInt64?
  package var command: String
}
