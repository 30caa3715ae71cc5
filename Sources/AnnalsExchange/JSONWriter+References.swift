import Annals
import AnnalsModel
import AnnalsState

extension JSONWriter {
  /// Writes the value of any property; null for a large value that was not read.
  package mutating func value(
    _ value: Value, as type: AttributeType, in state: StateReader
  ) throws(AnnalsError) {
    switch value {
    case .object, .objects: try references(value, in: state)
    case .large: null()
    default: self.value(value, as: type)
    }
  }

  /// Writes the value of a relationship: the key of the target, or an array of keys. A target that
  /// has no key or does not exist is written as `{"$row":N}`.
  package mutating func references(_ value: Value, in state: StateReader) throws(AnnalsError) {
    switch value {
    case .object(let target): try reference(target, in: state)
    case .objects(let targets):
      beginArray()
      for target in targets { try reference(target, in: state) }
      endArray()
    case .erased: erased()
    default: null()
    }
  }

  private mutating func reference(
    _ target: ObjectReference, in state: StateReader
  ) throws(AnnalsError) {
    let entity = state.state.schema.entity(numbered: target.entity)
    let key = try state.key(of: target)
    if let attribute = entity?.keyAttribute, !key.isNull {
      // As text, since a reader does not know yet that the number is a decimal.
      if case .decimal = key, attribute.type == .decimal { return string(key.plainText) }
      return self.value(key, as: attribute.type)
    }
    beginObject()
    member("$row", target.row)
    endObject()
  }
}
