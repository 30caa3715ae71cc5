import AnnalsModel
import AnnalsQuery
import Foundation

/// What objects are grouped by, with the names of a store: `.value("place")`,
/// `.each(.day, of: "timestamp", in: zone)`.
public struct GroupKey: Hashable, Sendable {
  /// Where the value is that groups.
  public let path: PropertyPath
  /// The span of the calendar that dates are grouped by; nil for the values themselves.
  public let unit: CalendarUnit?
  /// The zone whose calendar it is.
  public let timeZone: TimeZone

  /// The value at this path: objects with the same value, kind and bytes, are one group, and those
  /// without one are another.
  public static func value(_ path: PropertyPath) -> GroupKey {
    GroupKey(path: path, unit: nil, timeZone: .gmt)
  }

  /// The hour, day, week, month or year of the date at this path.
  ///
  /// A text may be a date, too: `2004`, `2004-05`, `2004-05-17`, or RFC 3339. It is grouped as
  /// written, in no zone; one that says less than the unit needs stands for itself. What is no date
  /// is grouped with what is nil.
  public static func each(
    _ unit: CalendarUnit, of path: PropertyPath, in timeZone: TimeZone = .gmt
  ) -> GroupKey {
    GroupKey(path: path, unit: unit, timeZone: timeZone)
  }

  /// The key as the engine has it, of another path.
  func query(_ path: PropertyPath) -> GroupQuery.Key {
    unit.map { .bucket(path, $0, timeZone) } ?? .value(path)
  }
}

/// A group of objects, and what was made of it.
public struct ObjectGroup: Hashable, Sendable {
  /// What its objects have in common.
  public enum Key: Hashable, Sendable {
    /// A value; `.null` for none. Of texts that are dates, what they begin with.
    case value(Value)
    /// A span of the calendar.
    case bucket(CalendarBucket)
  }

  /// What its objects have in common.
  public let key: Key
  /// How many objects it has.
  public let count: Int
  /// What the aggregates give, in their order.
  public let values: [Value]
}

/// What the objects of a record type are grouped by: `.value(\.place)`,
/// `.through(\.place, \.name)`, `.each(.day, of: \.timestamp, in: zone)`.
public struct RecordGroupKey<R: Record, Key: Sendable>: Sendable {
  /// The same with the names that the record type's properties have in a store.
  public let key: GroupKey
  let read: @Sendable (GroupedRows.Key, RawUUID) -> Key?

  private init(
    _ key: GroupKey, _ read: @escaping @Sendable (GroupedRows.Key, RawUUID) -> Key?
  ) {
    self.key = key
    self.read = read
  }
}

extension RecordGroupKey {
  /// The value of a property: objects with the same value, kind and bytes, are one group, and those
  /// without one are another.
  public static func value(_ keyPath: KeyPath<R, Key>) -> RecordGroupKey
  where Key: AttributeValue {
    RecordGroupKey(.value(PropertyPath(R.entity.propertyName(of: keyPath)))) { key, store in
      guard case .value(let value) = key else { return nil }
      return value.read(as: Key.self, in: store)
    }
  }

  /// The value of a property of the object that a relationship leads to:
  /// `.through(\.place, \.name)`; nil where there is none.
  public static func through<D: Record, V: AttributeValue>(
    _ relationship: KeyPath<R, Reference<D>?>, _ keyPath: KeyPath<D, V>
  ) -> RecordGroupKey where Key == V.Required? {
    let path = PropertyPath([
      R.entity.propertyName(of: relationship), D.entity.propertyName(of: keyPath),
    ])
    return RecordGroupKey(.value(path)) { key, store in
      guard case .value(let value) = key else { return nil }
      return value.read(as: V.Required?.self, in: store)
    }
  }

  /// The hour, day, week, month or year of a date, by the calendar of a zone.
  public static func each(
    _ unit: CalendarUnit, of keyPath: KeyPath<R, Date>, in timeZone: TimeZone
  ) -> RecordGroupKey where Key == CalendarBucket {
    bucket(unit, keyPath, timeZone) { $0 }
  }

  /// The hour, day, week, month or year of a date, by the calendar of a zone; nil where there is no
  /// date.
  public static func each(
    _ unit: CalendarUnit, of keyPath: KeyPath<R, Date?>, in timeZone: TimeZone
  ) -> RecordGroupKey where Key == CalendarBucket? {
    bucket(unit, keyPath, timeZone) { .some($0) }
  }

  /// The year, month, week, day or hour of a text that is a date, as written: `2004`, `2004-05`,
  /// `2004-05-17`, or RFC 3339. One that says less than the unit needs stands for itself; nil for
  /// what is no date.
  public static func each(
    _ unit: CalendarUnit, of keyPath: KeyPath<R, String>
  ) -> RecordGroupKey where Key == String? { written(unit, keyPath) }

  /// The year, month, week, day or hour of a text that is a date, as written; nil for what is no
  /// date, and where there is no text.
  public static func each(
    _ unit: CalendarUnit, of keyPath: KeyPath<R, String?>
  ) -> RecordGroupKey where Key == String? { written(unit, keyPath) }

  private static func bucket(
    _ unit: CalendarUnit, _ keyPath: PartialKeyPath<R>, _ timeZone: TimeZone,
    _ make: @escaping @Sendable (CalendarBucket?) -> Key?
  ) -> RecordGroupKey {
    let path = PropertyPath(R.entity.propertyName(of: keyPath))
    return RecordGroupKey(.each(unit, of: path, in: timeZone)) { key, _ in
      switch key {
      case .bucket(let bucket): make(bucket)
      case .value(let value): value.isNull ? make(nil) : nil
      }
    }
  }

  private static func written(
    _ unit: CalendarUnit, _ keyPath: PartialKeyPath<R>
  ) -> RecordGroupKey where Key == String? {
    let path = PropertyPath(R.entity.propertyName(of: keyPath))
    return RecordGroupKey(.each(unit, of: path)) { key, store in
      guard case .value(let value) = key else { return nil }
      return value.read(as: String?.self, in: store)
    }
  }
}

/// A group of objects of a record type, and what was made of it.
public struct RecordGroup<Key: Sendable, Values: Sendable>: Sendable {
  /// What its objects have in common.
  public let key: Key
  /// How many objects it has.
  public let count: Int
  /// What the aggregates give, in their order: of a single one the value itself, of several a
  /// tuple.
  public let values: Values

  package init(key: Key, count: Int, values: Values) {
    self.key = key
    self.count = count
    self.values = values
  }
}
