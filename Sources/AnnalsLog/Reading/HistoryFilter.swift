import AnnalsFormat
import AnnalsModel

/// The order in which history is read.
package enum HistoryDirection: Hashable, Sendable {
  case forward
  case backward
}

/// A coarse filter of history: blocks and segments that cannot match are skipped. All given
/// conditions must be met. What is not skipped is handed out, so each transaction must still be
/// tested.
package struct HistoryFilter: Sendable {
  /// Any of these authors; 0 stands for no author.
  package var authors: [NameNumber]?
  /// Any of these contexts; 0 stands for no context.
  package var contexts: [NameNumber]?
  /// A change of any of these entities.
  package var entities: [EntityNumber]?
  /// A change of any of these objects.
  package var objects: [ObjectReference]?
  /// A change that lists this property.
  package var property: (entity: EntityNumber, property: PropertyNumber)?
  /// A change of one of these kinds, as in a block's summary: bit 0 insert, bit 1 update, bit 2
  /// delete. The same change must meet `objects` and `property`.
  package var kinds: UInt8?
  /// The earliest own timestamp of a transaction.
  package var since: Timestamp?
  /// The latest own timestamp of a transaction.
  package var until: Timestamp?

  package init() {}

  /// Skips nothing.
  package static let none = HistoryFilter()

  /// Whether a block may match. A part of a transaction always may, since the other parts need it.
  func mayMatch(_ block: BlockSummary) -> Bool {
    if let since, block.maximumTimestamp < since { return false }
    if let until, block.minimumTimestamp > until { return false }
    if let authors, !authors.contains(where: block.authors.contains) { return false }
    if let contexts, !contexts.contains(where: block.contexts.contains) { return false }
    if block.isPart { return true }
    if let entities, !block.entities.contains(where: { entities.contains($0.entity) }) {
      return false
    }
    if let objects, !objects.contains(where: { mayMatch(block, $0) }) { return false }
    if let property {
      guard let summary = block.entities.first(where: { $0.entity == property.entity }) else {
        return false
      }
      if !summary.properties.contains(property.property) { return false }
      if let kinds, summary.kinds & kinds == 0 { return false }
    }
    if let kinds, !block.entities.contains(where: { $0.kinds & kinds != 0 }) { return false }
    return true
  }

  private func mayMatch(_ block: BlockSummary, _ object: ObjectReference) -> Bool {
    guard let summary = block.entities.first(where: { $0.entity == object.entity }) else {
      return false
    }
    if object.row < summary.minimumRow || object.row > summary.maximumRow { return false }
    return kinds.map { summary.kinds & $0 != 0 } ?? true
  }

  /// Whether a segment of the log may match.
  func mayMatch(_ segment: HistoryIndexEntry) -> Bool {
    if let since, segment.maximumTimestamp < since { return false }
    if let entities, !entities.contains(where: segment.entities.contains) { return false }
    if let objects, !objects.contains(where: { segment.entities.contains($0.entity) }) {
      return false
    }
    if let property, !segment.entities.contains(property.entity) { return false }
    return true
  }
}
