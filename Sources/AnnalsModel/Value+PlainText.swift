extension Value {
  /// The value as plain text, without quotes or kind: for text output, CSV and keys.
  package var plainText: String {
    switch self {
    case .null: ""
    case .erased: "(erased)"
    case .bool(let value): value ? "true" : "false"
    case .int(let value): String(value)
    case .double(let value): PlainDecimal.text(of: value)
    case .string(let value), .url(let value), .json(let value): value
    case .date(let value): value.description
    case .uuid(let value): value.description
    case .decimal(let value): value.description
    case .day(let value): value.description
    case .data(let value): Base64Text.encode(value)
    case .object(let value): "#\(value.row)"
    case .objects(let list): list.map { "#\($0.row)" }.joined(separator: " ")
    case .large(let value): "(\(value.length) bytes)"
    }
  }

  /// The text of the value as an object's key: what follows `Entity/` wherever an object is named.
  /// Nil for what names no object.
  package var keyText: String? {
    switch self {
    case .null, .erased, .object, .objects, .large: nil
    default: plainText
    }
  }
}

/// The plain decimal notation of doubles.
package enum PlainDecimal {
  /// The shortest decimal that reads back as `value`: without an exponent, and always with a point.
  package static func text(of value: Double) -> String {
    let shortest = value.description
    guard let mark = shortest.utf8.firstIndex(of: UInt8(ascii: "e")) else { return shortest }
    var mantissa = shortest[..<mark]
    let exponent = Int(shortest[shortest.index(after: mark)...]) ?? 0
    let sign = mantissa.hasPrefix("-") ? "-" : ""
    mantissa = mantissa.drop { $0 == "-" }
    let parts = mantissa.split(separator: ".", omittingEmptySubsequences: false)
    var digits = String(parts[0])
    var fraction = parts.count > 1 ? String(parts[1]) : ""
    if fraction == "0" { fraction = "" }
    // The decimal point follows `digits`, moved by `exponent`.
    let point = digits.utf8.count + exponent
    digits += fraction
    if point <= 0 { return sign + "0." + String(repeating: "0", count: -point) + digits }
    if point >= digits.utf8.count {
      return sign + digits + String(repeating: "0", count: point - digits.utf8.count) + ".0"
    }
    let index = digits.index(digits.startIndex, offsetBy: point)
    return sign + digits[..<index] + "." + digits[index...]
  }
}
