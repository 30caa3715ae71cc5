/// The stamp of an unfinished file, in the place of its header: identifies a file that a dead
/// creator left.
///
/// FORMAT.md, "Unfinished files". It is written and synced before anything else; the header takes
/// its place last. So a power cut leaves a file that is stamped, or as long as the stamp and torn,
/// or whole.
package enum UnfinishedStamp {
  private static let line = Array("Annals: this file is unfinished\n".utf8)
  private static let sectorLength = 512

  /// The 4096 bytes of the stamp: one line of text, again and again.
  package static var block: ContiguousArray<UInt8> {
    var block: ContiguousArray<UInt8> = []
    block.reserveCapacity(FormatLimits.blockLength)
    while block.count < FormatLimits.blockLength { block.append(contentsOf: line) }
    return block
  }

  /// Whether a file of `size` bytes that begins with these, at most 4096, is empty, stamped, or
  /// holds what a power cut leaves of the writing of the stamp, or of the header over it: at least
  /// one whole sector of it, a part of its first, or, up to the stamp's length, zeros alone.
  package static func marks(_ start: UnsafeRawBufferPointer, size: UInt64) -> Bool {
    let block = UnsafeRawBufferPointer(rebasing: start.prefix(FormatLimits.blockLength))
    if size <= UInt64(FormatLimits.blockLength), block.isZero { return true }
    if size < UInt64(sectorLength) { return isStamp(block) }
    return stride(from: 0, through: block.count - sectorLength, by: sectorLength).contains {
      isStamp(UnsafeRawBufferPointer(rebasing: block[$0..<$0 + sectorLength]))
    }
  }

  private static func isStamp(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.indices.allSatisfy { bytes[$0] == line[$0 % line.count] }
  }
}
