import AnnalsFormat
import AnnalsModel

/// Searches after a spot where the log breaks for proof that the bytes there were once synced: a
/// valid frame whose durable mark lies beyond the spot.
///
/// Tries frame headers at every multiple of 8. Checks the payload of a header that fits before it
/// counts, and does not search checked bytes again. A crafted file could let many headers claim the
/// same bytes: once as many payload bytes were checked as follow the spot, headers count without
/// their payload, which errs on the side of damage. So the search reads each byte at most three
/// times. Memory: one window and one payload.
struct SearchBehindDamage {
  private let generation: LogGeneration
  private let badSpot: UInt64
  private let end: UInt64
  private var budget: UInt64
  /// Whether any byte from the spot on is nonzero.
  private(set) var sawBytes = false
  /// Whether a valid frame after the spot carries a mark beyond it.
  private(set) var foundMarkBeyond = false

  private static let windowLength = 256 << 10

  init(_ generation: LogGeneration, badSpot: UInt64, end: UInt64) {
    self.generation = generation
    self.badSpot = badSpot
    self.end = end
    budget = end > badSpot ? end - badSpot : 0
  }

  /// Runs the search, and stops early at the first such mark; the results are in the properties.
  mutating func run() throws(LogError) {
    let alignment = UInt64(FormatLimits.frameAlignment)
    var offset = (badSpot + alignment - 1) / alignment * alignment
    if offset > badSpot { try noteBytes(from: badSpot, to: min(offset, end)) }
    while offset < end, !foundMarkBeyond {
      let window = try generation.read(
        Int(min(end - offset, UInt64(SearchBehindDamage.windowLength))), at: offset)
      guard !window.isEmpty else { return }
      if window.withUnsafeBytes({ $0.isZero }) {
        offset += UInt64(window.count)
        continue
      }
      // Windows overlap so that no header is cut in two.
      offset = try search(window, at: offset)
    }
  }

  private mutating func noteBytes(from start: UInt64, to end: UInt64) throws(LogError) {
    guard end > start else { return }
    let bytes = try generation.read(Int(end - start), at: start)
    if bytes.contains(where: { $0 != 0 }) { sawBytes = true }
  }

  /// Searches one window; returns where to go on.
  private mutating func search(
    _ window: ContiguousArray<UInt8>, at start: UInt64
  ) throws(LogError) -> UInt64 {
    var position = 0
    while let candidate = nextCandidate(in: window, from: &position, at: start) {
      let offset = start + UInt64(candidate.position)
      guard let length = try count(candidate.header, at: offset) else { continue }
      if foundMarkBeyond { return end }
      // A valid frame: go on after it, in this window or a later one.
      let next = candidate.position + Int(length)
      if next >= window.count { return offset + length }
      position = next
    }
    let isLast = start + UInt64(window.count) >= end
    let overlap = FormatLimits.frameHeaderLength - FormatLimits.frameAlignment
    return isLast || window.count <= overlap
      ? end : start + UInt64((window.count - overlap) / 8 * 8)
  }

  /// The next place in the window, from `position` on, where a frame header fits. Advances
  /// `position` past it.
  private mutating func nextCandidate(
    in window: ContiguousArray<UInt8>, from position: inout Int, at start: UInt64
  ) -> (position: Int, header: FrameHeader)? {
    let headerLength = FormatLimits.frameHeaderLength
    return window.withUnsafeBytes { bytes in
      while position < bytes.count {
        defer { position += FormatLimits.frameAlignment }
        guard bytes.count - position >= 8 else {
          if bytes[position...].contains(where: { $0 != 0 }) { sawBytes = true }
          continue
        }
        // The first eight bytes hold the kind (never zero), flags, and two reserved bytes (always
        // zero): most places are ruled out without a checksum.
        let first = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self).littleEndian
        if first == 0 { continue }
        sawBytes = true
        guard bytes.count - position >= headerLength, first >> 48 == 0, first >> 32 & 0xFF != 0
        else { continue }
        let head = UnsafeRawBufferPointer(rebasing: bytes[position..<position + headerLength])
        let offset = start + UInt64(position)
        guard
          let header = try? FrameHeader.decode(head, at: offset, seed: generation.seed)
        else { continue }
        return (position, header)
      }
      return nil
    }
  }

  /// Counts a header that fits. Returns the frame's length if its payload fits as well.
  private mutating func count(
    _ header: FrameHeader, at offset: UInt64
  ) throws(LogError) -> UInt64? {
    guard header.frameLength <= end - offset else { return nil }
    if UInt64(header.payloadLength) <= budget {
      budget -= UInt64(header.payloadLength)
      var walk = FrameWalk(
        generation, from: ChainPoint(offset: offset, previousChecksum: nil), limit: end)
      let frame = WalkedFrame(offset: offset, header: header)
      guard try walk.payloadIsValid(frame) else { return nil }
    }
    if let mark = header.durableMark(at: offset), mark > badSpot { foundMarkBeyond = true }
    return header.frameLength
  }
}
