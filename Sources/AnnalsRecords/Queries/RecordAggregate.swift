import AnnalsModel
import Foundation

/// A result computed from one property of many objects: `.sum(\.price)`, `.maximum(\.start)`.
/// Ignores nil.
public struct RecordAggregate<R: Record, Result: Sendable>: Sendable {
  /// The same by the names of the record type's properties in a store.
  public let aggregate: Aggregate
  let read: @Sendable (Value, RawUUID) -> Result?

  private init<V: AttributeValue>(
    _ function: Aggregate.Function, _ keyPath: KeyPath<R, V>
  ) where Result: AttributeValue {
    aggregate = Aggregate(function, of: PropertyPath(R.entity.propertyName(of: keyPath)))
    read = { value, store in value.read(as: Result.self, in: store) }
  }

  /// How many objects have a value.
  public static func count<V: AttributeValue>(of keyPath: KeyPath<R, V>) -> RecordAggregate
  where Result == Int {
    RecordAggregate(.count, keyPath)
  }

  /// The exact sum of integers; nil if there are none. The call throws `.tooLarge` if it exceeds
  /// the integers of 64 bits.
  public static func sum<V: AttributeValue>(_ keyPath: KeyPath<R, V>) -> RecordAggregate
  where V.Required: BinaryInteger, Result == Int? {
    RecordAggregate(.sum, keyPath)
  }

  /// The sum of doubles, with their rounding but in whatever order; nil if there are none. The call
  /// throws `.tooLarge` if it exceeds the doubles.
  public static func sum<V: AttributeValue>(_ keyPath: KeyPath<R, V>) -> RecordAggregate
  where V.Required: BinaryFloatingPoint, Result == Double? {
    RecordAggregate(.sum, keyPath)
  }

  /// The exact sum of decimals; nil if there are none. The call throws `.tooLarge` if it has more
  /// than 38 digits.
  public static func sum<V: AttributeValue>(_ keyPath: KeyPath<R, V>) -> RecordAggregate
  where V.Required == Decimal, Result == Decimal? {
    RecordAggregate(.sum, keyPath)
  }

  /// The mean of integers; nil if there are none.
  public static func average<V: AttributeValue>(_ keyPath: KeyPath<R, V>) -> RecordAggregate
  where V.Required: BinaryInteger, Result == Double? {
    RecordAggregate(.average, keyPath)
  }

  /// The mean of doubles; nil if there are none.
  public static func average<V: AttributeValue>(_ keyPath: KeyPath<R, V>) -> RecordAggregate
  where V.Required: BinaryFloatingPoint, Result == Double? {
    RecordAggregate(.average, keyPath)
  }

  /// The mean of decimals, rounded to 38 digits, of two equally near ones to the one whose last
  /// digit is even; nil if there are none.
  public static func average<V: AttributeValue>(_ keyPath: KeyPath<R, V>) -> RecordAggregate
  where V.Required == Decimal, Result == Decimal? {
    RecordAggregate(.average, keyPath)
  }

  /// The least value; nil if there is none.
  public static func minimum<V: AttributeValue>(_ keyPath: KeyPath<R, V>) -> RecordAggregate
  where V.Required: OrderedValue, Result == V.Required? {
    RecordAggregate(.minimum, keyPath)
  }

  /// The greatest value; nil if there is none.
  public static func maximum<V: AttributeValue>(_ keyPath: KeyPath<R, V>) -> RecordAggregate
  where V.Required: OrderedValue, Result == V.Required? {
    RecordAggregate(.maximum, keyPath)
  }
}

extension Value {
  /// What a property of this type reads from the stored value; nil if it does not fit the type.
  func read<V: AttributeValue>(as type: V.Type, in store: RawUUID) -> V? {
    if V._isRelationship {
      switch self {
      case .null: return V._read([])
      case .object(let object):
        return V._read([ObjectID(store: store, entity: object.entity, row: object.row)])
      default: return nil
      }
    }
    return decoded(as: type)
  }
}
