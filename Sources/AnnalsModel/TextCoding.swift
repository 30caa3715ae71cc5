// Values that are coded by their text form, as one string.

extension Encoder {
  /// Encodes the text form of a value.
  func encodeText(_ value: some LosslessStringConvertible) throws {
    var container = singleValueContainer()
    try container.encode(value.description)
  }
}

extension Decoder {
  /// Decodes a value from its text form; throws `DecodingError.dataCorrupted`, which calls the
  /// value `name`, for anything else.
  func decodeText<Value: LosslessStringConvertible>(
    _ type: Value.Type, called name: String
  ) throws -> Value {
    let container = try singleValueContainer()
    let text = try container.decode(String.self)
    guard let value = Value(text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "not the text form of \(name): \(text)")
    }
    return value
  }
}
