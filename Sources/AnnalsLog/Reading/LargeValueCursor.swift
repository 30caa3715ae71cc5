import AnnalsFormat
import AnnalsFrames
import AnnalsModel

/// Reads the pieces of one large value, in order, from its beginning or from any byte.
///
/// Every piece is checked before it is handed out; the whole value after its last piece, if none
/// was passed over. Keeps the file open. Memory: one piece, at most 1 MiB, as it is stored and, if
/// it is deflated, inflated; two values of at most 4 MiB for one that is made from another.
package struct LargeValueCursor: Sendable {
  /// The value.
  package let value: LargeValue
  private let file: LogGeneration
  private let tables: LogTables
  /// The frame of the first piece.
  private let first: UInt64
  private var next: Place
  /// Where to go on if what is at `next`, which was sought, is not what its head says.
  private var fallback: Place?
  /// The checks of the whole; nil once a piece was passed over.
  private var whole: LargeValueAssembly?
  /// Whether the last piece was read.
  package private(set) var isAtEnd = false

  /// A frame, and where in the value its piece begins.
  private struct Place {
    var offset: UInt64
    var position: UInt64
  }

  /// A cursor before the first piece, whose frame is at `offset`. The tables know the values that
  /// this one may be made from.
  init(_ value: LargeValue, at offset: UInt64, in file: LogGeneration, _ tables: LogTables) {
    self.value = value
    self.file = file
    self.tables = tables
    first = offset
    next = Place(offset: offset, position: 0)
    whole = LargeValueAssembly(value)
  }

  /// Where in the value the next piece begins.
  package var position: UInt64 { next.position }

  /// Calls `body` with the bytes of the next piece, and moves behind it; does nothing at the end.
  /// Throws `damage`, with its offset, if the piece or, after the last one, the whole fails its
  /// check; `largeValueLost` if the bytes are not there; then the cursor stays.
  package mutating func withNext(
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws(LogError) {
    guard !isAtEnd else { return }
    let frame = try nextFrame()
    let place = next
    let isLast = !frame.header.flags.contains(.continued)
    var whole = whole
    let count = try frame.payload.withBytes { bytes throws(LogError) -> UInt64 in
      let piece = try file.piece(bytes, at: place.offset, tables)
      guard !piece.isLost else { throw .largeValueLost(value.number) }
      guard isNext(piece), whole?.add(piece) ?? true else {
        throw .damage(at: place.offset, "the piece of another large value")
      }
      try wrapping { try piece.withBytes(body) }
      return UInt64(piece.count)
    }
    guard isLast || count > 0 else {
      throw .damage(at: place.offset, "an empty piece of a large value")
    }
    let end = Place(
      offset: place.offset + frame.header.frameLength, position: place.position + count)
    if isLast {
      let isRight = whole.map { $0.isWhole && $0.checksum == value.checksum }
      guard isRight ?? (end.position == value.length) else {
        throw .damage(at: end.offset, "a large value is not what was stored")
      }
    }
    self.whole = whole
    next = end
    isAtEnd = isLast
  }

  private func isNext(_ piece: LargeValuePiece) -> Bool {
    piece.number == value.number && piece.totalLength == value.length
      && piece.start == next.position && piece.base == nil
  }

  /// The frame of the next piece. Goes back to the fallback if the one that was sought is damaged.
  private mutating func nextFrame() throws(LogError) -> SingleFrame {
    guard let known = fallback else { return try file.frame(at: next.offset, kind: .largeValue) }
    fallback = nil
    do throws(LogError) {
      return try file.frame(at: next.offset, kind: .largeValue)
    } catch {
      guard error.isDamage else { throw error }
      next = known
      return try file.frame(at: next.offset, kind: .largeValue)
    }
  }

  /// Moves to the piece that has the byte at `target`, at most the value's length.
  ///
  /// Passes over the pieces before it by their headers, without reading or checking them: O(1) for
  /// each. If one of these is damaged, others are read all the same.
  package mutating func seek(to target: UInt64) throws(LogError) {
    if target < next.position || isAtEnd {
      next = Place(offset: first, position: 0)
      isAtEnd = false
      whole = LargeValueAssembly(value)
    }
    fallback = nil
    let start = next
    var header = try head(at: next.offset).header
    var offset = next.offset
    while let current = header, current.kind == .largeValue, current.flags.contains(.continued) {
      offset += current.frameLength
      let head = try head(at: offset)
      header = head.header
      // A head that cannot be right says nothing: the piece may be needed or not.
      guard let position = head.position, position > next.position else { continue }
      if position > target { break }
      fallback = next
      next = Place(offset: offset, position: position)
    }
    if next.offset != start.offset { whole = nil }
  }

  /// The header of the frame at an offset, and where in the value its piece begins, of which the
  /// first is checked; nil for what is not there.
  private func head(
    at offset: UInt64
  ) throws(LogError) -> (header: FrameHeader?, position: UInt64?) {
    let length = FormatLimits.frameHeaderLength
    let bytes = try file.read(length + LargeValueCodec.maximumHeadLength, at: offset)
    return bytes.withUnsafeBytes { bytes in
      guard let header = try? FrameHeader.decode(bytes, at: offset, seed: file.seed) else {
        return (nil, nil)
      }
      var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[length...]))
      guard let piece = try? LargeValueCodec.decodeHead(&reader), piece.number == value.number,
        piece.totalLength == value.length
      else { return (header, nil) }
      return (header, piece.start)
    }
  }
}

extension LargeValueCursor {
  /// All bytes of the value, from its first piece on, which is the next. Memory: the value.
  mutating func bytes() throws(LogError) -> ContiguousArray<UInt8> {
    var result: ContiguousArray<UInt8> = []
    // A reference may name any length: beyond what the file has, what is read decides.
    result.reserveCapacity(Int(min(value.length, try file.size())))
    while !isAtEnd { try withNext { result.append(contentsOf: $0) } }
    return result
  }

  /// Whether the value has the same bytes as another one of its length. Both are read from their
  /// first pieces on, which are the next. Memory: a piece of each.
  package mutating func hasSameBytes(as other: inout LargeValueCursor) throws(LogError) -> Bool {
    var isSame = true
    while !isAtEnd, isSame {
      let start = position
      try withNext { piece in
        var rest = piece
        try other.forEachPiece(in: start..<start + UInt64(piece.count)) { part in
          let same = UnsafeRawBufferPointer(rebasing: rest[..<part.count])
          rest = UnsafeRawBufferPointer(rebasing: rest[part.count...])
          isSame = isSame && same.hasSameBytes(as: part)
        }
      }
    }
    return isSame
  }

  /// Calls `body` with each piece, or part of one, of a range of the value, which has it.
  package mutating func forEachPiece(
    in range: Range<UInt64>, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws(LogError) {
    guard !range.isEmpty else { return }
    if range.lowerBound != position { try seek(to: range.lowerBound) }
    let isToEnd = range.upperBound == value.length
    while !isAtEnd, isToEnd || position < range.upperBound {
      let start = position
      try withNext { piece in
        let from = max(range.lowerBound, start) - start
        // What is sought may turn out to be behind the piece.
        guard from < UInt64(piece.count) else { return }
        let to = min(range.upperBound - start, UInt64(piece.count))
        try body(UnsafeRawBufferPointer(rebasing: piece[Int(from)..<Int(to)]))
      }
    }
  }
}
