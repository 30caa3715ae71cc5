import Annals

/// How far an import or export is.
public struct ExchangeProgress: Hashable, Sendable {
  /// How many transactions, or objects of a snapshot, were read in or written so far.
  public let count: Int64
  /// The share of the work that is done, from 0 to 1; nil where the size of the input is not known.
  public let fraction: Double?
}

/// What an export wrote.
public struct ExportSummary: Hashable, Sendable {
  /// How many transactions, or objects of a snapshot.
  public let count: Int64
  /// The position that the export reaches to: where the next one may begin.
  public let token: Token
}

/// What an import read in.
public struct ImportSummary: Hashable, Sendable {
  /// How many transactions.
  public let count: Int64
  /// The position after the last of them.
  public let token: Token
}
