import AnnalsFormat
import AnnalsModel

/// The decoders of saved projections, consumers, retention, tombstones and erasures. What decodes
/// is encoded to the same bytes again, or to equivalent ones.
enum FuzzSideRecords {
  static func projection(_ bytes: UnsafeRawBufferPointer) {
    guard let contents = try? ProjectionCodec.decode(bytes) else { return }
    let second = ProjectionCodec.encode(contents).withUnsafeBytes {
      try? ProjectionCodec.decode($0)
    }
    precondition(
      second?.state == contents.state && second?.version == contents.version
        && second?.number == contents.number
        && second?.name.hasSameBytes(as: contents.name) == true,
      "a projection that reads otherwise")
  }

  static func consumer(_ bytes: UnsafeRawBufferPointer) {
    guard let change = try? SideRecord(bytes, of: .consumerChange, flags: .skippable) else {
      return
    }
    var again: ContiguousArray<UInt8> = []
    change.encode(into: &again)
    precondition(again.elementsEqual(bytes), "a consumer that reads otherwise")
  }

  static func retention(_ bytes: UnsafeRawBufferPointer) {
    guard let policy = try? SideRecord(bytes, of: .retention, flags: .skippable) else { return }
    var again: ContiguousArray<UInt8> = []
    policy.encode(into: &again)
    precondition(again.elementsEqual(bytes), "a retention that reads otherwise")
  }

  static func tombstones(_ bytes: UnsafeRawBufferPointer) {
    var batch = ChangeBatch()
    guard (try? TombstoneCodec.decode(bytes, flags: .skippable, into: &batch)) != nil else {
      return
    }
    precondition(
      batch.transactions.allSatisfy(\.isPlain) && batch.changes.allSatisfy { $0.kind == .delete },
      "tombstones that are something else")
    let again = encoded(batch)
    var second = ChangeBatch()
    let isRead =
      again.withUnsafeBytes {
        try? TombstoneCodec.decode($0, flags: .skippable, into: &second)
      } != nil
    precondition(isRead && encoded(second) == again, "tombstones that read otherwise")
  }

  private static func encoded(_ batch: ChangeBatch) -> ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = []
    for index in batch.transactions.indices {
      TombstoneCodec.append(batch, transaction: index, to: &bytes)
    }
    return bytes
  }

  /// The bytes are an item of a transaction's extension area.
  static func erasure(_ bytes: UnsafeRawBufferPointer) {
    var items: ContiguousArray<UInt8> = []
    ExtensionArea.append(erasureTag, ContiguousArray(bytes), to: &items)
    var record = TransactionRecord(number: 1, timestamp: Timestamp(microseconds: 0))
    record.extensions = items
    guard let erasure = ErasureCodec.erasure(of: record) else { return }
    var again: ContiguousArray<UInt8> = []
    ErasureCodec.append(erasure, to: &again)
    precondition(again == items, "an erasure that reads otherwise")
  }

  private static let erasureTag: UInt64 = 2

  /// The bytes are an item of a transaction's extension area: its group, and what it undoes.
  static func undo(_ bytes: UnsafeRawBufferPointer) {
    for tag in [groupTag, undoTag] {
      var items: ContiguousArray<UInt8> = []
      ExtensionArea.append(tag, ContiguousArray(bytes), to: &items)
      var record = TransactionRecord(number: 1 << 32, timestamp: Timestamp(microseconds: 0))
      record.extensions = items
      let undo = UndoCodec.undo(of: record)
      if undo.isEmpty { continue }
      var again: ContiguousArray<UInt8> = []
      UndoCodec.append(undo, to: &again)
      precondition(again == items, "an undo that reads otherwise")
    }
  }

  private static let groupTag: UInt64 = 3
  private static let undoTag: UInt64 = 4

  static func undoSeeds(
    in records: [ContiguousArray<UInt8>], blocks: [ContiguousArray<UInt8>]
  ) -> [ContiguousArray<UInt8>] {
    seeds(in: records, blocks: blocks, [groupTag, undoTag])
  }

  static func erasureSeeds(
    in records: [ContiguousArray<UInt8>], blocks: [ContiguousArray<UInt8>]
  ) -> [ContiguousArray<UInt8>] {
    seeds(in: records, blocks: blocks, [erasureTag])
  }

  /// The items of these tags in the extension areas of transactions.
  private static func seeds(
    in records: [ContiguousArray<UInt8>], blocks: [ContiguousArray<UInt8>], _ tags: Set<UInt64>
  ) -> [ContiguousArray<UInt8>] {
    var batch = ChangeBatch()
    for payload in records {
      payload.withUnsafeBytes { _ = try? TransactionCodec.decode($0, into: &batch) }
    }
    for payload in blocks {
      payload.withUnsafeBytes { _ = try? BlockCodec.decode($0, isContinued: false, into: &batch) }
    }
    return batch.transactions.flatMap { record in
      ExtensionArea.items(of: record.extensions).filter { tags.contains($0.tag) }.map(\.bytes)
    }
  }
}
