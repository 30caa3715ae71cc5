import AnnalsFormat
import AnnalsModel

/// Checks the large values of a file: their pieces, and the references to them.
package struct LargeValueChecks {
  /// A large value whose pieces are all there.
  struct WholeLargeValue {
    var offset, length: UInt64
    var checksum: UInt32
    var isUTF8 = true
  }

  private(set) var largeValues: [UInt64: WholeLargeValue] = [:]
  private var unfinished: (value: LargeValueAssembly, offset: UInt64)?
  /// Whether the pieces of the unfinished value so far are UTF-8.
  private var text = TextCheck()
  /// The texts that were reported as not UTF-8.
  private var malformed: Set<UInt64> = []
  /// The values whose bytes were lost in a salvage.
  private var lost: Set<UInt64> = []
  /// Missing values that were reported, so that each is reported once.
  private var missing: Set<UInt64> = []
  private(set) var greatestNumber: UInt64 = 0

  /// Checks the next piece in the log.
  mutating func check(
    _ piece: LargeValuePiece, isContinued: Bool, at offset: UInt64, _ log: inout FindingLog
  ) {
    greatestNumber = max(greatestNumber, piece.number)
    if unfinished != nil, piece.isFirst { reportUnfinished(at: offset, &log) }
    if piece.isLost, !isContinued {
      log.note(
        .largeValue, at: offset,
        "the \(piece.totalLength) bytes of large value \(piece.number) were lost before the store "
          + "was salvaged")
      lost.insert(piece.number)
      largeValues[piece.number] = WholeLargeValue(
        offset: offset, length: piece.totalLength, checksum: 0)
      return
    }
    if piece.start == 0 {
      unfinished = (LargeValueAssembly(piece), offset)
      text = TextCheck()
    }
    guard var assembly = unfinished, assembly.value.add(piece) else {
      unfinished = nil
      log.error(
        .largeValue, at: offset,
        "a piece of large value \(piece.number) without the pieces before it")
      return
    }
    piece.withBytes { text.add($0) }
    unfinished = isContinued ? assembly : nil
    if isContinued { return }
    let (value, start) = assembly
    guard value.isWhole else {
      log.error(
        .largeValue, at: offset,
        "large value \(value.number) ends after \(value.done) of \(value.length) bytes")
      return
    }
    if largeValues[value.number] != nil {
      log.error(.largeValue, at: start, "large value \(value.number) a second time")
    }
    largeValues[value.number] = WholeLargeValue(
      offset: start, length: value.length, checksum: value.checksum, isUTF8: text.isWhole)
  }

  /// Reports a value whose last piece is missing: another frame follows, or the log ends.
  mutating func reportUnfinished(at offset: UInt64, _ log: inout FindingLog) {
    guard let (value, start) = unfinished else { return }
    unfinished = nil
    log.error(
      .largeValue, at: start,
      "large value \(value.number) breaks off after \(value.done) of \(value.length) bytes")
  }

  /// How a reference contradicts a large value of this length and checksum; nil if it does not.
  /// `checksum` is nil if the value's bytes are lost.
  package static func contradiction(
    to value: LargeValue, length: UInt64, checksum: UInt32?
  ) -> String? {
    if length == value.length, checksum ?? value.checksum == value.checksum { return nil }
    return "a reference to large value \(value.number) of \(value.length) bytes with crc32 "
      + "\(Hex.text(value.checksum)); it has \(length) and \(Hex.text(checksum ?? 0))"
  }

  /// The finding about a reference to a large value that is not there.
  package static func missing(_ value: LargeValue) -> String {
    "a reference to large value \(value.number), which is not there"
  }

  /// Checks a reference to a large value from the frame at `offset`.
  mutating func checkReference(to value: LargeValue, from offset: UInt64, _ log: inout FindingLog) {
    guard let found = largeValues[value.number] else {
      if missing.insert(value.number).inserted {
        log.error(.largeValue, at: offset, LargeValueChecks.missing(value))
      }
      return
    }
    let isLost = lost.contains(value.number)
    let contradiction = LargeValueChecks.contradiction(
      to: value, length: found.length, checksum: isLost ? nil : found.checksum)
    if let contradiction { log.error(.largeValue, at: offset, contradiction) }
    if value.tag.isText, !found.isUTF8, malformed.insert(value.number).inserted {
      log.warning(
        .largeValue, at: found.offset,
        "large value \(value.number) is a text that is not UTF-8", remedy: Remedy.malformedText)
    }
  }

  /// Checks an entry of a checkpoint's table.
  func check(_ entry: LargeValueEntry, in directory: UInt64, _ log: inout FindingLog) {
    guard let found = largeValues[entry.number] else {
      log.error(
        .largeValue, at: directory,
        "the checkpoint lists large value \(entry.number), which is not there")
      return
    }
    if found.offset != entry.offset || found.length != entry.length {
      log.error(
        .largeValue, at: directory,
        "the checkpoint lists large value \(entry.number) at \(entry.offset) with "
          + "\(entry.length) bytes; it is at \(found.offset) with \(found.length)")
    }
  }
}

/// Whether bytes that come in pieces are UTF-8.
private struct TextCheck {
  private var isRight = true
  /// The beginning of a character that the next piece completes.
  private var rest: ContiguousArray<UInt8> = []

  /// Whether all bytes are UTF-8, and end with a character.
  var isWhole: Bool { isRight && rest.isEmpty }

  mutating func add(_ piece: UnsafeRawBufferPointer) {
    guard isRight else { return }
    guard rest.isEmpty else {
      let whole = rest + piece
      rest = []
      return whole.withUnsafeBytes { add($0) }
    }
    let end = piece.count - HiddenCharacters.incompleteEnd(of: piece)
    isRight = HiddenCharacters.isUTF8(UnsafeRawBufferPointer(rebasing: piece[..<end]))
    rest = ContiguousArray(piece[end...])
  }
}
