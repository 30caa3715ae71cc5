import AnnalsModel
import Foundation

/// A type whose values are stored as JSON, as they encode themselves: for parts of a record that
/// are read and written as a whole.
///
/// ```swift
/// struct Address: JSONValue {
///   var street: String
///   var city: String
/// }
/// ```
///
/// Keys are sorted, so equal values have the same bytes. Dates are texts as `Timestamp` prints
/// them, to the microsecond; data is Base64. Conditions compare whole values with `==` and `!=`. A
/// value that cannot be encoded, for example an infinite number, breaks the attribute's type. What
/// a later version of the type cannot decode makes its object unreadable as a record (by name it is
/// read): give new properties of the type a default, or make them optional.
public protocol JSONValue: AttributeValue, Codable {}

extension JSONValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .json }

  /// Decodes a stored value; nil if it does not fit this type.
  public static func _read(_ stored: StoredCell) -> Self? {
    guard stored.cell.tag == .json else { return nil }
    return try? JSONDecoder.ofValues.decode(Self.self, from: Data(stored.bytes))
  }

  /// Calls `body` once with the form in which the value is stored.
  public func _withCell(_ body: (StoredCell) -> Void) {
    guard let bytes = try? JSONEncoder.ofValues.encode(self) else {
      // Passed on as a number, which the attribute's type refuses.
      return body(StoredCell(.double, bits: Double.nan.bitPattern))
    }
    bytes.withUnsafeBytes { body(StoredCell(.json, bytes: $0)) }
  }
}

extension JSONEncoder {
  /// Encodes equal values to the same bytes.
  fileprivate static let ofValues: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      guard let moment = Timestamp(exactly: date) else {
        throw EncodingError.invalidValue(
          date, EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "date"))
      }
      var container = encoder.singleValueContainer()
      try container.encode(moment.description)
    }
    return encoder
  }()
}

extension JSONDecoder {
  /// Decodes what `JSONEncoder.ofValues` has encoded.
  fileprivate static let ofValues: JSONDecoder = {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let container = try decoder.singleValueContainer()
      guard let moment = Timestamp(try container.decode(String.self)) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "no date")
      }
      return Date(moment)
    }
    return decoder
  }()
}
