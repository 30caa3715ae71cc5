import AnnalsModel
import AnnalsQuery
import Foundation

/// How rows are divided into sections, by names.
///
/// The section's value is the first sort key; it is added in front if it is not.
public struct ListSections: Hashable, Sendable {
  let path: PropertyPath
  let rule: SectionRule

  /// One section for each value.
  public static func by(_ path: PropertyPath) -> ListSections {
    ListSections(path: path, rule: .value)
  }

  /// One section for each hour, day, week, month or year of the calendar.
  public static func calendar(
    _ unit: CalendarUnit, of path: PropertyPath, in timeZone: TimeZone = .gmt
  ) -> ListSections {
    ListSections(path: path, rule: .calendar(unit, timeZone))
  }
}

/// How objects of a record type are divided into sections: `.calendar(.month, of: \.start)`.
///
/// The section's value is the first sort key; it is added in front if it is not.
public struct RecordSections<R: Record>: Hashable, Sendable {
  /// The same by the names of the record type's properties in a store.
  public let sections: ListSections

  /// One section for each value.
  public static func by<V: AttributeValue>(_ keyPath: KeyPath<R, V>) -> RecordSections {
    RecordSections(sections: .by([R.entity.propertyName(of: keyPath)]))
  }

  /// One section for each value of a related object's property: `.by(\.place, \.name)`.
  public static func by<T: ToOneReference, V: AttributeValue>(
    _ relationship: KeyPath<R, T>, _ keyPath: KeyPath<T.Destination, V>
  ) -> RecordSections {
    RecordSections(
      sections: .by([
        R.entity.propertyName(of: relationship), T.Destination.entity.propertyName(of: keyPath),
      ]))
  }

  /// One section for each unit of the calendar, and one for objects without a date.
  public static func calendar<V: AttributeValue>(
    _ unit: CalendarUnit, of keyPath: KeyPath<R, V>, in timeZone: TimeZone = .gmt
  ) -> RecordSections where V.Required == Date {
    RecordSections(
      sections: .calendar(unit, of: [R.entity.propertyName(of: keyPath)], in: timeZone))
  }

  /// One section for each day, week, month or year of a calendar day, and one for objects without
  /// one. The buckets begin and end in UTC.
  public static func calendar<V: AttributeValue>(
    _ unit: CalendarUnit, of keyPath: KeyPath<R, V>
  ) -> RecordSections where V.Required == CalendarDay {
    RecordSections(sections: .calendar(unit, of: [R.entity.propertyName(of: keyPath)], in: .gmt))
  }
}
