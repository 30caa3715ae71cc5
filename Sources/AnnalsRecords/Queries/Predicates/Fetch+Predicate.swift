import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import Foundation

// Support for Foundation's predicates and sort descriptors.

extension Fetch {
  /// Keeps only objects whose records meet Foundation's predicate, in addition to earlier
  /// conditions.
  ///
  ///     Fetch(Post.self).where(#Predicate { $0.start > date && $0.title.count > 20 })
  ///
  /// Parts that can be a condition are planned as one, so that indexes serve them: comparisons of a
  /// property with a constant, `&&`, `||`, `!`, a list that contains a property, a to-many
  /// relationship that contains a reference; for texts, equality with plain ASCII. The rest is
  /// evaluated on the records that these parts let through; `explain` shows it. The result is that
  /// of the predicate, including Swift's equality of texts; only a comparison of an optional
  /// property with nil is false where its value was erased. A predicate that cannot be evaluated on
  /// a record, such as one that unwraps nil, makes the fetch throw `.invalidArgument`. A live view
  /// evaluates the rest again on each record that changes; it may depend on the record alone.
  public func `where`(_ predicate: Predicate<R>) -> Fetch {
    let part = predicate.expression as? any PredicatePart
    if let condition = part?.condition(of: R.self) { return self.where(condition) }
    var copy = self.where(part?.filter(of: R.self))
    copy.tests.append(RecordTest(predicate))
    return copy
  }

  /// Sorts by Foundation's sort descriptors, in place of any earlier order. Objects that they do
  /// not distinguish come in the order of later sort keys, or of their ids, in the last
  /// descriptor's direction.
  ///
  /// Descriptors of whole numbers, decimals, dates and days become sort keys. With any other, such
  /// as one of a text, all records found are read and sorted in memory. In a live view the
  /// sections' key counts more; groups ignore such descriptors.
  public func sorted(by descriptors: [SortDescriptor<R>]) -> Fetch {
    var copy = self
    copy.sortKeys = []
    copy.recordOrder = []
    var keys: [RecordSortKey<R>] = []
    for descriptor in descriptors {
      guard let key = descriptor.sortKey else {
        copy.recordOrder = descriptors
        return copy
      }
      keys.append(key)
    }
    copy.sortKeys = keys
    return copy
  }

  /// Whether a part must be evaluated on records.
  package var hasRecordWork: Bool { !tests.isEmpty || !recordOrder.isEmpty }

  /// Whether equal objects come in falling id order.
  var areTiesDescending: Bool {
    sortKeys.last?.key.isDescending ?? (recordOrder.last?.order == .reverse)
  }

  /// What must be evaluated on records, in words; nil if nothing.
  var recordWork: String? {
    switch (tests.isEmpty, recordOrder.isEmpty) {
    case (true, true): nil
    case (false, true): "the predicate is evaluated on each record that this finds"
    case (true, false): "the records that this finds are read and sorted by the descriptors"
    case (false, false):
      "the predicate is evaluated on each record that this finds, and the rest sorted by the "
        + "descriptors"
    }
  }
}

extension SortDescriptor where Compared: Record {
  /// The sort key with the same order; nil if there is none.
  fileprivate var sortKey: RecordSortKey<Compared>? {
    guard let path = keyPath, let position = Compared.entity.position(of: path) else { return nil }
    let property = Compared.entity.properties[position]
    switch property.attribute.type {
    case .int16, .int32, .int64, .date, .decimal, .day: break
    default: return nil
    }
    return RecordSortKey(SortKey(PropertyPath(property.name), isDescending: order == .reverse))
  }
}

extension WriteTransaction {
  /// Deletes every object whose record meets Foundation's predicate; nil means all.
  ///
  /// Returns how many were deleted. Throws as `fetch(_:)` and `delete(_:)` do.
  @discardableResult
  public func delete<R: Record>(
    _ type: R.Type, where predicate: Predicate<R>
  ) throws(AnnalsError) -> Int {
    let ids = try objectIDs(Fetch(type).where(predicate))
    for id in ids { try delete(id) }
    return ids.count
  }
}
