import AnnalsFormat
import AnnalsFrames
import AnnalsModel

/// How a rewrite stores large values: deflated, and a version of a text as what has changed since
/// an earlier one, where that is shorter.
struct LargeValuePacking: ~Copyable {
  /// Values are written once and read often.
  private var deflate = Deflate(level: 6)
  /// Of the values of one piece that were written: how many there are from each to one without a
  /// base, and how many bytes they have together.
  private var chains: [UInt64: (count: UInt8, length: UInt32)] = [:]

  /// The payload for a piece of the file that `view` shows; nil if the one that it has can stay. A
  /// value of one piece may be based on `base`, if that was written before. Throws if a base cannot
  /// be read. Memory: a few values of one piece.
  mutating func payload(
    for stored: LargeValuePiece, at offset: UInt64, in view: LogView, basedOn base: UInt64?
  ) throws(LogError) -> ContiguousArray<UInt8>? {
    let isLasting = stored.lasting.extensions.count == stored.extensions.count
    if let base = stored.base, isLasting, admits(base, for: stored) {
      note(stored, basedOn: base)
      return nil
    }
    let piece = try view.file.made(stored, at: offset, view.tables).lasting
    if piece.isWhole, let base, admits(base, for: piece),
      let result = try payload(for: piece, basedOn: base, in: view)
    {
      note(piece, basedOn: base)
      return result
    }
    if piece.isWhole { note(piece, basedOn: nil) }
    if isLasting, stored.base == nil, stored.isDeflated { return nil }
    return payload(for: piece)
  }

  /// The payload for a piece whose bytes are made.
  mutating func payload(for piece: LargeValuePiece) -> ContiguousArray<UInt8> {
    var result: ContiguousArray<UInt8> = []
    LargeValueCodec.encode(piece, into: &result, deflate: &deflate)
    return result
  }

  /// The payload for a whole value based on another one; nil if it is not shorter than without.
  private mutating func payload(
    for piece: LargeValuePiece, basedOn base: UInt64, in view: LogView
  ) throws(LogError) -> ContiguousArray<UInt8>? {
    guard let entry = try view.tables.largeValue(base, in: view.file) else { return nil }
    let frame = try view.file.frame(at: entry.offset, kind: .largeValue)
    let steps = try frame.payload.withBytes { bytes throws(LogError) in
      let earlier = try view.file.piece(bytes, at: entry.offset, view.tables)
      return earlier.withBytes { earlier in
        piece.withBytes { LargeValueDifference.encode($0, from: earlier) }
      }
    }
    let based = steps.withUnsafeBytes { payload(for: piece.based(on: base, $0)) }
    // Deflating alone never makes anything so short.
    if based.count < piece.count / 16 { return based }
    let whole = payload(for: piece).count
    return based.count < whole - whole / 10 ? based : nil
  }

  private func admits(_ base: UInt64, for piece: LargeValuePiece) -> Bool {
    guard base < piece.number, let chain = chains[base] else { return false }
    return Int(chain.count) < LargeValueChain.maximumCount
      && UInt64(chain.length) + piece.totalLength <= LargeValueChain.maximumLength
  }

  private mutating func note(_ piece: LargeValuePiece, basedOn base: UInt64?) {
    let chain = base.flatMap { chains[$0] } ?? (0, 0)
    chains[piece.number] = (chain.count + 1, chain.length + UInt32(clamping: piece.totalLength))
  }
}

extension RewriteTarget {
  /// Copies a large value from the file that `view` shows, piece by piece; returns its new place.
  /// `base` is the number of the value that it replaced, if any.
  func copy(
    largeValue entry: LargeValueEntry, from view: LogView, basedOn base: UInt64? = nil
  ) throws(LogError) -> LargeValueEntry {
    let result = LargeValueEntry(number: entry.number, offset: offset, length: entry.length)
    var place = entry.offset
    while true {
      let frame = try view.file.frame(at: place, kind: .largeValue)
      let isLast = !frame.header.flags.contains(.continued)
      try frame.payload.withBytes { bytes throws(LogError) in
        let stored = try view.file.storedPiece(bytes, at: place)
        let anew = try packing.payload(for: stored, at: place, in: view, basedOn: base)
        guard let anew else { return try append(largeValuePiece: bytes, isLast: isLast) }
        try append(largeValuePiece: anew, isLast: isLast)
      }
      if isLast { return result }
      place += frame.header.frameLength
    }
  }

  /// Writes a piece of a large value, whose bytes are made, without the items that do not outlast a
  /// rewrite.
  func append(_ piece: LargeValuePiece, isLast: Bool) throws(LogError) {
    try append(largeValuePiece: packing.payload(for: piece.lasting), isLast: isLast)
  }

  private func append(
    largeValuePiece payload: ContiguousArray<UInt8>, isLast: Bool
  ) throws(LogError) {
    try payload.withBytes { bytes throws(LogError) in
      try append(largeValuePiece: bytes, isLast: isLast)
    }
  }

  private func append(
    largeValuePiece payload: UnsafeRawBufferPointer, isLast: Bool
  ) throws(LogError) {
    try append(kind: .largeValue, flags: FrameFlags(isContinued: !isLast), payload: payload)
  }
}
