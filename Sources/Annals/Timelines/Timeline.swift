import AnnalsModel
import Foundation

/// A type that a timeline takes dates from: `Date`, or `String` for dates that are written as text
/// (`2004`, `2004-05`, `2004-05-17`, RFC 3339), `Value` for either, and their optionals. No other
/// type can be one.
public protocol TimelineDate: AttributeValue {}

extension Date: TimelineDate {}
extension String: TimelineDate {}
extension Value: TimelineDate {}
extension Optional: TimelineDate where Wrapped: TimelineDate {}

/// What of a record type's objects a timeline shows, and in what order: a value, for any snapshot
/// of any store, the past as the present.
///
///     let trips = Timeline(start: \Trip.from, end: \.to, openEnd: .whenEndIsNil)
///       .labeled(by: \.title).grouped(by: \.traveller)
///     for row in try store.snapshot().timeline(trips) {
///       print(row.dateText, row.role, row.label, row.elapsed)
///     }
///
/// An object with a start alone is one row; one with an end, two: its start and its end; one that
/// goes on, its start and a row that says so, which stands after every date. Which of these an
/// object is follows from its values alone.
public struct Timeline<R: Record>: Hashable, Sendable {
  /// The same with the names that the record type's properties have in a store.
  public private(set) var definition: TimelineDefinition
  /// Which rows there are, and in what order.
  public var order = TimelineOrder()
  /// The stores whose objects its conditions name.
  package private(set) var stores: Set<RawUUID> = []

  /// The timeline of single dates.
  public init<S: TimelineDate>(start: KeyPath<R, S>, openEnd: OpenEnd = .never) {
    definition = TimelineDefinition(
      R.entity.name, start: Timeline.path(start), openEnd: openEnd.form)
  }

  /// The timeline of what starts and ends; `openEnd` says what makes it ongoing.
  public init<S: TimelineDate, E: TimelineDate>(
    start: KeyPath<R, S>, end: KeyPath<R, E>, openEnd: OpenEnd = .never
  ) {
    definition = TimelineDefinition(
      R.entity.name, start: Timeline.path(start), end: Timeline.path(end), openEnd: openEnd.form)
  }

  static func path(_ keyPath: PartialKeyPath<R>) -> PropertyPath {
    PropertyPath(R.entity.propertyName(of: keyPath))
  }

  private func with(_ change: (inout Timeline) -> Void) -> Timeline {
    var copy = self
    change(&copy)
    return copy
  }
}

extension Timeline {
  /// What makes an object ongoing.
  public struct OpenEnd: Sendable {
    let form: TimelineDefinition.OpenEnd

    /// Nothing: without an end it is a single date.
    public static var never: OpenEnd { OpenEnd(form: .never) }

    /// That it has no end.
    public static var whenEndIsNil: OpenEnd { OpenEnd(form: .whenEndIsNil) }

    /// That the property is true, whatever the end says.
    public static func flag<V: AttributeValue>(
      _ keyPath: KeyPath<R, V>
    ) -> OpenEnd where V.Required == Bool { OpenEnd(form: .flag(path(keyPath))) }

    /// That the property is stored as the text `ongoing`; stored as `single`, the object is a
    /// single date, and as anything else a range if it has an end.
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

  /// The end counts only where the condition is true; elsewhere the object is a single date.
  public func endCounts(where condition: RecordCondition<R>) -> Timeline {
    with {
      $0.definition.endCondition = condition.condition
      $0.stores.formUnion(condition.stores)
    }
  }

  /// Only the objects of which the condition is true, and those given before; nil changes nothing.
  public func `where`(_ condition: RecordCondition<R>?) -> Timeline {
    guard let condition else { return self }
    return with {
      $0.definition.condition = condition.condition.and($0.definition.condition)
      $0.stores.formUnion(condition.stores)
    }
  }

  /// In groups by a property: an attribute, or a relationship to one object.
  public func grouped<V: AttributeValue>(by keyPath: KeyPath<R, V>) -> Timeline {
    with { $0.definition.group = Timeline.path(keyPath) }
  }

  /// Each object is called by a property; by a relationship, after the object that it leads to.
  public func labeled<V: AttributeValue>(by keyPath: KeyPath<R, V>) -> Timeline {
    with { $0.definition.label = Timeline.path(keyPath) }
  }

  /// In the order of the dates, or in the exact reverse.
  public func sorted(_ direction: SortDirection) -> Timeline {
    with { $0.order.isDescending = direction == .descending }
  }

  /// Without rows for the ends of ranges: these have one row, by their start.
  public func hidingEnds(_ isHiding: Bool = true) -> Timeline {
    with { $0.order.hidesEnds = isHiding }
  }

  /// Without the rows that say that something goes on.
  public func hidingOngoing(_ isHiding: Bool = true) -> Timeline {
    with { $0.order.hidesOngoing = isHiding }
  }

  /// The rows that say that something goes on stand after every date, or at the time now.
  public func ongoing(_ place: TimelineOrder.OngoingPlace) -> Timeline {
    with { $0.order.ongoing = place }
  }
}
