import AnnalsModel

/// What is asked of the objects of a record type: a value, made of key paths and operators, that
/// combines and is kept without any store.
///
///     let soon: RecordCondition<Event> = \.start > .now && \.place == kyoto
///     let foggy = Fetch(Event.self).where(soon || .contains(\.title, "fog", .caseInsensitive))
///
/// What it compares with, also `.now`, is fixed when it is made. nil equals nothing but nil, so
/// that `!=` is true of it; order comparisons with it are false. Texts compare by UTF-8 bytes. A
/// key path must lead to a property that the record type lists; any other ends the program, with a
/// message that names it.
public struct RecordCondition<R: Record>: Sendable {
  /// The same with the names that the record type's properties have in a store.
  public let condition: Condition
  /// The stores whose objects it names.
  package let stores: Set<RawUUID>

  package init(_ condition: Condition, stores: Set<RawUUID> = []) {
    self.condition = condition
    self.stores = stores
  }

  /// A condition that names the properties as a store does.
  public init(_ condition: Condition) {
    self.init(condition, stores: [])
  }

  /// True of every object.
  public static var always: RecordCondition { RecordCondition(.always) }

  /// True of no object.
  public static var never: RecordCondition { RecordCondition(.never) }
}

extension RecordCondition: Hashable, CustomStringConvertible {
  /// The condition as text, such as `start > 2026-11-23T00:00:00Z AND place == 1#5`.
  public var description: String { condition.description }
}

// Not generic, and without closures, so that long conditions compile quickly.
extension RecordCondition {
  /// Both are true.
  public static func && (a: RecordCondition, b: RecordCondition) -> RecordCondition {
    RecordCondition(.all([a.condition, b.condition]), stores: a.stores.union(b.stores))
  }

  /// At least one is true.
  public static func || (a: RecordCondition, b: RecordCondition) -> RecordCondition {
    RecordCondition(.any([a.condition, b.condition]), stores: a.stores.union(b.stores))
  }

  /// The opposite: true of just the objects of which the other is false.
  public static prefix func ! (a: RecordCondition) -> RecordCondition {
    RecordCondition(a.condition.negated, stores: a.stores)
  }

  /// This one and the other are true; this one alone where there is no other.
  public func and(_ other: RecordCondition?) -> RecordCondition { other.map { self && $0 } ?? self }

  /// This one or the other is true; this one alone where there is no other.
  public func or(_ other: RecordCondition?) -> RecordCondition { other.map { self || $0 } ?? self }
}
