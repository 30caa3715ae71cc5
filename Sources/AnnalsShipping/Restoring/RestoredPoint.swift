import Annals
import AnnalsEngine
import AnnalsModel

/// A moment to restore, as it was found in what a folder has.
package struct RestoredPoint: Sendable {
  /// Whether more of the history could make it another transaction.
  package enum Kind: Sendable {
    /// A number or a token: no.
    case exact
    /// A date: only if it is the last transaction that is there.
    case date
    /// Counted from the newest transaction: yes.
    case fromEnd
  }

  package var number: Int64
  package var kind: Kind

  package init(_ number: Int64, _ kind: Kind) {
    self.number = number
    self.kind = kind
  }

  /// The point of a position in the history of a store. Throws as `Store.snapshot(at:)`.
  package init(_ position: any HistoryPosition, in store: Store) throws(AnnalsError) {
    let place = position.historyPlace
    kind = try place.moment == nil ? .exact : .date
    number = try store.number(at: place, in: store.version)
  }

  /// Whether it is this transaction though not all of the history up to `head` and after is there.
  func isCertain(before head: Int64) -> Bool {
    switch kind {
    case .exact: true
    case .date: number < head
    case .fromEnd: false
    }
  }
}

/// What a restore made.
public struct RestoreReport: Sendable {
  /// The last transaction of the restored store.
  public internal(set) var number: Int64
  /// Its timestamp, in microseconds since 1970.
  package var timestamp: Timestamp
  /// The last transaction that the folder has.
  public internal(set) var newest: Int64
  /// The number of the base that it was made from.
  public internal(set) var base: UInt64
  /// How many segments were read.
  public internal(set) var segments: Int
  /// How many bytes the restored file has.
  public internal(set) var bytes: UInt64
  /// Whether the file was written anew, since the moment lay within a sealed block of the base.
  /// Then it is of generation 1, and has no consumers.
  public internal(set) var isRewritten = false
  /// What of the folder could not be read: files that are missing or damaged after the moment, or
  /// in newer bases.
  public internal(set) var problems: [String] = []
}
