import Annals
import AnnalsFormat
import AnnalsModel

extension ChangeReading {
  /// Stores a text of more than 4 KiB as the value of the attribute straight from the reader, which
  /// holds its only copy. Returns nil, and stores nothing, for every other value, and for a text
  /// that is no value of the attribute.
  func largeValue(
    _ token: JSONToken, of attribute: Attribute, written: AttributeType?,
    _ object: ObjectReference, _ reader: JSONReader
  ) throws -> Value? {
    let type = written ?? attribute.type
    // Base64 is a third longer than its bytes.
    let least = type == .data ? LargeValue.threshold / 3 * 4 + 4 : LargeValue.threshold
    guard token == .string, reader.text.count > least, !attribute.isUnique,
      type == attribute.type || attribute.type == .any
    else { return nil }
    switch type {
    case .string, .any: return try store(reader.text, .string, of: attribute, object)
    case .url: return try store(reader.text, .url, of: attribute, object)
    case .json:
      guard reader.text.withUnsafeBytes(JSONText.firstError(in:)) == nil else { return nil }
      return try store(reader.text, .json, of: attribute, object)
    case .data:
      guard Base64Text.decode(&reader.text) else { return nil }
      return try store(reader.text, .data, of: attribute, object)
    default: return nil
    }
  }

  private func store(
    _ bytes: ContiguousArray<UInt8>, _ tag: ValueTag, of attribute: Attribute,
    _ object: ObjectReference
  ) throws(AnnalsError) -> Value {
    try transaction.draft.keep(bytes, tag, in: attribute.number, of: object)
  }
}
