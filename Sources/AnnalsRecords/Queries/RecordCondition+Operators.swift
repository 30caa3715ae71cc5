import AnnalsModel

// One operator of each kind for all types, optional or not, keeps long conditions quick to compile.

/// A type whose values are ordered, the same in Swift and in a store: numbers, dates, texts (which
/// a store orders by their UTF-8 bytes) and `Value`. No other type may conform.
public protocol OrderedValue: AttributeValue {}

/// The property equals the value; nil equals only nil.
public func == <R: Record, V: AttributeValue>(
  keyPath: KeyPath<R, V>, value: V
) -> RecordCondition<R> { .compare(keyPath, .equal, value) }

/// The property differs from the value. True for nil and any value.
public func != <R: Record, V: AttributeValue>(
  keyPath: KeyPath<R, V>, value: V
) -> RecordCondition<R> { .compare(keyPath, .notEqual, value) }

/// The relationship leads to the object.
public func == <R: Record, V: ToOneReference>(
  keyPath: KeyPath<R, V>, object: Object<V.Destination>
) -> RecordCondition<R> { .compare(keyPath, .equal, Reference(object)) }

/// The relationship leads to another object, or to none.
public func != <R: Record, V: ToOneReference>(
  keyPath: KeyPath<R, V>, object: Object<V.Destination>
) -> RecordCondition<R> { .compare(keyPath, .notEqual, Reference(object)) }

/// The property is less than the value; false for nil.
public func < <R: Record, V: AttributeValue>(
  keyPath: KeyPath<R, V>, value: V.Required
) -> RecordCondition<R> where V.Required: OrderedValue { .compare(keyPath, .less, value) }

/// The property is at most the value; false for nil.
public func <= <R: Record, V: AttributeValue>(
  keyPath: KeyPath<R, V>, value: V.Required
) -> RecordCondition<R> where V.Required: OrderedValue { .compare(keyPath, .lessOrEqual, value) }

/// The property is greater than the value; false for nil.
public func > <R: Record, V: AttributeValue>(
  keyPath: KeyPath<R, V>, value: V.Required
) -> RecordCondition<R> where V.Required: OrderedValue { .compare(keyPath, .greater, value) }

/// The property is at least the value; false for nil.
public func >= <R: Record, V: AttributeValue>(
  keyPath: KeyPath<R, V>, value: V.Required
) -> RecordCondition<R> where V.Required: OrderedValue { .compare(keyPath, .greaterOrEqual, value) }
