import AnnalsFormat
import AnnalsStorage

/// Searches for the next frame behind bytes that are not one. Tests frame headers at every multiple
/// of eight, and never a payload.
struct FrameSearch {
  /// Where the next frame is, or the end of the file.
  var end: UInt64
  /// From the first byte that is not zero to the last; nil if all are zeros.
  var foreign: Range<UInt64>?

  /// Searches from `start`, a multiple of eight where no frame begins. Reads the bytes once.
  static func run(
    from start: UInt64, seed: FrameSeed, in bytes: inout FileBytes
  ) throws(StorageError) -> FrameSearch {
    let headerLength = FormatLimits.frameHeaderLength
    let step = FileBytes.windowLength - headerLength
    var result = FrameSearch(end: start, foreign: nil)
    while result.end < bytes.size {
      let offset = result.end
      let isLast = bytes.size - offset <= UInt64(step + headerLength)
      let count = isLast ? Int(bytes.size - offset) : step
      // The window is a header longer than the offsets tested.
      let found = try bytes.withBytes(at: offset, count: count + headerLength) { window in
        let part = UnsafeRawBufferPointer(rebasing: window.prefix(count))
        let place = firstFrame(in: window, upTo: part.count, at: offset, seed: seed)
        result.note(UnsafeRawBufferPointer(rebasing: part.prefix(place ?? part.count)), at: offset)
        return (place: place, count: part.count)
      }
      if let place = found.place {
        result.end = offset + UInt64(place)
        return result
      }
      // The file was truncated meanwhile.
      if found.count == 0 { break }
      result.end = offset + UInt64(found.count)
    }
    result.end = bytes.size
    return result
  }

  private static func firstFrame(
    in window: UnsafeRawBufferPointer, upTo count: Int, at offset: UInt64, seed: FrameSeed
  ) -> Int? {
    let headerLength = FormatLimits.frameHeaderLength
    var place = 0
    while place < count, window.count - place >= headerLength {
      let header = UnsafeRawBufferPointer(rebasing: window[place..<place + headerLength])
      if isPlausible(header),
        (try? FrameHeader.decode(header, at: offset + UInt64(place), seed: seed)) != nil
      {
        return place
      }
      place += FormatLimits.frameAlignment
    }
    return nil
  }

  /// Whether the fields could be those of a frame header. Saves computing most checksums.
  static func isPlausible(_ header: UnsafeRawBufferPointer) -> Bool {
    guard header.count >= FormatLimits.frameHeaderLength else { return false }
    let word = UInt32(littleEndian: header.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
    let length = UInt32(littleEndian: header.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
    return word & 0xFF != 0 && word >> 16 == 0 && length <= UInt32(FormatLimits.maximumPayload)
  }

  /// Notes which of the bytes at `offset` are not zero.
  private mutating func note(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) {
    guard let first = bytes.firstNonzero else { return }
    let last = bytes.lastIndex { $0 != 0 } ?? first
    let start = foreign?.lowerBound ?? offset + UInt64(first)
    foreign = start..<offset + UInt64(last) + 1
  }
}
