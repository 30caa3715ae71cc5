import AnnalsFormat
import AnnalsStorage

/// Searches for the next frame behind bytes that are not one. Tests frame headers at every multiple
/// of eight, and never a payload.
package struct FrameSearch {
  /// Where the next frame is, or the end of the file.
  package private(set) var end: UInt64
  /// The header of that frame; nil at the end of the file.
  package private(set) var header: FrameHeader?
  /// From the first byte before it that is not zero to the last; nil if all are zeros.
  package private(set) var foreign: Range<UInt64>?

  /// Searches from `start` on, a multiple of eight. Reads the bytes once.
  package init(
    from start: UInt64, seed: FrameSeed, in bytes: inout FileWindow
  ) throws(StorageError) {
    end = start
    while end < bytes.size {
      let offset = end
      try bytes.load(offset, count: FormatLimits.frameHeaderLength)
      let passed = bytes.withLoaded(from: offset) { search($0, at: offset, bytes.size, seed) }
      if header != nil { return }
      // The file was truncated meanwhile.
      if passed == 0 { break }
      end = offset + UInt64(passed)
    }
    end = bytes.size
  }

  /// Searches the bytes loaded from `offset` on. Returns how many of them are done with: all at the
  /// end of the file, otherwise those where no header can begin that is not loaded whole.
  private mutating func search(
    _ loaded: UnsafeRawBufferPointer, at offset: UInt64, _ size: UInt64, _ seed: FrameSeed
  ) -> Int {
    let headerLength = FormatLimits.frameHeaderLength
    let alignment = FormatLimits.frameAlignment
    var done = loaded.count
    if loaded.count >= headerLength, offset + UInt64(loaded.count) < size {
      done = (loaded.count - headerLength) / alignment * alignment + alignment
    }
    // In zeros no header begins, since none has a kind of 0.
    let part = UnsafeRawBufferPointer(rebasing: loaded.prefix(done))
    guard let first = part.firstNonzero else { return done }
    var place = first / alignment * alignment
    while place < done, loaded.count - place >= headerLength {
      let head = UnsafeRawBufferPointer(rebasing: loaded[place..<place + headerLength])
      if FrameSearch.isPlausible(head),
        let header = try? FrameHeader.decode(head, at: offset + UInt64(place), seed: seed)
      {
        self.header = header
        end = offset + UInt64(place)
        note(UnsafeRawBufferPointer(rebasing: part.prefix(place)), at: offset)
        return place
      }
      place += alignment
    }
    note(part, at: offset)
    return done
  }

  /// Whether the fields could be those of a frame header. Saves computing most checksums.
  package static func isPlausible(_ header: UnsafeRawBufferPointer) -> Bool {
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
