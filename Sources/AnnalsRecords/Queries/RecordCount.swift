import AnnalsModel

/// A number of objects, to be compared in a condition: `.count(\.tags) > 3`.
///
/// Objects that were deleted do not count; one that a list has twice counts twice.
public struct RecordCount<R: Record>: Sendable {
  private let path: PropertyPath

  /// The path of the number, for a sort key.
  package var numberPath: PropertyPath { .of(.count, over: path) }

  /// How many objects the to-many relationship leads to.
  public static func count<T: Record>(_ keyPath: KeyPath<R, [Reference<T>]>) -> RecordCount {
    RecordCount(path: PropertyPath(R.entity.propertyName(of: keyPath)))
  }

  /// How many objects refer to this one: `.count(\.events) == 0`. O(log n) for each, by the index
  /// of the relationship.
  public static func count<S: Record>(_ inverse: InversePath<S, R>) -> RecordCount {
    RecordCount(path: PropertyPath(R.self[keyPath: inverse].pathName))
  }

  private func condition(_ comparison: Condition.Comparison, _ number: Int) -> RecordCondition<R> {
    RecordCondition(.count(path, comparison, number))
  }

  /// Whether there are so many.
  public static func == (count: RecordCount, number: Int) -> RecordCondition<R> {
    count.condition(.equal, number)
  }

  /// Whether there are more or fewer.
  public static func != (count: RecordCount, number: Int) -> RecordCondition<R> {
    count.condition(.notEqual, number)
  }

  /// Whether there are fewer.
  public static func < (count: RecordCount, number: Int) -> RecordCondition<R> {
    count.condition(.less, number)
  }

  /// Whether there are at most so many.
  public static func <= (count: RecordCount, number: Int) -> RecordCondition<R> {
    count.condition(.lessOrEqual, number)
  }

  /// Whether there are more.
  public static func > (count: RecordCount, number: Int) -> RecordCondition<R> {
    count.condition(.greater, number)
  }

  /// Whether there are at least so many.
  public static func >= (count: RecordCount, number: Int) -> RecordCondition<R> {
    count.condition(.greaterOrEqual, number)
  }
}
