import AnnalsModel

/// Makes the bytes of a large value that has a base, which may have one, too.
///
/// FORMAT.md, "Large values".
package struct LargeValueChain {
  /// The most values of which each but the first is based on the one before it.
  package static let maximumCount = 32
  /// The most bytes that they have together: making one value takes no more.
  package static let maximumLength: UInt64 = 4 << 20

  /// The pieces from the value's own to one without a base.
  private var pieces: [LargeValuePiece]

  /// The chain that ends with this piece. Valid as long as the payload that the piece was decoded
  /// from.
  package init(_ piece: LargeValuePiece) { pieces = [piece] }

  /// The number of the base that is still to be added; nil if none is.
  package var missing: UInt64? { pieces.last?.base }

  /// Adds the missing base, the payload of whose first frame this is. Throws if it cannot be read,
  /// or cannot be a base.
  package mutating func add(_ payload: UnsafeRawBufferPointer) throws(DecodeFault) {
    let piece = try LargeValueCodec.decode(payload).owned()
    guard piece.number == missing, piece.base != nil || piece.isWhole else {
      throw .invalid(at: 0, reason: "a base that is not one whole value")
    }
    pieces.append(piece)
    guard pieces.count <= LargeValueChain.maximumCount,
      pieces.reduce(0, { $0 + $1.totalLength }) <= LargeValueChain.maximumLength
    else { throw .invalid(at: 0, reason: "more bases of bases than there can be") }
  }

  /// The value's piece with its bytes; nothing is missing. Memory: two values, and the steps. O(the
  /// bytes of all).
  package func made() throws(DecodeFault) -> LargeValuePiece {
    guard let first = pieces.last, pieces.count > 1 else { return pieces[0] }
    var bytes = first.withBytes { ContiguousArray($0) }
    for piece in pieces.dropLast().reversed() {
      let base = bytes
      bytes = try base.withBytes { base throws(DecodeFault) in
        try piece.withBytes { steps throws(DecodeFault) in
          try LargeValueDifference.apply(steps, to: base, length: Int(piece.totalLength))
        }
      }
    }
    return pieces[0].made(bytes)
  }
}
