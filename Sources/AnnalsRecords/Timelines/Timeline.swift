import AnnalsModel
import Foundation

/// A type of a timeline's dates: `Date`, `CalendarDay`, or `String` for dates written as text
/// (`2004`, `2004-05`, `2004-05-17`, RFC 3339), `Value` for any of them, and their optionals. No
/// other type may conform.
public protocol TimelineDate: AttributeValue {}

extension Date: TimelineDate {}
extension CalendarDay: TimelineDate {}
extension String: TimelineDate {}
extension Value: TimelineDate {}
extension Optional: TimelineDate where Wrapped: TimelineDate {}

/// A timeline of a record type's objects: what to show and in what order. A value, for any snapshot
/// of any store, present or past.
///
///     let trips = Timeline(start: \Trip.from, end: \.to, openEnd: .whenEndIsNil)
///       .labeled(by: \.title).grouped(by: \.traveller)
///     for row in try store.snapshot().timeline(trips) {
///       print(row.dateText, row.role, row.label, row.elapsed)
///     }
///
/// An object with only a start is one row; one with an end is two: start and end; an ongoing one is
/// two: its start, and a row after every date that says so. Which of these an object is follows
/// from its values alone.
public struct Timeline<R: Record>: Hashable, Sendable {
  /// The same by the names of the record type's properties in a store.
  public private(set) var definition: TimelineDefinition
  /// Which rows there are, and in what order.
  public var order = TimelineOrder()
  /// The stores of the objects that its conditions name.
  package private(set) var stores: Set<RawUUID> = []

  /// A timeline of single dates.
  public init<S: TimelineDate>(start: KeyPath<R, S>, openEnd: OpenEnd = .never) {
    definition = TimelineDefinition(
      R.entity.name, start: Timeline.path(start), openEnd: openEnd.form)
  }

  /// A timeline of objects that start and end; `openEnd` says what makes one ongoing.
  public init<S: TimelineDate, E: TimelineDate>(
    start: KeyPath<R, S>, end: KeyPath<R, E>, openEnd: OpenEnd = .never
  ) {
    definition = TimelineDefinition(
      R.entity.name, start: Timeline.path(start), end: Timeline.path(end), openEnd: openEnd.form)
  }

  static func path(_ keyPath: PartialKeyPath<R>) -> PropertyPath {
    PropertyPath(R.entity.propertyName(of: keyPath))
  }
}

extension Timeline {
  /// What makes an object ongoing.
  public struct OpenEnd: Sendable {
    let form: TimelineDefinition.OpenEnd

    /// Nothing: an object without an end is a single date.
    public static var never: OpenEnd { OpenEnd(form: .never) }

    /// The end is nil.
    public static var whenEndIsNil: OpenEnd { OpenEnd(form: .whenEndIsNil) }

    /// The property is true, whatever the end is.
    public static func flag<V: AttributeValue>(
      _ keyPath: KeyPath<R, V>
    ) -> OpenEnd where V.Required == Bool { OpenEnd(form: .flag(path(keyPath))) }

    /// The property is stored as the text `ongoing`. Stored as `single`, the object is a single
    /// date; as anything else, a range if it has an end.
    public static func kind<V: AttributeValue>(_ keyPath: KeyPath<R, V>) -> OpenEnd {
      OpenEnd(form: .kind(path(keyPath)))
    }

    /// As the other form, with the values that stand for the kinds.
    public static func kind<V: AttributeValue>(
      _ keyPath: KeyPath<R, V>, single: V.Required, range: V.Required, ongoing: V.Required
    ) -> OpenEnd {
      OpenEnd(
        form: .kind(
          path(keyPath),
          TimelineDefinition.KindValues(
            single: Value.whole(single), range: Value.whole(range), ongoing: Value.whole(ongoing))))
    }
  }

  /// Counts the end only for objects that meet the condition; others are single dates.
  public func endCounts(where condition: RecordCondition<R>) -> Timeline {
    changing(self) {
      $0.definition.endCondition = condition.condition
      $0.stores.formUnion(condition.stores)
    }
  }

  /// Keeps only objects that meet the condition, in addition to earlier ones; nil changes nothing.
  public func `where`(_ condition: RecordCondition<R>?) -> Timeline {
    guard let condition else { return self }
    return changing(self) {
      $0.definition.condition = condition.condition.and($0.definition.condition)
      $0.stores.formUnion(condition.stores)
    }
  }

  /// Groups the objects by a property: an attribute, or a relationship to one object.
  public func grouped<V: AttributeValue>(by keyPath: KeyPath<R, V>) -> Timeline {
    changing(self) { $0.definition.group = Timeline.path(keyPath) }
  }

  /// Labels the objects by a property; by a relationship, with the name of the object that it leads
  /// to.
  public func labeled<V: AttributeValue>(by keyPath: KeyPath<R, V>) -> Timeline {
    changing(self) { $0.definition.label = Timeline.path(keyPath) }
  }

  /// Labels the objects by how many others are related: `.labeled(by: .count(\.events))`.
  public func labeled(by count: RecordCount<R>) -> Timeline {
    changing(self) { $0.definition.label = count.numberPath }
  }

  /// Labels the objects by one value of related ones: `.labeled(by: .max(\.events, \.start))`.
  public func labeled<V>(by related: RelatedValue<R, V>) -> Timeline {
    changing(self) { $0.definition.label = related.path }
  }

  /// Orders the rows by date, or in the exact reverse.
  public func sorted(_ direction: SortDirection) -> Timeline {
    changing(self) { $0.order.isDescending = direction == .descending }
  }

  /// Leaves out the rows for the ends of ranges.
  public func hidingEnds(_ isHiding: Bool = true) -> Timeline {
    changing(self) { $0.order.hidesEnds = isHiding }
  }

  /// Leaves out the rows for ongoing objects.
  public func hidingOngoing(_ isHiding: Bool = true) -> Timeline {
    changing(self) { $0.order.hidesOngoing = isHiding }
  }

  /// Places the rows of ongoing objects after every date, or at the present time.
  public func ongoing(_ place: TimelineOrder.OngoingPlace) -> Timeline {
    changing(self) { $0.order.ongoing = place }
  }
}
