import AnnalsModel

/// One sort key of an order of objects: `.descending(\.start)`, `.ascending(\.title, nils: .last)`.
///
/// Objects without a value come first when ascending and last when descending, unless `nils` says
/// otherwise. Objects that are equal in all keys come in id order, in the last key's direction.
public struct RecordSortKey<R: Record>: Hashable, Sendable {
  /// The same by the names of the record type's properties in a store.
  public let key: SortKey

  init(_ key: SortKey) { self.key = key }

  private init(
    _ path: [String], isDescending: Bool, _ nils: SortKey.NilPlace, _ order: SortKey.TextOrder
  ) {
    key = SortKey(PropertyPath(path), isDescending: isDescending, nils: nils, textOrder: order)
  }

  /// Smaller values come first.
  public static func ascending<V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, nils: SortKey.NilPlace = .byDirection,
    textOrder: SortKey.TextOrder = .binary
  ) -> RecordSortKey {
    RecordSortKey([R.entity.propertyName(of: keyPath)], isDescending: false, nils, textOrder)
  }

  /// Greater values come first.
  public static func descending<V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, nils: SortKey.NilPlace = .byDirection,
    textOrder: SortKey.TextOrder = .binary
  ) -> RecordSortKey {
    RecordSortKey([R.entity.propertyName(of: keyPath)], isDescending: true, nils, textOrder)
  }

  /// Sorts by a property of the object that a relationship leads to: `.ascending(\.place, \.name)`.
  public static func ascending<T: ToOneReference, V: AttributeValue>(
    _ relationship: KeyPath<R, T>, _ keyPath: KeyPath<T.Destination, V>,
    nils: SortKey.NilPlace = .byDirection, textOrder: SortKey.TextOrder = .binary
  ) -> RecordSortKey {
    RecordSortKey(
      [R.entity.propertyName(of: relationship), T.Destination.entity.propertyName(of: keyPath)],
      isDescending: false, nils, textOrder)
  }

  /// Sorts by a property of the object that a relationship leads to, greater values first.
  public static func descending<T: ToOneReference, V: AttributeValue>(
    _ relationship: KeyPath<R, T>, _ keyPath: KeyPath<T.Destination, V>,
    nils: SortKey.NilPlace = .byDirection, textOrder: SortKey.TextOrder = .binary
  ) -> RecordSortKey {
    RecordSortKey(
      [R.entity.propertyName(of: relationship), T.Destination.entity.propertyName(of: keyPath)],
      isDescending: true, nils, textOrder)
  }
}
