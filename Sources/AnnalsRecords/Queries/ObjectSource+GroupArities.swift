import AnnalsEngine
import AnnalsModel

// Groups with up to three aggregates, and with more. One form for any number is not enough: where a
// result with a pack of types is an argument of another call, the compiler does not find its
// members (`print(try snapshot.groups(…).count)`), and cannot say why.

extension ObjectSource {
  /// The objects that the fetch finds, in groups, with the count and the aggregates of each:
  ///
  ///     let days = try snapshot.groups(
  ///       foggy, by: .each(.day, of: \.start, in: .current), .sum(\.views), .maximum(\.rating))
  ///     for day in days { print(day.key.label, day.count, day.values.0 ?? 0) }
  ///
  /// Groups are sorted by their keys, ascending and nil first, or as the fetch's first sort key
  /// says if it is of the same property; other sort keys have no effect. The fetch's limit and
  /// offset count groups.
  ///
  /// Counts alone cost O(log n) for each group if an index begins with the property and covers the
  /// condition; everything else costs O(objects found). Doubles are summed in any order, so the
  /// rounding may differ. Throws as `fetch(_:)` does, and `.tooLarge` if a sum exceeds the integers
  /// of 64 bits.
  public func groups<R: Record, Key>(
    _ fetch: Fetch<R>, by key: RecordGroupKey<R, Key>
  ) throws(AnnalsError) -> [RecordGroup<Key, ()>] { try grouped(fetch, by: key) }

  /// The objects that the fetch finds, grouped by a property; see the form with a key.
  public func groups<R: Record, Key: AttributeValue>(
    _ fetch: Fetch<R>, by keyPath: KeyPath<R, Key>
  ) throws(AnnalsError) -> [RecordGroup<Key, ()>] { try grouped(fetch, by: .value(keyPath)) }

  /// The objects that the fetch finds, in groups, with one aggregate.
  public func groups<R: Record, Key, A>(
    _ fetch: Fetch<R>, by key: RecordGroupKey<R, Key>,
    _ a: RecordAggregate<R, A>
  ) throws(AnnalsError) -> [RecordGroup<Key, A>] {
    try grouped(fetch, by: key, a)
  }

  /// The objects that the fetch finds, in groups by a property, with one aggregate.
  public func groups<R: Record, Key: AttributeValue, A>(
    _ fetch: Fetch<R>, by keyPath: KeyPath<R, Key>,
    _ a: RecordAggregate<R, A>
  ) throws(AnnalsError) -> [RecordGroup<Key, A>] {
    try grouped(fetch, by: .value(keyPath), a)
  }

  /// The objects that the fetch finds, in groups, with two aggregates.
  public func groups<R: Record, Key, A, B>(
    _ fetch: Fetch<R>, by key: RecordGroupKey<R, Key>,
    _ a: RecordAggregate<R, A>, _ b: RecordAggregate<R, B>
  ) throws(AnnalsError) -> [RecordGroup<Key, (A, B)>] {
    try grouped(fetch, by: key, a, b)
  }

  /// The objects that the fetch finds, in groups by a property, with two aggregates.
  public func groups<R: Record, Key: AttributeValue, A, B>(
    _ fetch: Fetch<R>, by keyPath: KeyPath<R, Key>,
    _ a: RecordAggregate<R, A>, _ b: RecordAggregate<R, B>
  ) throws(AnnalsError) -> [RecordGroup<Key, (A, B)>] {
    try grouped(fetch, by: .value(keyPath), a, b)
  }

  /// The objects that the fetch finds, in groups, with three aggregates.
  public func groups<R: Record, Key, A, B, C>(
    _ fetch: Fetch<R>, by key: RecordGroupKey<R, Key>,
    _ a: RecordAggregate<R, A>, _ b: RecordAggregate<R, B>, _ c: RecordAggregate<R, C>
  ) throws(AnnalsError) -> [RecordGroup<Key, (A, B, C)>] {
    try grouped(fetch, by: key, a, b, c)
  }

  /// The objects that the fetch finds, in groups by a property, with three aggregates.
  public func groups<R: Record, Key: AttributeValue, A, B, C>(
    _ fetch: Fetch<R>, by keyPath: KeyPath<R, Key>,
    _ a: RecordAggregate<R, A>, _ b: RecordAggregate<R, B>, _ c: RecordAggregate<R, C>
  ) throws(AnnalsError) -> [RecordGroup<Key, (A, B, C)>] {
    try grouped(fetch, by: .value(keyPath), a, b, c)
  }

  /// The objects that the fetch finds, in groups, with four aggregates or more.
  public func groups<R: Record, Key, A, B, C, D, each E>(
    _ fetch: Fetch<R>, by key: RecordGroupKey<R, Key>,
    _ a: RecordAggregate<R, A>, _ b: RecordAggregate<R, B>, _ c: RecordAggregate<R, C>,
    _ d: RecordAggregate<R, D>, _ more: repeat RecordAggregate<R, each E>
  ) throws(AnnalsError) -> [RecordGroup<Key, (A, B, C, D, repeat each E)>] {
    try grouped(fetch, by: key, a, b, c, d, repeat each more)
  }

  /// The objects that the fetch finds, in groups by a property, with four aggregates or more.
  public func groups<R: Record, Key: AttributeValue, A, B, C, D, each E>(
    _ fetch: Fetch<R>, by keyPath: KeyPath<R, Key>,
    _ a: RecordAggregate<R, A>, _ b: RecordAggregate<R, B>, _ c: RecordAggregate<R, C>,
    _ d: RecordAggregate<R, D>, _ more: repeat RecordAggregate<R, each E>
  ) throws(AnnalsError) -> [RecordGroup<Key, (A, B, C, D, repeat each E)>] {
    try grouped(fetch, by: .value(keyPath), a, b, c, d, repeat each more)
  }
}
