import Annals

/// The progress of an import or export.
public struct ExchangeProgress: Hashable, Sendable {
  /// The number of transactions, or objects of a snapshot, imported or exported so far.
  public let count: Int64
  /// The fraction of the work done, from 0 to 1; nil if the size of the input is unknown.
  public let fraction: Double?
}

/// The result of an export.
public struct ExportSummary: Hashable, Sendable {
  /// The number of transactions, or objects of a snapshot, written.
  public let count: Int64
  /// The position after the last transaction written, after which the next export may begin.
  public let token: Token
}

/// The result of an import.
public struct ImportSummary: Hashable, Sendable {
  /// The number of transactions imported.
  public let count: Int64
  /// The position after the last of them.
  public let token: Token
  /// What the caller may not expect, a sentence each: what lines with a schema added to the schema
  /// of the store, what they removed that stays here, and values that look like a date or a UUID
  /// and are none. Empty for most imports.
  public let notes: [String]
}
