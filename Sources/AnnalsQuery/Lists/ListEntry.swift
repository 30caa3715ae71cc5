import AnnalsState

/// One row of a sorted list, in sixteen bytes.
@frozen @usableFromInline
package struct ListEntry: Hashable, Sendable {
  /// The primary order; see `RowOrder`.
  package var word: UInt64
  /// The row in the lower 48 bits, the role in eight, and whether it begins a section.
  private var bits: UInt64

  private static let rowMask: UInt64 = 1 << 48 - 1
  private static let beginning: UInt64 = 1 << 63

  /// An entry for a row. `role` tells several entries of one object apart.
  package init(word: UInt64, row: Int64, role: UInt8 = 0) {
    self.word = word
    bits = UInt64(row) & ListEntry.rowMask | UInt64(role) << 48
  }

  /// The object's row.
  package var row: Int64 { Int64(bits & ListEntry.rowMask) }

  /// Which of the object's entries this is.
  package var role: UInt8 { UInt8(truncatingIfNeeded: bits >> 48) }

  /// Whether a section begins here. Not a part of the entry's identity.
  package var beginsSection: Bool {
    get { bits & ListEntry.beginning != 0 }
    set { bits = bits & ~ListEntry.beginning | (newValue ? ListEntry.beginning : 0) }
  }

  /// Whether both stand for the same row in the same role.
  package func isSame(as other: ListEntry) -> Bool {
    (bits ^ other.bits) & ~ListEntry.beginning == 0
  }
}

/// The order of a list's entries.
package protocol ListOrder {
  /// Whether an entry comes before another.
  func precedes(_ a: ListEntry, _ b: ListEntry) throws(ConditionFault) -> Bool
}
