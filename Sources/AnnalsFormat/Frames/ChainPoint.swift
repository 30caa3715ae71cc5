/// A place in the log between two frames, and the predecessor that the next frame must name.
package struct ChainPoint: Hashable, Sendable {
  /// Where the next frame begins.
  package var offset: UInt64
  /// The header checksum of the frame before; nil if it is not known and the next frame may name
  /// any.
  package var previousChecksum: UInt32?
  /// Where the frame before begins; 0 if there is none.
  package var previousOffset: UInt64

  package init(offset: UInt64, previousChecksum: UInt32?, previousOffset: UInt64 = 0) {
    self.offset = offset
    self.previousChecksum = previousChecksum
    self.previousOffset = previousOffset
  }

  /// The beginning of a file's log.
  package init(beginningOf header: FileHeader) {
    self.init(offset: FormatLimits.logStart, previousChecksum: header.checksum)
  }
}
