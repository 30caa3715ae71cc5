import AnnalsModel

/// A number or a value made of one property of many records: `.sum(\.price)`, `.maximum(\.start)`.
/// nil counts for none of them.
public struct RecordAggregate<R: Record, Result: Sendable>: Sendable {
  /// The same with the names that the record type's properties have in a store.
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

  /// The sum of whole numbers, exactly; nil of none. What it is asked of throws `.tooLarge` if it
  /// is beyond the whole numbers of 64 bits.
  public static func sum<V: AttributeValue>(_ keyPath: KeyPath<R, V>) -> RecordAggregate
  where V.Required: BinaryInteger, Result == Int? {
    RecordAggregate(.sum, keyPath)
  }

  /// The sum of numbers, with the rounding of a double; nil of none.
  public static func sum<V: AttributeValue>(_ keyPath: KeyPath<R, V>) -> RecordAggregate
  where V.Required: BinaryFloatingPoint, Result == Double? {
    RecordAggregate(.sum, keyPath)
  }

  /// The mean of numbers; nil of none.
  public static func average<V: AttributeValue>(_ keyPath: KeyPath<R, V>) -> RecordAggregate
  where V.Required: Numeric, Result == Double? {
    RecordAggregate(.average, keyPath)
  }

  /// The least value; nil of none.
  public static func minimum<V: AttributeValue>(_ keyPath: KeyPath<R, V>) -> RecordAggregate
  where V.Required: OrderedValue, Result == V.Required? {
    RecordAggregate(.minimum, keyPath)
  }

  /// The greatest value; nil of none.
  public static func maximum<V: AttributeValue>(_ keyPath: KeyPath<R, V>) -> RecordAggregate
  where V.Required: OrderedValue, Result == V.Required? {
    RecordAggregate(.maximum, keyPath)
  }
}

extension Value {
  /// What a property of this type reads as where the value is stored; nil if it is none of its
  /// values.
  func read<V: AttributeValue>(as type: V.Type, in store: RawUUID) -> V? {
    if V._isRelationship {
      switch self {
      case .null: return V._read([])
      case .object(let object):
        return V._read([ObjectID(store: store, entity: object.entity, row: object.row)])
      default: return nil
      }
    }
    var arena: ContiguousArray<UInt8> = []
    let cell = ValueCell(self, appendingTo: &arena)
    return arena.withUnsafeBytes { V._read(StoredCell(cell, in: $0)) }
  }
}
