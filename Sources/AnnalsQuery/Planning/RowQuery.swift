import AnnalsModel

/// A query for an entity's rows: the condition, the order and the window.
package struct RowQuery: Sendable {
  package var entity: EntityNumber
  package var condition: Condition
  package var keys: [SortKey]
  /// Whether rows that no key tells apart fall.
  package var areTiesDescending: Bool
  package var limit: Int?
  package var offset: Int
  package var indexes: IndexChoice

  package init(
    entity: EntityNumber, condition: Condition = .always, keys: [SortKey] = [],
    areTiesDescending: Bool = false, limit: Int? = nil, offset: Int = 0,
    indexes: IndexChoice = .automatic
  ) {
    self.entity = entity
    self.condition = condition
    self.keys = keys
    self.areTiesDescending = areTiesDescending
    self.limit = limit
    self.offset = offset
    self.indexes = indexes
  }

  /// The most rows that must be found: skipped and returned ones.
  var most: Int? {
    limit.map { limit in
      let (sum, overflows) = limit.addingReportingOverflow(offset)
      return overflows ? .max : sum
    }
  }
}

/// Which indexes may be used.
package enum IndexChoice: Hashable, Sendable {
  /// The cheapest one, if it costs less than reading all objects.
  case automatic
  /// None: all objects are read.
  case none
  /// The one of this name.
  case named(String)
}
