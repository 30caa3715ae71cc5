import AnnalsModel
import AnnalsQuery
import Foundation

/// Which objects of a record type are wanted, and in what order: a value, for any snapshot and any
/// write transaction of any store.
///
///     let soon = Fetch(Event.self).where(\.start > .now && \.place == kyoto)
///       .sorted(by: \.start, .descending).limit(50)
///     let events = try store.snapshot().fetch(soon)
///     let then = try store.snapshot(at: token).fetch(soon)
public struct Fetch<R: Record>: Hashable, Sendable {
  /// What is asked of each object; nil asks nothing.
  package var condition: RecordCondition<R>?
  /// The order, the first key counting most; without any, that of the objects' ids.
  package var sortKeys: [RecordSortKey<R>] = []
  /// How many objects there are at most; nil for all.
  package var maximumCount: Int?
  /// How many objects at the beginning are passed over.
  package var skippedCount = 0
  /// Which of these objects are wanted, as their records tell.
  var tests: [RecordTest<R>] = []
  /// The order of the records, which counts more than the keys; empty for none.
  var recordOrder: [SortDescriptor<R>] = []
  /// Which indexes may serve.
  package var indexes = IndexChoice.automatic

  /// All objects of the record type, in the order of their ids.
  public init(_ type: R.Type = R.self) {}

  /// Only the objects of which the condition is true, and those given before; nil changes nothing.
  public func `where`(_ condition: RecordCondition<R>?) -> Fetch {
    guard let condition else { return self }
    return with { $0.condition = self.condition?.and(condition) ?? condition }
  }

  /// In the order of a property, among the objects that the keys given before do not tell apart.
  public func sorted<V: AttributeValue>(
    by keyPath: KeyPath<R, V>, _ direction: SortDirection = .ascending,
    nils: SortKey.NilPlace = .byDirection, textOrder: SortKey.TextOrder = .binary
  ) -> Fetch {
    sorted(
      by: direction == .ascending
        ? .ascending(keyPath, nils: nils, textOrder: textOrder)
        : .descending(keyPath, nils: nils, textOrder: textOrder))
  }

  /// In the order of these keys, among the objects that those given before do not tell apart.
  public func sorted(by keys: RecordSortKey<R>...) -> Fetch { with { $0.sortKeys += keys } }

  /// At most so many objects. Traps if it is negative.
  public func limit(_ count: Int?) -> Fetch {
    precondition(count ?? 0 >= 0, "a limit is not negative")
    return with { $0.maximumCount = count }
  }

  /// Without so many objects at the beginning. Traps if it is negative.
  public func offset(_ count: Int) -> Fetch {
    precondition(count >= 0, "an offset is not negative")
    return with { $0.skippedCount = count }
  }

  /// By the index of this name, which has to be one that can serve; the answer is the same.
  public func using(_ index: String) -> Fetch { with { $0.indexes = .named(index) } }

  /// By reading all objects; the answer is the same.
  public func withoutIndexes() -> Fetch { with { $0.indexes = .none } }

  private func with(_ change: (inout Fetch) -> Void) -> Fetch {
    var copy = self
    change(&copy)
    return copy
  }
}
