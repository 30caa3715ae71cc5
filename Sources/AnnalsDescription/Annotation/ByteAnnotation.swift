import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsStorage

/// Explains every byte of a region: emits fields in order that cover all of it.
///
/// Written from FORMAT.md, without the decoders of records: where the two disagree, one of them is
/// wrong. It trusts nothing; what cannot be read becomes a field that says so.
package struct ByteAnnotation {
  /// Called with a field and its bytes, which are valid within the call. A field of unwritten
  /// space, which can be longer than any buffer, comes without bytes.
  package typealias Emit = (AnnotatedField, UnsafeRawBufferPointer) -> Void

  /// The names for the text of values.
  let vocabulary: Vocabulary

  /// An annotation that uses these names.
  package init(vocabulary: Vocabulary) {
    self.vocabulary = vocabulary
  }

  /// Emits the fields of a region of the walk. Memory: one frame.
  package func annotate(
    _ region: FileRegion, in walk: inout FileWalk, emit: @escaping Emit
  ) throws(StorageError) {
    switch region.content {
    case .unwritten:
      let field = AnnotatedField(
        offset: region.offset, length: region.length, depth: 0, name: "unwritten space",
        value: "zeros", isZeros: true)
      emit(field, UnsafeRawBufferPointer(start: nil, count: 0))
    case .damaged(let reason):
      try pieces(of: region, in: &walk, name: reason.description, emit: emit)
    case .header, .slot, .frame:
      let seed = walk.seed
      try walk.withBytes(of: region) { bytes in
        var reader = FieldReader(bytes, at: region.offset, emit: emit)
        do throws(DecodeFault) {
          switch region.content {
          case .header(let verdict): try header(&reader, verdict)
          case .slot(let index, let verdict): try slot(&reader, index, verdict, bytes, seed)
          case .frame(let frame): try self.frame(&reader, frame, at: region.offset, emit: emit)
          case .unwritten, .damaged: break
          }
          reader.rest("bytes that belong to no field", "")
        } catch {
          reader.rest("bytes that cannot be read", "\(error)")
        }
      }
    }
  }

  /// Emits a stretch without frames, piece by piece.
  private func pieces(
    of region: FileRegion, in walk: inout FileWalk, name: String, emit: @escaping Emit
  ) throws(StorageError) {
    var done: UInt64 = 0
    while done < region.length {
      let count = try walk.withBytes(of: region, from: done, count: 1 << 20) { bytes in
        var reader = FieldReader(bytes, at: region.offset + done, emit: emit)
        reader.rest(name, "")
        return bytes.count
      }
      // The file was truncated meanwhile: stop.
      if count == 0 { return }
      done += UInt64(count)
    }
  }
}

// The first three blocks.
extension ByteAnnotation {
  private func header(
    _ reader: inout FieldReader, _ verdict: HeaderVerdict
  ) throws(DecodeFault) {
    let isAnnals = if case .damaged(.notAnnals) = verdict { false } else { true }
    try reader.opaque(
      "magic", isAnnals ? "an Annals file" : "not that of an Annals file",
      count: min(FileHeader.magic.count, reader.remaining))
    if !isAnnals { return reader.rest("bytes of a foreign file", "") }
    try reader.fixed("format version", UInt32.self)
    try reader.fixed("draft of the version", UInt32.self)
    try reader.fixed("required features", UInt64.self, text: Features.text)
    try reader.fixed("optional features", UInt64.self, text: Features.text)
    try reader.field(
      "store", { reader throws(DecodeFault) in try reader.readUUID() }, text: \.description)
    try reader.fixed("generation", UInt64.self)
    try reader.fixed("base", Int64.self) { "transaction \($0)" }
    try reader.fixed("created", Int64.self, text: ByteAnnotation.time)
    try reader.fixed("greatest timestamp up to the base", Int64.self, text: ByteAnnotation.time)
    try reader.fixed("offset of the base's checkpoint", UInt64.self) {
      $0 == 0 ? "none: the base is the empty state" : "\($0)"
    }
    try reader.fixed("time of the last prune", Int64.self, text: ByteAnnotation.time)
    try reader.byte("whether there was a prune") { $0 == 0 ? "no" : "yes" }
    let length = try reader.byte("length of the pruner's name")
    try reader.zeros("reserved", count: 6)
    let name = min(Int(length), FileHeader.maximumNameLength)
    if name > 0 {
      try reader.field(
        "pruner's name", { reader throws(DecodeFault) in try reader.readBytes(name) },
        text: { QuotedText.text(String(decoding: $0, as: UTF8.self)) })
    }
    try reader.zeros("reserved", count: reader.remaining - 4)
    let isDamaged = if case .damaged(.checksum) = verdict { true } else { false }
    try reader.fixed("checksum", UInt32.self) {
      Hex.text($0) + (isDamaged ? ", which does not match" : "")
    }
  }

  private func slot(
    _ reader: inout FieldReader, _ index: Int, _ verdict: SlotVerdict,
    _ bytes: UnsafeRawBufferPointer, _ seed: FrameSeed?
  ) throws(DecodeFault) {
    if case .unwritten = verdict {
      return try reader.zeros("root slot \(index), zeros", count: reader.remaining)
    }
    try reader.opaque("magic", count: RootSlot.magic.count)
    try reader.fixed("sequence", UInt64.self)
    try reader.fixed("offset of the newest checkpoint", UInt64.self) { $0 == 0 ? "none" : "\($0)" }
    try reader.fixed("number of that checkpoint", Int64.self)
    try reader.fixed("durable mark", UInt64.self)
    try reader.fixed("head at the mark", Int64.self) { "transaction \($0)" }
    try reader.fixed("checksum of the frame before the mark", UInt32.self, text: Hex.text)
    try reader.fixed("extent", UInt64.self) { "the file had \($0) bytes" }
    try reader.zeros("reserved", count: 4)
    if try !reader.peek(FileHeader.usedLength).isZero {
      try reader.opaque("the header's first bytes, repeated", count: FileHeader.usedLength)
    } else {
      try reader.zeros("no copy of the header", count: FileHeader.usedLength)
    }
    try announced(&reader)
    try reader.zeros("reserved", count: reader.remaining - 4)
    let covered = UnsafeRawBufferPointer(rebasing: bytes.dropLast(4))
    let expected = seed?.checksum(covered, at: FormatLimits.slotOffsets[index])
    try reader.fixed("checksum", UInt32.self) { checksum in
      guard let expected else { return Hex.text(checksum) }
      return Hex.text(checksum)
        + (checksum == expected ? ", ok" : ", but the bytes have \(Hex.text(expected))")
    }
  }

  /// The features announced, in a slot or in a frame of their own.
  private func announced(_ reader: inout FieldReader) throws(DecodeFault) {
    try reader.fixed("required features announced", UInt64.self, text: Features.text)
    try reader.fixed("optional features announced", UInt64.self, text: Features.text)
  }

  static func time(_ microseconds: Int64) -> String {
    Timestamp(microseconds: microseconds).description
  }
}

// Frames.
extension ByteAnnotation {
  private func frame(
    _ reader: inout FieldReader, _ frame: WalkedFrame, at offset: UInt64, emit: @escaping Emit
  ) throws(DecodeFault) {
    let header = frame.header
    try reader.fixed("header checksum", UInt32.self) { Hex.text($0) + ", ok" }
    try reader.byte("kind") { "\($0) \(header.kind.name)" }
    try reader.byte("flags") { header.flags.isEmpty ? "\($0)" : "\($0) \(header.flags.text)" }
    try reader.zeros("reserved", count: 2)
    try reader.fixed("payload length", UInt32.self)
    try reader.fixed("payload checksum", UInt32.self) {
      "\(Hex.text($0)), \(frame.payload == .valid ? "ok" : frame.payload.description)"
    }
    try reader.fixed("previous frame's header checksum", UInt32.self) {
      "\(Hex.text($0)), chain \(frame.chain)"
    }
    try reader.fixed("durable mark back", UInt32.self) { back in
      frame.durableMark.map { "\(back), so at \($0)" } ?? "unknown"
    }
    let length = min(Int(header.payloadLength), reader.remaining)
    let start = offset + UInt64(FormatLimits.frameHeaderLength)
    let bytes = try reader.skip(length)
    var inner = FieldReader(bytes, at: start, depth: 1, emit: emit)
    payload(&inner, frame, bytes)
    if case .cut = frame.payload { return }
    try reader.zeros("padding", count: reader.remaining)
  }

  private func payload(
    _ reader: inout FieldReader, _ frame: WalkedFrame, _ bytes: UnsafeRawBufferPointer
  ) {
    // A damaged payload is explained as far as it can be decoded.
    do throws(DecodeFault) {
      let kind = frame.header.kind
      switch kind.role {
      case .transactions: if kind == .block { try block(&reader) } else { try record(&reader) }
      case .largeValue: try largeValue(&reader)
      case .chunk: try chunk(&reader, bytes)
      case .checkpoint: try directory(&reader)
      case .sideRecord: try side(&reader, of: kind)
      case .tombstones: try tombstones(&reader)
      case .announcement: try announced(&reader)
      case .unknown: reader.rest("payload of a kind that this version does not know", "")
      }
      reader.rest("bytes behind the end of the record", "")
    } catch {
      reader.rest("bytes that cannot be read", "\(error)")
    }
  }

  private func largeValue(_ reader: inout FieldReader) throws(DecodeFault) {
    try reader.varInt("number of the large value")
    let total = try reader.varInt("length of the whole value")
    let start = try reader.varInt("where this piece begins in it")
    if start == 0 || start == total { try extensions(&reader, []) }
    try reader.opaque("bytes of the value", "of \(total) in all", count: reader.remaining)
  }
}

extension FrameFlags {
  /// The names of the flags that are set.
  package var text: String {
    let all: [(FrameFlags, String)] = [
      (.skippable, "skippable"), (.continued, "continued"), (.compressed, "compressed"),
      (.encrypted, "encrypted"),
    ]
    return all.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}
