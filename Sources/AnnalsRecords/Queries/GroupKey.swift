import AnnalsModel
import AnnalsQuery
import Foundation

/// What objects are grouped by, by names of a store: `.value("place")`, `.each(.day, of:
/// "timestamp", in: zone)`.
public struct GroupKey: Hashable, Sendable {
  /// The path of the value to group by.
  public let path: PropertyPath
  /// The calendar unit that dates are grouped by; nil to group by the values themselves.
  public let unit: CalendarUnit?
  /// The time zone of the calendar.
  public let timeZone: TimeZone
  /// The clock by which the command groups, in whatever zone the system has.
  private var clock: ZoneClock?

  /// Groups by the value at this path. Objects whose values are equal in kind and bytes are one
  /// group; those without a value are another.
  public static func value(_ path: PropertyPath) -> GroupKey {
    GroupKey(path, nil, .gmt)
  }

  /// Groups by the hour, day, week, month or year of the date at this path.
  ///
  /// A text may be a date too: `2004`, `2004-05`, `2004-05-17`, or RFC 3339. It is grouped as
  /// written, in no zone; one that is less precise than the unit is a group of its own. Values that
  /// are not dates are grouped with nil. A day has no zone: its bucket begins and ends in UTC, and
  /// an hour is its day.
  public static func each(
    _ unit: CalendarUnit, of path: PropertyPath, in timeZone: TimeZone = .gmt
  ) -> GroupKey {
    GroupKey(path, unit, timeZone)
  }

  /// The same by a clock alone.
  package static func each(
    _ unit: CalendarUnit, of path: PropertyPath, by clock: ZoneClock
  ) -> GroupKey {
    var key = GroupKey(path, unit, .gmt)
    key.clock = clock
    return key
  }

  private init(_ path: PropertyPath, _ unit: CalendarUnit?, _ timeZone: TimeZone) {
    self.path = path
    self.unit = unit
    self.timeZone = timeZone
  }

  /// The engine's form of the key, for another path.
  func query(_ path: PropertyPath) -> GroupQuery.Key {
    unit.map { .bucket(path, $0, clock ?? ZoneClock(timeZone)) } ?? .value(path)
  }

  /// Whether path, unit and zone are equal.
  public static func == (a: GroupKey, b: GroupKey) -> Bool {
    a.path == b.path && a.unit == b.unit && a.timeZone == b.timeZone
  }

  /// Hashes path, unit and zone.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(unit)
    hasher.combine(timeZone)
  }
}

/// A group of objects, with its aggregates.
public struct DynamicGroup: Hashable, Sendable {
  /// What a group's objects have in common.
  public enum Key: Hashable, Sendable {
    /// A value; `.null` for none. For texts that are dates, their common beginning.
    case value(Value)
    /// A unit of the calendar.
    case bucket(CalendarBucket)
  }

  /// What the objects have in common.
  public let key: Key
  /// The number of objects.
  public let count: Int
  /// The results of the aggregates, in their order.
  public let values: [Value]
}

/// What the objects of a record type are grouped by: `.value(\.place)`, `.through(\.place,
/// \.name)`, `.each(.day, of: \.timestamp, in: zone)`.
public struct RecordGroupKey<R: Record, Key: Sendable>: Sendable {
  /// The same by the names of the record type's properties in a store.
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
  /// Groups by the value of a property. Objects whose values are equal in kind and bytes are one
  /// group; those without a value are another.
  public static func value(_ keyPath: KeyPath<R, Key>) -> RecordGroupKey
  where Key: AttributeValue {
    RecordGroupKey(.value(PropertyPath(R.entity.propertyName(of: keyPath)))) { key, store in
      guard case .value(let value) = key else { return nil }
      return value.read(as: Key.self, in: store)
    }
  }

  /// Groups by a property of the object that a relationship leads to: `.through(\.place, \.name)`;
  /// nil if there is none.
  public static func through<T: ToOneReference, V: AttributeValue>(
    _ relationship: KeyPath<R, T>, _ keyPath: KeyPath<T.Destination, V>
  ) -> RecordGroupKey where Key == V.Required? {
    let path = PropertyPath([
      R.entity.propertyName(of: relationship), T.Destination.entity.propertyName(of: keyPath),
    ])
    return RecordGroupKey(.value(path)) { key, store in
      guard case .value(let value) = key else { return nil }
      return value.read(as: V.Required?.self, in: store)
    }
  }

  /// Groups by the hour, day, week, month or year of a date, in the calendar of a time zone.
  public static func each(
    _ unit: CalendarUnit, of keyPath: KeyPath<R, Date>, in timeZone: TimeZone
  ) -> RecordGroupKey where Key == CalendarBucket {
    bucket(unit, keyPath, timeZone) { $0 }
  }

  /// Groups by the hour, day, week, month or year of a date, in the calendar of a time zone; nil
  /// for no date.
  public static func each(
    _ unit: CalendarUnit, of keyPath: KeyPath<R, Date?>, in timeZone: TimeZone
  ) -> RecordGroupKey where Key == CalendarBucket? {
    bucket(unit, keyPath, timeZone) { .some($0) }
  }

  /// Groups by the day, week, month or year of a calendar day. The buckets begin and end in UTC.
  public static func each(
    _ unit: CalendarUnit, of keyPath: KeyPath<R, CalendarDay>
  ) -> RecordGroupKey where Key == CalendarBucket {
    bucket(unit, keyPath, .gmt) { $0 }
  }

  /// Groups by the day, week, month or year of a calendar day; nil for none.
  public static func each(
    _ unit: CalendarUnit, of keyPath: KeyPath<R, CalendarDay?>
  ) -> RecordGroupKey where Key == CalendarBucket? {
    bucket(unit, keyPath, .gmt) { .some($0) }
  }

  /// Groups by the year, month, week, day or hour of a text that is a date, as written: `2004`,
  /// `2004-05`, `2004-05-17`, or RFC 3339. One that is less precise than the unit is a group of its
  /// own; nil for texts that are not dates.
  public static func each(
    _ unit: CalendarUnit, of keyPath: KeyPath<R, String>
  ) -> RecordGroupKey where Key == String? { written(unit, keyPath) }

  /// Groups by the year, month, week, day or hour of a text that is a date, as written; nil for
  /// texts that are not dates, and for no text.
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

/// A group of objects of a record type, with its aggregates.
public struct RecordGroup<Key: Sendable, Values: Sendable>: Sendable {
  /// What the objects have in common.
  public let key: Key
  /// The number of objects.
  public let count: Int
  /// The results of the aggregates, in their order: a single result by itself, several as a tuple.
  public let values: Values

  package init(key: Key, count: Int, values: Values) {
    self.key = key
    self.count = count
    self.values = values
  }
}
