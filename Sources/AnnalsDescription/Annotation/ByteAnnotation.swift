import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsStorage

/// Explains every byte of a region: emits fields in order that cover all of it.
///
/// Written from FORMAT.md, without the decoders of records (decision 0076). It trusts
/// nothing; what cannot be read becomes a field that says so.
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
        switch region.content {
        case .header(let verdict): header(&reader, verdict)
        case .slot(let index, let verdict): slot(&reader, index, verdict, bytes, seed)
        case .frame(let frame): self.frame(&reader, frame)
        case .unwritten, .damaged: break
        }
        reader.end("bytes that belong to no field")
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
        reader.end(name)
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
  private func header(_ reader: inout FieldReader, _ verdict: HeaderVerdict) {
    let isAnnals = if case .damaged(.notAnnals) = verdict { false } else { true }
    reader.opaque(
      "magic", isAnnals ? "an Annals file" : "not that of an Annals file",
      count: min(FileHeader.magic.count, reader.remaining))
    if !isAnnals { return reader.end("bytes of a foreign file") }
    reader.fixed("format version", UInt32.self)
    reader.fixed("draft of the version", UInt32.self)
    reader.fixed("required features", UInt64.self, text: Features.text)
    reader.fixed("optional features", UInt64.self, text: Features.text)
    reader.field("store", text: \.description) { reader throws(DecodeFault) in
      try reader.readUUID()
    }
    reader.fixed("generation", UInt64.self)
    reader.fixed("base", Int64.self) { "transaction \($0)" }
    reader.fixed("created", Int64.self, text: ByteAnnotation.time)
    reader.fixed("greatest timestamp up to the base", Int64.self, text: ByteAnnotation.time)
    reader.fixed("offset of the base's checkpoint", UInt64.self) {
      $0 == 0 ? "none: the base is the empty state" : "\($0)"
    }
    reader.fixed("time of the last prune", Int64.self, text: ByteAnnotation.time)
    reader.byte("whether there was a prune") { $0 == 0 ? "no" : "yes" }
    let length = reader.byte("length of the pruner's name")
    reader.zeros("reserved", count: 6)
    let name = min(Int(length), FileHeader.maximumNameLength)
    if name > 0 {
      reader.field(
        "pruner's name", text: { QuotedText.text(String(decoding: $0, as: UTF8.self)) },
        { reader throws(DecodeFault) in try reader.readBytes(name) })
    }
    reader.zeros("reserved", count: reader.remaining - 4)
    let isDamaged = if case .damaged(.checksum) = verdict { true } else { false }
    reader.fixed("checksum", UInt32.self) {
      Hex.text($0) + (isDamaged ? ", which does not match" : "")
    }
  }

  private func slot(
    _ reader: inout FieldReader, _ index: Int, _ verdict: SlotVerdict,
    _ bytes: UnsafeRawBufferPointer, _ seed: FrameSeed?
  ) {
    if case .unwritten = verdict {
      return reader.zeros("root slot \(index), zeros", count: reader.remaining)
    }
    reader.opaque("magic", count: RootSlot.magic.count)
    reader.fixed("sequence", UInt64.self)
    reader.fixed("offset of the newest checkpoint", UInt64.self) { $0 == 0 ? "none" : "\($0)" }
    reader.fixed("number of that checkpoint", Int64.self)
    reader.fixed("durable mark", UInt64.self)
    reader.fixed("head at the mark", Int64.self) { "transaction \($0)" }
    reader.fixed("checksum of the frame before the mark", UInt32.self, text: Hex.text)
    reader.fixed("extent", UInt64.self) { "the file had \($0) bytes" }
    reader.zeros("reserved", count: 4)
    if reader.peek(FileHeader.usedLength)?.isZero == false {
      reader.opaque("the header's first bytes, repeated", count: FileHeader.usedLength)
    } else {
      reader.zeros("no copy of the header", count: FileHeader.usedLength)
    }
    announced(&reader)
    reader.zeros("reserved", count: reader.remaining - 4)
    let covered = UnsafeRawBufferPointer(rebasing: bytes.dropLast(4))
    let expected = seed?.checksum(covered, at: FormatLimits.slotOffsets[index])
    reader.fixed("checksum", UInt32.self) { checksum in
      guard let expected else { return Hex.text(checksum) }
      return Hex.text(checksum)
        + (checksum == expected ? ", ok" : ", but the bytes have \(Hex.text(expected))")
    }
  }

  /// The features announced, in a slot or in a frame of their own.
  private func announced(_ reader: inout FieldReader) {
    reader.fixed("required features announced", UInt64.self, text: Features.text)
    reader.fixed("optional features announced", UInt64.self, text: Features.text)
  }

  static func time(_ microseconds: Int64) -> String {
    Timestamp(microseconds: microseconds).description
  }
}

// Frames.
extension ByteAnnotation {
  private func frame(_ reader: inout FieldReader, _ frame: InspectedFrame) {
    let header = frame.header
    reader.fixed("header checksum", UInt32.self) { Hex.text($0) + ", ok" }
    reader.byte("kind") { "\($0) \(header.kind.name)" }
    reader.byte("flags") { header.flags.isEmpty ? "\($0)" : "\($0) \(header.flags.text)" }
    reader.zeros("reserved", count: 2)
    reader.fixed("payload length", UInt32.self)
    reader.fixed("payload checksum", UInt32.self) {
      "\(Hex.text($0)), \(frame.payload == .valid ? "ok" : frame.payload.description)"
    }
    reader.fixed("previous frame's header checksum", UInt32.self) {
      "\(Hex.text($0)), chain \(frame.chain)"
    }
    reader.fixed("durable mark back", UInt32.self) { back in
      frame.durableMark.map { "\(back), so at \($0)" } ?? "unknown"
    }
    // A damaged payload is explained as far as it can be decoded.
    let length = min(Int(header.payloadLength), reader.remaining)
    reader.part(of: length, leaving: "bytes behind the end of the record") { payload in
      self.payload(&payload, of: header.kind)
    }
    if case .cut = frame.payload { return }
    reader.zeros("padding", count: reader.remaining)
  }

  private func payload(_ reader: inout FieldReader, of kind: FrameKind) {
    switch kind.role {
    case .transactions: if kind == .block { block(&reader) } else { record(&reader) }
    case .largeValue: largeValue(&reader)
    case .chunk: chunk(&reader)
    case .checkpoint: directory(&reader)
    case .sideRecord: side(&reader, of: kind)
    case .tombstones: tombstones(&reader)
    case .announcement:
      announced(&reader)
      if reader.remaining > 0 { reader.end("features of a later version") }
    case .unknown: reader.end("payload of a kind that this version does not know")
    }
  }

  private func largeValue(_ reader: inout FieldReader) {
    reader.varInt("number of the large value")
    let total = reader.varInt("length of the whole value")
    let start = reader.varInt("where this piece begins in it")
    var base: UInt64 = 0
    if start == 0 || start == total {
      base = reader.varInt("number of the base")
      reader.extensions()
    }
    if total > 0, start == total { return }
    section(&reader, base == 0 ? "bytes of the value" : "steps from the base", of: .records)
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
