import AnnalsModel
import AnnalsQuery
import Foundation

/// A query for objects of a record type: which objects, and in what order. A value, for any
/// snapshot and any write transaction of any store.
///
///     let soon = Fetch(Event.self).where(\.start > .now && \.place == kyoto)
///       .sorted(by: \.start, .descending).limit(50)
///     let events = try store.snapshot().fetch(soon)
///     let then = try store.snapshot(at: token).fetch(soon)
public struct Fetch<R: Record>: Hashable, Sendable {
  /// The condition on each object; nil for none.
  package var condition: RecordCondition<R>?
  /// The sort keys, the most significant first; without any, objects come in id order.
  package var sortKeys: [RecordSortKey<R>] = []
  /// The most objects to return; nil for all.
  package var maximumCount: Int?
  /// How many objects to skip at the beginning.
  package var skippedCount = 0
  /// Predicates evaluated on the objects' records.
  var tests: [RecordTest<R>] = []
  /// Sort descriptors evaluated on records, which precede the sort keys; empty for none.
  var recordOrder: [SortDescriptor<R>] = []
  /// Which indexes may be used.
  package var indexes = IndexChoice.automatic

  /// All objects of the record type, in id order.
  public init(_ type: R.Type = R.self) {}

  /// Keeps only objects that meet the condition, in addition to earlier ones; nil changes nothing.
  public func `where`(_ condition: RecordCondition<R>?) -> Fetch {
    guard let condition else { return self }
    return changing(self) { $0.condition = self.condition?.and(condition) ?? condition }
  }

  /// Sorts by a property; earlier sort keys take precedence.
  public func sorted<V: AttributeValue>(
    by keyPath: KeyPath<R, V>, _ direction: SortDirection = .ascending,
    nils: SortKey.NilPlace = .byDirection, textOrder: SortKey.TextOrder = .binary
  ) -> Fetch {
    sorted(
      by: direction == .ascending
        ? .ascending(keyPath, nils: nils, textOrder: textOrder)
        : .descending(keyPath, nils: nils, textOrder: textOrder))
  }

  /// Sorts by these keys; earlier sort keys take precedence.
  public func sorted(by keys: RecordSortKey<R>...) -> Fetch {
    changing(self) { $0.sortKeys += keys }
  }

  /// Returns at most so many objects. Traps if it is negative.
  public func limit(_ count: Int?) -> Fetch {
    insist(count ?? 0 >= 0, "a limit is not negative")
    return changing(self) { $0.maximumCount = count }
  }

  /// Skips so many objects at the beginning. Traps if it is negative.
  public func offset(_ count: Int) -> Fetch {
    insist(count >= 0, "an offset is not negative")
    return changing(self) { $0.skippedCount = count }
  }

  /// Uses the index of this name; fetching throws if it cannot serve. The result is the same.
  public func using(_ index: String) -> Fetch { changing(self) { $0.indexes = .named(index) } }

  /// Reads all objects instead of using an index. The result is the same.
  public func withoutIndexes() -> Fetch { changing(self) { $0.indexes = .none } }
}
