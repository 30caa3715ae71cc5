import AnnalsModel
import AnnalsQuery
import Foundation

/// How rows are divided into sections, by names.
///
/// What the sections go by is the first sort key; it is put before the others if it is not.
public struct ListSections: Hashable, Sendable {
  let path: PropertyPath
  let rule: SectionRule

  /// Rows with equal values are one section.
  public static func by(_ path: PropertyPath) -> ListSections {
    ListSections(path: path, rule: .value)
  }

  /// Rows whose dates are in one bucket of the calendar are one section.
  public static func calendar(
    _ unit: CalendarUnit, of path: PropertyPath, in timeZone: TimeZone = .gmt
  ) -> ListSections {
    ListSections(path: path, rule: .calendar(unit, timeZone))
  }
}

/// How objects of a record type are divided into sections: `.calendar(.month, of: \.start)`.
///
/// What the sections go by is the first sort key; it is put before the others if it is not.
public struct RecordSections<R: Record>: Hashable, Sendable {
  /// The same with the names that the record type's properties have in a store.
  public let sections: ListSections

  /// Objects with equal values are one section.
  public static func by<V: AttributeValue>(_ keyPath: KeyPath<R, V>) -> RecordSections {
    RecordSections(sections: .by([R.entity.propertyName(of: keyPath)]))
  }

  /// Objects are one section whose relationship leads to objects with equal values:
  /// `.by(\.place, \.name)`.
  public static func by<D: Record, V: AttributeValue>(
    _ relationship: KeyPath<R, Reference<D>?>, _ keyPath: KeyPath<D, V>
  ) -> RecordSections {
    RecordSections(
      sections: .by([
        R.entity.propertyName(of: relationship), D.entity.propertyName(of: keyPath),
      ]))
  }

  /// Objects whose dates are in one bucket of the calendar are one section; those without a date
  /// are one, too.
  public static func calendar<V: AttributeValue>(
    _ unit: CalendarUnit, of keyPath: KeyPath<R, V>, in timeZone: TimeZone = .gmt
  ) -> RecordSections where V.Required == Date {
    RecordSections(
      sections: .calendar(unit, of: [R.entity.propertyName(of: keyPath)], in: timeZone))
  }
}
