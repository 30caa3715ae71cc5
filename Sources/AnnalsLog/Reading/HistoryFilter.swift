import AnnalsFormat
import AnnalsModel

/// The order in which history is read.
package enum HistoryDirection: Hashable, Sendable {
  case forward
  case backward
}

/// What parts of the history must hold to be of interest: all that is given must be met. History
/// passes over what cannot hold it, and hands out the rest: each transaction still has to be
/// tested.
package struct HistoryFilter: Sendable {
  /// Any of these authors; 0 stands for none.
  package var authors: [NameNumber]?
  /// Any of these contexts; 0 stands for none.
  package var contexts: [NameNumber]?
  /// A change of any of these entities.
  package var entities: [EntityNumber]?
  /// A change of this object.
  package var object: ObjectReference?
  /// A change that lists this property.
  package var property: (entity: EntityNumber, property: PropertyNumber)?
  /// A change of one of these kinds, as a block's summary writes them: bit 0 insert, bit 1 update,
  /// bit 2 delete. Of the same change as `object` and `property`.
  package var kinds: UInt8?
  /// A transaction's own timestamp, at the earliest.
  package var since: Timestamp?
  /// A transaction's own timestamp, at the latest.
  package var until: Timestamp?

  package init() {}

  /// Passes over nothing.
  package static let none = HistoryFilter()

  /// Whether a block may hold what is wanted. A part of a transaction is wanted for the sake of the
  /// others, whatever it changes.
  func mayMatch(_ block: BlockSummary) -> Bool {
    if let since, block.maximumTimestamp < since { return false }
    if let until, block.minimumTimestamp > until { return false }
    if let authors, !authors.contains(where: block.authors.contains) { return false }
    if let contexts, !contexts.contains(where: block.contexts.contains) { return false }
    if block.isPart { return true }
    if let entities, !block.entities.contains(where: { entities.contains($0.entity) }) {
      return false
    }
    if let object {
      guard let summary = block.entities.first(where: { $0.entity == object.entity }) else {
        return false
      }
      if object.row < summary.minimumRow || object.row > summary.maximumRow { return false }
      if let kinds, summary.kinds & kinds == 0 { return false }
    }
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

  /// Whether a segment of the log may hold what is wanted. `nextMaximum` is the running maximum of
  /// timestamps behind it.
  func mayMatch(_ segment: HistoryIndexEntry, nextMaximum: Timestamp) -> Bool {
    if let since, nextMaximum < since { return false }
    if let entities, !entities.contains(where: segment.entities.contains) { return false }
    if let object, !segment.entities.contains(object.entity) { return false }
    if let property, !segment.entities.contains(property.entity) { return false }
    return true
  }
}
