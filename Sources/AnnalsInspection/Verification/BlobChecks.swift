import AnnalsFormat
import AnnalsModel

/// Follows the large values through a file: their pieces, and who refers to them.
package struct BlobChecks {
  /// A large value that was found whole.
  struct Blob {
    var offset, length: UInt64
    var checksum: UInt32
  }

  private struct Unfinished {
    var number, offset, length, done: UInt64
    var checksum: UInt32 = 0
  }

  private(set) var blobs: [UInt64: Blob] = [:]
  private var unfinished: Unfinished?
  /// The values whose bytes were lost in a salvage.
  private var lost: Set<UInt64> = []
  /// What was referred to in vain, so that it is told once.
  private var missing: Set<UInt64> = []
  private(set) var greatestNumber: UInt64 = 0

  /// Takes the next frame of the log that is a blob.
  mutating func take(
    _ part: BlobPart, isContinued: Bool, at offset: UInt64, _ log: inout FindingLog
  ) {
    greatestNumber = max(greatestNumber, part.number)
    if unfinished != nil, part.isFirst { interrupt(at: offset, &log) }
    if part.isLost, !isContinued {
      log.note(
        .blob, at: offset,
        "the \(part.totalLength) bytes of large value \(part.number) were lost before the store "
          + "was salvaged")
      lost.insert(part.number)
      blobs[part.number] = Blob(offset: offset, length: part.totalLength, checksum: 0)
      return
    }
    if part.start == 0 {
      unfinished = Unfinished(
        number: part.number, offset: offset, length: part.totalLength, done: 0)
    }
    guard var blob = unfinished, blob.number == part.number, blob.length == part.totalLength,
      blob.done == part.start
    else {
      unfinished = nil
      log.error(
        .blob, at: offset, "a piece of large value \(part.number) without the pieces before it")
      return
    }
    blob.checksum = Checksum.crc32(part.bytes, startingFrom: blob.checksum)
    blob.done += UInt64(part.bytes.count)
    unfinished = isContinued ? blob : nil
    if isContinued { return }
    guard blob.done == blob.length else {
      log.error(
        .blob, at: offset,
        "large value \(blob.number) ends after \(blob.done) of \(blob.length) bytes")
      return
    }
    if blobs[blob.number] != nil {
      log.error(.blob, at: blob.offset, "large value \(blob.number) a second time")
    }
    blobs[blob.number] = Blob(offset: blob.offset, length: blob.length, checksum: blob.checksum)
  }

  /// Takes note that something else than a blob comes, or the end of the log.
  mutating func interrupt(at offset: UInt64, _ log: inout FindingLog) {
    guard let blob = unfinished else { return }
    unfinished = nil
    log.error(
      .blob, at: blob.offset,
      "large value \(blob.number) breaks off after \(blob.done) of \(blob.length) bytes")
  }

  /// What is wrong with a reference to a large value that has this length and checksum, nil if its
  /// bytes are lost; nil if nothing is.
  package static func contradiction(
    to value: LargeValue, length: UInt64, checksum: UInt32?
  ) -> String? {
    if length == value.length, checksum ?? value.checksum == value.checksum { return nil }
    return "a reference to large value \(value.number) of \(value.length) bytes with crc32 "
      + "\(Hex.text(value.checksum)); it has \(length) and \(Hex.text(checksum ?? 0))"
  }

  /// Says that a reference names a large value that is not there.
  package static func missing(_ value: LargeValue) -> String {
    "a reference to large value \(value.number), which is not there"
  }

  /// Checks a reference to a large value from the frame at `offset`.
  mutating func refer(to value: LargeValue, from offset: UInt64, _ log: inout FindingLog) {
    guard let blob = blobs[value.number] else {
      if missing.insert(value.number).inserted {
        log.error(.blob, at: offset, BlobChecks.missing(value))
      }
      return
    }
    let isLost = lost.contains(value.number)
    let contradiction = BlobChecks.contradiction(
      to: value, length: blob.length, checksum: isLost ? nil : blob.checksum)
    if let contradiction { log.error(.blob, at: offset, contradiction) }
  }

  /// Checks an entry of a checkpoint's table.
  func check(_ entry: BlobEntry, in directory: UInt64, _ log: inout FindingLog) {
    guard let blob = blobs[entry.number] else {
      log.error(
        .blob, at: directory,
        "the checkpoint lists large value \(entry.number), which is not there")
      return
    }
    if blob.offset != entry.offset || blob.length != entry.length {
      log.error(
        .blob, at: directory,
        "the checkpoint lists large value \(entry.number) at \(entry.offset) with "
          + "\(entry.length) bytes; it is at \(blob.offset) with \(blob.length)")
    }
  }
}
