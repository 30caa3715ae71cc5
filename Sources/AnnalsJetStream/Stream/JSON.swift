#if JetStream

import Foundation

/// A JSON text, taken apart.
enum JSON: Sendable, Decodable {
  case null
  case bool(Bool)
  case unsigned(UInt64)
  case signed(Int64)
  case fraction(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// Reads a text; nil if it is none. O(n).
  init?(_ bytes: [UInt8]) {
    guard let json = try? JSONDecoder().decode(JSON.self, from: Data(bytes)) else { return nil }
    self = json
  }

  /// Reads a value of whatever kind is there.
  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if let values = try? value.decode([String: JSON].self) {
      self = .object(values)
    } else if let number = try? value.decode(UInt64.self) {
      self = .unsigned(number)
    } else if let number = try? value.decode(Int64.self) {
      self = .signed(number)
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = try? value.decode(Double.self) {
      self = .fraction(number)
    } else {
      self = .array(try value.decode([JSON].self))
    }
  }

  /// A value of an object; nil if this is no object, or has none of that name.
  subscript(key: String) -> JSON? { values?[key] }

  /// The values by their names; nil if this is no object.
  var values: [String: JSON]? {
    if case .object(let values) = self { values } else { nil }
  }

  /// The elements; nil if this is no array.
  var elements: [JSON]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// Whether this is `true`.
  var isTrue: Bool {
    if case .bool(true) = self { true } else { false }
  }

  /// The whole number; nil if this is none, or none such.
  func number<Number: FixedWidthInteger>(as type: Number.Type = Number.self) -> Number? {
    switch self {
    case .unsigned(let number): Number(exactly: number)
    case .signed(let number): Number(exactly: number)
    default: nil
    }
  }

  /// The text of a string; nil if this is none.
  var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The bytes of a string in base 64; nil if this is none.
  var decodedBytes: [UInt8]? {
    text.flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) }
  }
}

#endif
