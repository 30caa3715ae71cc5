import AnnalsState

/// One row of a sorted list, in sixteen bytes.
@frozen @usableFromInline
package struct ListEntry: Hashable, Sendable {
  /// The primary order; see `RowOrder`.
  package var word: UInt64
  /// From the highest bit: whether it begins a section, the rank in 2 bits, the row in 48, the part
  /// in the lowest 8.
  private var bits: UInt64

  private static let rowMask: UInt64 = 1 << 48 - 1
  private static let beginning: UInt64 = 1 << 63

  /// An entry for a row. Of entries with the same word the rank, less than 4, counts more than the
  /// row; `part` tells several entries of one row apart.
  package init(word: UInt64, row: Int64, rank: UInt8 = 0, part: UInt8 = 0) {
    self.word = word
    bits = UInt64(rank) << 61 | (UInt64(row) & ListEntry.rowMask) << 13 | UInt64(part)
  }

  /// The object's row; in a timeline that is made of columns, its place among them.
  package var row: Int64 { Int64(bits >> 13 & ListEntry.rowMask) }

  /// What orders it among entries with the same word before their rows do.
  package var rank: UInt8 { UInt8(bits >> 61 & 3) }

  /// Which of the row's entries this is.
  package var part: UInt8 { UInt8(truncatingIfNeeded: bits) }

  /// Whether a section begins here. Not a part of the entry's identity.
  package var beginsSection: Bool {
    get { bits & ListEntry.beginning != 0 }
    set { bits = bits & ~ListEntry.beginning | (newValue ? ListEntry.beginning : 0) }
  }

  /// What orders entries with the same word: rank, row and part.
  @inline(__always)
  var tie: UInt64 { bits & ~ListEntry.beginning }

  /// Whether both stand for the same row in the same part.
  package func isSame(as other: ListEntry) -> Bool { tie == other.tie }

  /// Whether it comes before another by word and tie; ties may fall.
  @inline(__always)
  func isBefore(_ other: ListEntry, areTiesDescending: Bool = false) -> Bool {
    if word != other.word { return word < other.word }
    return areTiesDescending ? other.tie < tie : tie < other.tie
  }
}

/// The order of a list's entries.
package protocol ListOrder {
  /// Whether an entry comes before another.
  func precedes(_ a: ListEntry, _ b: ListEntry) throws(StateFault) -> Bool
}
