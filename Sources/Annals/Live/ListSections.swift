import AnnalsModel
import AnnalsQuery
import Foundation

/// How rows are divided into sections, by names.
///
/// The section's value is the first sort key; it is added in front if it is not.
public struct ListSections: Hashable, Sendable {
  let path: PropertyPath
  let rule: SectionRule
  /// The values whose sections come first.
  var order: [Value] = []

  /// One section for each value. Those of the values in `order` come first, as they are listed
  /// there; of other values, in the order of the values.
  ///
  /// Rows without a value come where they do without `order`, unless null is listed. Reading the
  /// rows throws if a listed value is of another kind than the property.
  public static func by(_ path: PropertyPath, order: [Value] = []) -> ListSections {
    ListSections(path: path, rule: .value, order: order)
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

  /// One section for each value. Those of the values in `order` come first, as they are listed
  /// there: `.by(\.priority, order: ["high", "normal", "low"])`; then those of other values, in
  /// the order of the values.
  ///
  /// Rows without a value come where they do without `order`, unless nil is listed.
  public static func by<V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, order: [V] = []
  ) -> RecordSections {
    let property = R.entity.definition(of: keyPath)
    return RecordSections(
      sections: .by([property.name], order: order.map { property.single($0) }))
  }

  /// One section for each value of a related object's property: `.by(\.place, \.name)`; in the
  /// order of the other form.
  public static func by<T: ToOneReference, V: AttributeValue>(
    _ relationship: KeyPath<R, T>, _ keyPath: KeyPath<T.Destination, V>, order: [V] = []
  ) -> RecordSections {
    let property = T.Destination.entity.definition(of: keyPath)
    return RecordSections(
      sections: .by(
        [R.entity.propertyName(of: relationship), property.name],
        order: order.map { property.single($0) }))
  }

  /// One section for each number of related objects: `.by(.count(\.events))`.
  public static func by(_ count: RecordCount<R>, order: [Int] = []) -> RecordSections {
    RecordSections(sections: .by(count.numberPath, order: order.map { .int(Int64($0)) }))
  }

  /// One section for each value of a function of related objects: `.by(.max(\.events, \.rank))`.
  public static func by<V>(_ related: RelatedValue<R, V>, order: [V] = []) -> RecordSections {
    RecordSections(sections: .by(related.path, order: order.map { Value($0) }))
  }

  /// One section for each unit of the calendar that a date of related objects lies in:
  /// `.calendar(.month, of: .max(\.events, \.start))`.
  public static func calendar(
    _ unit: CalendarUnit, of related: RelatedValue<R, Date>, in timeZone: TimeZone = .gmt
  ) -> RecordSections {
    RecordSections(sections: .calendar(unit, of: related.path, in: timeZone))
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
