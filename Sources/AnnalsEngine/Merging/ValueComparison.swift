import AnnalsModel
import AnnalsState

/// Compares properties of objects across states, as readers see them.
struct ValueComparison {
  private let largeValues: any LargeValueSource

  init(_ largeValues: any LargeValueSource) {
    self.largeValues = largeValues
  }

  /// Whether an object's property in one state equals that of an object in another state. An object
  /// that does not exist has no value, which is not the same as null.
  func areSame(
    _ property: ReadableProperty, _ object: ObjectReference, in state: State,
    _ otherObject: ObjectReference, in otherState: State
  ) throws(AnnalsError) -> Bool {
    let (a, b) =
      try AnnalsError.translating { () -> (Value, Value)? in
        let a = try state.locate(object.entity, object.row, property.number)
        let b = try otherState.locate(otherObject.entity, otherObject.row, property.number)
        defer {
          a.keepAlive()
          b.keepAlive()
        }
        if ValueCell.areEqual(a.cell, in: a.arena, b.cell, in: b.arena) { return nil }
        return (a.cell.value(in: a.arena), b.cell.value(in: b.arena))
      } ?? (.null, .null)
    switch (a, b) {
    case (.null, .null): return true
    case (.null, let value), (let value, .null): return value == property.impliedDefault
    case (.large(let one), .large(let other)):
      // The same bytes may have been written twice, as two large values.
      return one.tag == other.tag && one.length == other.length && one.checksum == other.checksum
        ? try largeValues.bytesLeft(of: one) == largeValues.bytesLeft(of: other) : false
    default: return false
    }
  }
}
