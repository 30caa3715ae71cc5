import AnnalsModel
import AnnalsState

/// A property of an object that a write and others have changed, by numbers.
package struct MergeConflict: Sendable {
  /// The object.
  package let object: ObjectReference
  /// The property; nil where the whole object is meant.
  package let property: PropertyNumber?
  /// What it was before both, is now, and would be by the write; nil where the object is not there.
  package let base: Value?
  package let stored: Value?
  package let own: Value?
  /// The object as the write inserted it, if it became one with a stored one.
  package let insertedAs: ObjectReference?
}

/// Reads what conflicts tell.
struct ConflictValues {
  private let largeValues: any LargeValueSource
  /// How many more bytes of large values are read; the rest stay as they are.
  private var bytesLeft: UInt64 = 16 << 20

  init(_ largeValues: any LargeValueSource) {
    self.largeValues = largeValues
  }

  /// The value of a property; nil if the object is not there.
  mutating func value(
    _ property: ReadableProperty, of object: ObjectReference, in state: State
  ) throws(AnnalsError) -> Value? {
    let stored = try AnnalsError.translating { () throws(StateFault) -> Value? in
      guard try state.contains(object.entity, object.row) else { return nil }
      return try state.value(object.entity, object.row, property.number)
    }
    switch stored {
    case .null: return property.valueForOlder ?? .null
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
