import AnnalsModel

// What contents use of the features that a file must announce: for a file that is written from
// what could be read of another one, whose announcements may be lost.

extension Features {
  /// The features that these transactions use, or parts of some. O(values).
  package init(usedBy batch: ChangeBatch) {
    self = .none
    for record in batch.transactions {
      formUnion(Features(definedBy: record.schemaChange))
      if record.metadata.contains(where: { $0.value.tag.isDecimalOrDay }) {
        formUnion(.decimalsAndDays)
      }
      if ErasureCodec.erasure(of: record) != nil { formUnion(.erasure) }
      if !UndoCodec.undo(of: record).isEmpty { formUnion(.undo) }
      if !MigrationCodec.names(of: record).isEmpty { formUnion(.migrations) }
    }
    for change in batch.properties {
      for tag in [change.before.tag, change.after.tag] {
        if tag == .erased { formUnion(.erasure) }
        if tag.isDecimalOrDay { formUnion(.decimalsAndDays) }
      }
    }
  }

  /// The features that these definitions use.
  package init(definedBy change: [EntityChange]) {
    self = .none
    if change.contains(where: \.hasRelationshipRules) { formUnion(.references) }
    if change.contains(where: \.hasDerivations) { formUnion(.derivations) }
    if change.contains(where: \.hasDecimalOrDay) { formUnion(.decimalsAndDays) }
  }

  /// The features that the values of a checkpoint's chunk use; none for a chunk without values.
  package init(usedByChunk payload: UnsafeRawBufferPointer) {
    self = .none
    guard let contents = try? ChunkContents(payload, as: .column(0, 0)) else { return }
    if contents.hasErased { formUnion(.erasure) }
    if contents.hasDecimalOrDay { formUnion(.decimalsAndDays) }
  }
}
