import AnnalsModel
import Foundation

/// One value of all objects that a to-many relationship or an inverse leads to, to be compared in a
/// condition or sorted by: `.max(\.events, \.start) > date`.
///
/// Objects without a value do not count, nor do deleted ones; one that a list has twice counts
/// twice. The sum of no values is 0; the least, the greatest and the average of none are nil.
public struct RelatedValue<R: Record, V: AttributeValue & Comparable>: Sendable {
  package let path: PropertyPath

  private init<S: Record>(
    _ function: Aggregate.Function, _ keyPath: PartialKeyPath<S>, over name: String
  ) {
    path = .of(function, PropertyPath(S.entity.propertyName(of: keyPath)), over: PropertyPath(name))
  }

  private init<S: Record>(
    _ function: Aggregate.Function, _ keyPath: PartialKeyPath<S>,
    in list: KeyPath<R, [Reference<S>]>
  ) { self.init(function, keyPath, over: R.entity.propertyName(of: list)) }

  private init<S: Record>(
    _ function: Aggregate.Function, _ keyPath: PartialKeyPath<S>, in inverse: InversePath<S, R>
  ) { self.init(function, keyPath, over: R.self[keyPath: inverse].pathName) }
}

extension RelatedValue {
  /// The greatest value among the objects of a to-many relationship; of numbers or dates.
  public static func max<S: Record, P: AttributeValue>(
    _ list: KeyPath<R, [Reference<S>]>, _ keyPath: KeyPath<S, P>
  ) -> RelatedValue where P.Required == V { RelatedValue(.maximum, keyPath, in: list) }

  /// The greatest value among the objects that refer to this one.
  public static func max<S: Record, P: AttributeValue>(
    _ inverse: InversePath<S, R>, _ keyPath: KeyPath<S, P>
  ) -> RelatedValue where P.Required == V { RelatedValue(.maximum, keyPath, in: inverse) }

  /// The least value among the objects of a to-many relationship; of numbers or dates.
  public static func min<S: Record, P: AttributeValue>(
    _ list: KeyPath<R, [Reference<S>]>, _ keyPath: KeyPath<S, P>
  ) -> RelatedValue where P.Required == V { RelatedValue(.minimum, keyPath, in: list) }

  /// The least value among the objects that refer to this one.
  public static func min<S: Record, P: AttributeValue>(
    _ inverse: InversePath<S, R>, _ keyPath: KeyPath<S, P>
  ) -> RelatedValue where P.Required == V { RelatedValue(.minimum, keyPath, in: inverse) }

  /// The sum of the values of a to-many relationship's objects; 0 if there are none. A fetch throws
  /// `.tooLarge` if one is beyond the numbers.
  public static func sum<S: Record, P: AttributeValue>(
    _ list: KeyPath<R, [Reference<S>]>, _ keyPath: KeyPath<S, P>
  ) -> RelatedValue where P.Required == V, V: Numeric { RelatedValue(.sum, keyPath, in: list) }

  /// The sum of the values of the objects that refer to this one, as `sum` of a list.
  public static func sum<S: Record, P: AttributeValue>(
    _ inverse: InversePath<S, R>, _ keyPath: KeyPath<S, P>
  ) -> RelatedValue where P.Required == V, V: Numeric { RelatedValue(.sum, keyPath, in: inverse) }
}

extension RelatedValue where V == Double {
  // Decimals have forms of their own, which win.

  /// The mean of the values of a to-many relationship's objects.
  @_disfavoredOverload
  public static func average<S: Record, P: AttributeValue>(
    _ list: KeyPath<R, [Reference<S>]>, _ keyPath: KeyPath<S, P>
  ) -> RelatedValue where P.Required: Numeric { RelatedValue(.average, keyPath, in: list) }

  /// The mean of the values of the objects that refer to this one.
  @_disfavoredOverload
  public static func average<S: Record, P: AttributeValue>(
    _ inverse: InversePath<S, R>, _ keyPath: KeyPath<S, P>
  ) -> RelatedValue where P.Required: Numeric { RelatedValue(.average, keyPath, in: inverse) }
}

extension RelatedValue where V == Decimal {
  /// The mean of the decimals of a to-many relationship's objects, rounded to 38 digits.
  public static func average<S: Record, P: AttributeValue>(
    _ list: KeyPath<R, [Reference<S>]>, _ keyPath: KeyPath<S, P>
  ) -> RelatedValue where P.Required == Decimal { RelatedValue(.average, keyPath, in: list) }

  /// The mean of the decimals of the objects that refer to this one, rounded to 38 digits.
  public static func average<S: Record, P: AttributeValue>(
    _ inverse: InversePath<S, R>, _ keyPath: KeyPath<S, P>
  ) -> RelatedValue where P.Required == Decimal { RelatedValue(.average, keyPath, in: inverse) }
}

extension RelatedValue {
  private func condition(_ comparison: Condition.Comparison, _ value: V?) -> RecordCondition<R> {
    RecordCondition(.compare(path, comparison, value.map { Value($0) } ?? .null))
  }

  /// Whether it is this value; nil if there is none.
  public static func == (related: RelatedValue, value: V?) -> RecordCondition<R> {
    related.condition(.equal, value)
  }

  /// Whether it is another value, or there is none.
  public static func != (related: RelatedValue, value: V?) -> RecordCondition<R> {
    related.condition(.notEqual, value)
  }

  /// Whether there is one, and it is less.
  public static func < (related: RelatedValue, value: V) -> RecordCondition<R> {
    related.condition(.less, value)
  }

  /// Whether there is one, and it is at most this.
  public static func <= (related: RelatedValue, value: V) -> RecordCondition<R> {
    related.condition(.lessOrEqual, value)
  }

  /// Whether there is one, and it is greater.
  public static func > (related: RelatedValue, value: V) -> RecordCondition<R> {
    related.condition(.greater, value)
  }

  /// Whether there is one, and it is at least this.
  public static func >= (related: RelatedValue, value: V) -> RecordCondition<R> {
    related.condition(.greaterOrEqual, value)
  }
}

extension RecordSortKey {
  /// Objects with fewer related ones come first: `.ascending(.count(\.events))`.
  public static func ascending(_ count: RecordCount<R>) -> RecordSortKey {
    RecordSortKey(SortKey(count.numberPath))
  }

  /// Objects with more related ones come first.
  public static func descending(_ count: RecordCount<R>) -> RecordSortKey {
    RecordSortKey(SortKey(count.numberPath, isDescending: true))
  }

  /// Objects whose related ones have a smaller value come first:
  /// `.ascending(.max(\.events, \.start))`.
  public static func ascending<V>(
    _ related: RelatedValue<R, V>, nils: SortKey.NilPlace = .byDirection
  ) -> RecordSortKey { RecordSortKey(SortKey(related.path, nils: nils)) }

  /// Objects whose related ones have a greater value come first.
  public static func descending<V>(
    _ related: RelatedValue<R, V>, nils: SortKey.NilPlace = .byDirection
  ) -> RecordSortKey { RecordSortKey(SortKey(related.path, isDescending: true, nils: nils)) }
}
