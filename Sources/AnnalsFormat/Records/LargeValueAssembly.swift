import AnnalsModel

/// Assembles a large value from its pieces, in the order of their frames: each begins where the one
/// before it ends. Holds no bytes, only their checksum.
package struct LargeValueAssembly: Sendable {
  package let number: UInt64
  package let length: UInt64
  /// Whether the value's bytes were lost in a salvage.
  package let isLost: Bool
  /// The number of bytes in the pieces so far.
  package private(set) var done: UInt64
  /// The crc32 of these bytes.
  package private(set) var checksum: UInt32 = 0

  /// Begins the value that begins with a piece, which is still to be added.
  package init(_ first: LargeValuePiece) {
    number = first.number
    length = first.totalLength
    isLost = first.isLost
    done = first.isLost ? length : 0
  }

  /// Begins the value that a record refers to.
  package init(_ value: LargeValue) {
    number = value.number
    length = value.length
    isLost = false
    done = 0
  }

  /// Adds the next piece, whose bytes are made; returns false, and adds nothing, if it is not the
  /// next of this value.
  package mutating func add(_ piece: LargeValuePiece) -> Bool {
    guard piece.number == number, piece.totalLength == length, piece.start == done,
      piece.base == nil
    else { return false }
    checksum = piece.withBytes { Checksum.crc32($0, startingFrom: checksum) }
    done += UInt64(piece.count)
    return true
  }

  /// Whether no byte is missing.
  package var isWhole: Bool { done == length }
}
