import AnnalsModel

/// A condition on the objects of a record type: a value, made from key paths and operators, that
/// can be combined and kept without a store.
///
///     let soon: RecordCondition<Event> = \.start > .now && \.place == kyoto
///     let foggy = Fetch(Event.self).where(soon || .contains(\.title, "fog", .caseInsensitive))
///
/// The values it compares with, including `.now`, are fixed when it is made. nil equals only nil,
/// so `!=` is true for it; order comparisons are false. Texts are compared by UTF-8 bytes. A key
/// path must lead to a property that the record type lists; any other traps, with a message that
/// names it.
public struct RecordCondition<R: Record>: Sendable {
  /// The same by the names of the record type's properties in a store.
  public let condition: Condition
  /// The stores of the objects that it names.
  package let stores: Set<RawUUID>

  package init(_ condition: Condition, stores: Set<RawUUID> = []) {
    self.condition = condition
    self.stores = stores
  }

  /// A condition that uses the names of a store.
  public init(_ condition: Condition) {
    self.init(condition, stores: [])
  }

  /// Met by every object.
  public static var always: RecordCondition { RecordCondition(.always) }

  /// Met by no object.
  public static var never: RecordCondition { RecordCondition(.never) }
}

extension RecordCondition: Hashable, CustomStringConvertible {
  /// The condition as text, such as `start > 2026-11-23T00:00:00Z AND place == 1#5`.
  public var description: String { condition.description }
}

// Not generic, and without closures, so that long conditions compile quickly.
extension RecordCondition {
  /// Both conditions are met.
  public static func && (a: RecordCondition, b: RecordCondition) -> RecordCondition {
    RecordCondition(.all([a.condition, b.condition]), stores: a.stores.union(b.stores))
  }

  /// At least one condition is met.
  public static func || (a: RecordCondition, b: RecordCondition) -> RecordCondition {
    RecordCondition(.any([a.condition, b.condition]), stores: a.stores.union(b.stores))
  }

  /// The condition is not met.
  public static prefix func ! (a: RecordCondition) -> RecordCondition {
    RecordCondition(a.condition.negated, stores: a.stores)
  }

  /// This condition and the other; this one alone if the other is nil.
  public func and(_ other: RecordCondition?) -> RecordCondition { other.map { self && $0 } ?? self }

  /// This condition or the other; this one alone if the other is nil.
  public func or(_ other: RecordCondition?) -> RecordCondition { other.map { self || $0 } ?? self }
}
