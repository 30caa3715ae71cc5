import AnnalsFormat
import AnnalsModel

/// Decodes what drafts 2 and 3 say otherwise than version 1.
///
/// | | draft 2 | early draft 3 |
/// |---|---|---|
/// | the shapes of a block | without the set of reused properties | likewise |
/// | a piece of a large value | its bytes to the end, neither base nor section | as now |
/// | a directory | items with the tags 1, 3 and 7 | as now |
///
/// The history index of draft 2 has other timestamps; it is made anew.
struct DraftPayloads: ~Copyable {
  private let draft: UInt32
  private var blocks = BlockDecoder(ofDraft: true)

  init(draft: UInt32) { self.draft = draft }

  /// Appends the transactions in the payload of a frame to the batch.
  mutating func transactions(
    _ payload: UnsafeRawBufferPointer, _ frame: FrameHeader, into batch: inout ChangeBatch
  ) throws(DecodeFault) {
    guard frame.kind == .block else {
      return try TransactionCodec.decode(payload, into: &batch)
    }
    let isContinued = frame.flags.contains(.continued)
    try blocks.decode(payload, isContinued: isContinued, into: &batch)
  }

  /// Reads a piece of a large value, valid as long as the payload.
  func largeValuePiece(
    _ payload: UnsafeRawBufferPointer
  ) throws(DecodeFault) -> LargeValuePiece {
    guard draft == 2 else { return try LargeValueCodec.decode(payload) }
    var reader = ByteReader(payload)
    let head = try LargeValueCodec.decodeHead(&reader)
    let extensions = head.isFirst ? try ExtensionArea.read(&reader) : []
    if head.isLost {
      try reader.expectEnd()
      return head
    }
    guard UInt64(reader.remaining) <= head.totalLength - head.start else {
      throw reader.invalid("a piece that reaches beyond its value")
    }
    var piece = LargeValuePiece(
      number: head.number, totalLength: head.totalLength, start: head.start,
      bytes: try reader.readBytes(reader.remaining))
    piece.extensions = extensions
    return piece
  }

  /// Reads the directory of a base.
  static func directory(
    _ payload: UnsafeRawBufferPointer, draft: UInt32
  ) throws(DecodeFault) -> CheckpointDirectory {
    var directory = try CheckpointDirectory.decode(payload)
    guard draft == 2 else { return directory }
    // By their new tags they are known. Projections were saved for the generation before.
    let tags: [UInt64: UInt64?] = [1: 12, 3: nil, 7: 8]
    var items = ExtensionArea.items(of: directory.extensions).compactMap { item in
      (tags[item.tag] ?? item.tag).map { ($0, item.bytes) }
    }
    items.sort { $0.0 < $1.0 }
    directory.extensions = []
    for (tag, bytes) in items { ExtensionArea.append(tag, bytes, to: &directory.extensions) }
    return try directory.encode().withBytes { bytes throws(DecodeFault) in
      try CheckpointDirectory.decode(bytes)
    }
  }
}
