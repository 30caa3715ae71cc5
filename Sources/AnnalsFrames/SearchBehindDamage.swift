import AnnalsFormat
import AnnalsStorage

/// Searches after a spot where the log breaks for proof that the bytes there were once synced: a
/// valid frame whose durable mark lies beyond the spot.
///
/// Tries frame headers at every multiple of 8. Checks the payload of a header that fits before it
/// counts, and does not search checked bytes again. A crafted file could let many headers claim the
/// same bytes: once as many payload bytes were checked as follow the spot, headers count without
/// their payload, which errs on the side of damage. So the search reads each byte at most three
/// times. Memory: one window and one payload.
struct SearchBehindDamage {
  /// Whether any byte from the spot on is nonzero.
  private(set) var sawBytes = false
  /// Whether a valid frame after the spot carries a mark beyond it.
  private(set) var foundMarkBeyond = false

  /// Searches from `badSpot`, where a frame might begin, to the end of the file, and stops early at
  /// the first such mark.
  init(in walk: FrameWalk, from badSpot: UInt64) throws(StorageError) {
    var walk = walk
    let size = walk.bytes.size
    var offset = badSpot
    var budget = size > badSpot ? size - badSpot : 0
    while offset < size {
      let search = try FrameSearch(from: offset, seed: walk.seed, in: &walk.bytes)
      if search.foreign != nil { sawBytes = true }
      guard let header = search.header else { return }
      sawBytes = true
      let frame = WalkedFrame(offset: search.end, header: header)
      offset = frame.offset + UInt64(FormatLimits.frameAlignment)
      guard header.frameLength <= size - frame.offset else { continue }
      if UInt64(header.payloadLength) <= budget {
        budget -= UInt64(header.payloadLength)
        guard try walk.payloadIsValid(frame) else { continue }
      }
      if let mark = header.durableMark(at: frame.offset), mark > badSpot {
        foundMarkBeyond = true
        return
      }
      offset = frame.end
    }
  }
}
