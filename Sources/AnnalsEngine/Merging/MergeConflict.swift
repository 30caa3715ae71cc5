import AnnalsModel
import AnnalsState

/// A property that both a write and others have changed, by numbers.
package struct MergeConflict: Sendable {
  /// The object.
  package let object: ObjectReference
  /// The property; nil if the conflict concerns the whole object.
  package let property: PropertyNumber?
  /// The value in the base, the stored value, and the write's own value; nil where the object does
  /// not exist.
  package let base: Value?
  package let stored: Value?
  package let own: Value?
  /// The object as the write inserted it, if it was united with a stored one.
  package let insertedAs: ObjectReference?
}

/// Reads the values that conflicts report.
struct ConflictValues {
  private let largeValues: any LargeValueSource
  /// How many more bytes of large values may be read; the rest are reported without their bytes.
  private var bytesLeft: UInt64 = 16 << 20

  init(_ largeValues: any LargeValueSource) {
    self.largeValues = largeValues
  }

  /// The value of a property; nil if the object does not exist.
  mutating func value(
    _ property: ReadableProperty, of object: ObjectReference, in state: State
  ) throws(AnnalsError) -> Value? {
    let stored = try state.valueIfThere(object, property.number)
    switch stored {
    case .null: return property.impliedDefault ?? .null
    case .large(let reference):
      guard reference.length <= bytesLeft,
        let bytes = try largeValues.bytesLeft(of: reference)
      else { return stored }
      bytesLeft -= reference.length
      return Value(bytes: bytes, tag: reference.tag)
    default: return stored
    }
  }
}
