import AnnalsModel
import AnnalsState
import Foundation

/// A grouping of a query's objects, and the aggregates of each group.
package struct GroupQuery: Sendable {
  package enum Key: Sendable {
    /// All objects are one group, which exists even without any.
    case all
    /// The value at a path.
    case value(PropertyPath)
    /// The bucket of a date; for a text that is a date, its beginning as written.
    case bucket(PropertyPath, CalendarUnit, ZoneClock)

    /// The same key of another path.
    func with(_ path: PropertyPath) -> Key {
      switch self {
      case .all: .all
      case .value: .value(path)
      case .bucket(_, let unit, let zone): .bucket(path, unit, zone)
      }
    }
  }

  package var key: Key
  package var aggregates: [Aggregate]

  package init(_ key: Key, _ aggregates: [Aggregate] = []) {
    self.key = key
    self.aggregates = aggregates
  }

  /// The path of the grouping value; nil if there is none.
  package var path: PropertyPath? {
    switch key {
    case .all: nil
    case .value(let path), .bucket(let path, _, _): path
    }
  }
}

/// One group of objects.
package struct GroupedRows: Sendable {
  package enum Key: Sendable {
    /// The value that its objects have in common; of texts that are dates, what they begin with.
    case value(Value)
    case bucket(CalendarBucket)
  }

  package var key: Key
  /// How many objects it has.
  package var count: Int
  /// What the aggregates give, in their order.
  package var values: [Value]

  package init(key: Key, count: Int, values: [Value]) {
    self.key = key
    self.count = count
    self.values = values
  }
}
