import AnnalsFormat
import AnnalsModel

/// A position in the history: just after a transaction.
package struct LogPosition: Hashable, Sendable {
  /// The transaction's number; the base's number if no transaction follows it.
  package var number: Int64
  /// Its timestamp.
  package var timestamp: Timestamp
  /// The greatest timestamp up to it.
  package var maximumTimestamp: Timestamp
  /// The id of the opening that wrote it; 0 for none.
  package var openingID: UInt64

  package init(
    number: Int64, timestamp: Timestamp, maximumTimestamp: Timestamp, openingID: UInt64
  ) {
    self.number = number
    self.timestamp = timestamp
    self.maximumTimestamp = maximumTimestamp
    self.openingID = openingID
  }

  init(_ directory: CheckpointDirectory) {
    self.init(
      number: directory.number, timestamp: directory.timestamp,
      maximumTimestamp: directory.maximumTimestamp, openingID: directory.openingID)
  }
}

/// What a log knows as of its base, apart from the schema and the large values.
package struct LogBase: Sendable {
  package var position: LogPosition
  package var names: [String] = []
  package var openings: [Opening] = []
  package var nextLargeValueNumber: UInt64 = 1
  package var clockJumps: Int64 = 0
  package var gaps: [LostTransactions] = []
  package var migrations: [MigrationRecord] = []
  package var extensions: ContiguousArray<UInt8> = []

  package init(position: LogPosition) { self.position = position }

  /// What a directory says, whose tables have these names and openings.
  package init(_ directory: CheckpointDirectory, names: [String], openings: [Opening]) {
    position = LogPosition(directory)
    self.names = names
    self.openings = openings
    nextLargeValueNumber = directory.nextLargeValueNumber
    clockJumps = directory.clockJumps
    gaps = directory.gaps
    migrations = directory.migrations
    extensions = directory.extensions
  }
}
