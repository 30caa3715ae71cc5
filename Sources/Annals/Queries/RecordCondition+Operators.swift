import AnnalsModel

// One operator of each kind for all types, optional or not, is what keeps long conditions quick to
// compile.

/// A type whose values stand in an order, the same in Swift and in a store: numbers, dates, texts
/// (which a store orders by their UTF-8 bytes) and `Value`. No other type can be one.
public protocol OrderedValue: AttributeValue {}

/// The property equals the value; nil equals only nil.
public func == <R: Record, V: AttributeValue>(
  keyPath: KeyPath<R, V>, value: V
) -> RecordCondition<R> { .compare(keyPath, .equal, value) }

/// The property differs from the value; of nil and a value that is true.
public func != <R: Record, V: AttributeValue>(
  keyPath: KeyPath<R, V>, value: V
) -> RecordCondition<R> { .compare(keyPath, .notEqual, value) }

/// The relationship leads to the object.
public func == <R: Record, D: Record>(
  keyPath: KeyPath<R, Reference<D>?>, object: Object<D>
) -> RecordCondition<R> { keyPath == Reference(object) }

/// The relationship leads to another object than this one, or to none.
public func != <R: Record, D: Record>(
  keyPath: KeyPath<R, Reference<D>?>, object: Object<D>
) -> RecordCondition<R> { keyPath != Reference(object) }

/// The property is less than the value; false of nil.
public func < <R: Record, V: AttributeValue>(
  keyPath: KeyPath<R, V>, value: V.Required
) -> RecordCondition<R> where V.Required: OrderedValue { .compare(keyPath, .less, value) }

/// The property is not greater than the value; false of nil.
public func <= <R: Record, V: AttributeValue>(
  keyPath: KeyPath<R, V>, value: V.Required
) -> RecordCondition<R> where V.Required: OrderedValue { .compare(keyPath, .lessOrEqual, value) }

/// The property is greater than the value; false of nil.
public func > <R: Record, V: AttributeValue>(
  keyPath: KeyPath<R, V>, value: V.Required
) -> RecordCondition<R> where V.Required: OrderedValue { .compare(keyPath, .greater, value) }

/// The property is not less than the value; false of nil.
public func >= <R: Record, V: AttributeValue>(
  keyPath: KeyPath<R, V>, value: V.Required
) -> RecordCondition<R> where V.Required: OrderedValue { .compare(keyPath, .greaterOrEqual, value) }
