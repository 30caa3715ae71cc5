#if JetStream

/// A JSON text, taken apart. Numbers and strings are kept as they are written, until asked for.
enum JSON: Sendable {
  case null
  case bool(Bool)
  case number(ArraySlice<UInt8>)
  case string(ArraySlice<UInt8>)
  case array([JSON])
  case object([String: JSON])

  /// Reads a text; nil if it is none. O(n).
  init?(_ bytes: [UInt8]) {
    var reader = JSONReader(bytes: bytes)
    guard let value = reader.value(depth: 0) else { return nil }
    self = value
  }

  /// A value of an object; nil if this is no object, or has none of that name.
  subscript(key: String) -> JSON? {
    if case .object(let values) = self { values[key] } else { nil }
  }

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

  /// The number; nil if this is none, or none such.
  func number<Number: FixedWidthInteger>(as type: Number.Type = Number.self) -> Number? {
    guard case .number(let digits) = self else { return nil }
    return Number(String(decoding: digits, as: UTF8.self))
  }

  /// The text of a string, with escapes resolved as far as the servers' messages have them.
  var text: String? {
    guard case .string(let bytes) = self else { return nil }
    guard bytes.contains(UInt8(ascii: "\\")) else { return String(decoding: bytes, as: UTF8.self) }
    var text = ""
    var rest = String(decoding: bytes, as: UTF8.self)[...]
    while let slash = rest.firstIndex(of: "\\") {
      text += rest[..<slash]
      rest = rest[slash...].dropFirst()
      guard let kind = rest.popFirst() else { break }
      switch kind {
      case "n": text += "\n"
      case "t": text += "\t"
      case "u":
        if let code = UInt32(rest.prefix(4), radix: 16), let scalar = UnicodeScalar(code) {
          text.unicodeScalars.append(scalar)
        }
        rest = rest.dropFirst(4)
      default: text.append(kind)
      }
    }
    return text + rest
  }

  /// The bytes of a string in base 64; nil if this is none.
  var decodedBytes: [UInt8]? {
    guard case .string(let digits) = self else { return nil }
    return base64(digits)
  }
}

private struct JSONReader {
  let bytes: [UInt8]
  var place = 0

  private mutating func skipSpace() {
    while place < bytes.count, bytes[place] <= 0x20 { place += 1 }
  }

  /// Takes the next byte, after space, if it is this one.
  private mutating func takes(_ byte: Character) -> Bool {
    skipSpace()
    guard place < bytes.count, bytes[place] == byte.asciiValue else { return false }
    place += 1
    return true
  }

  private mutating func takes(word: String) -> Bool {
    guard bytes[place...].starts(with: word.utf8) else { return false }
    place += word.utf8.count
    return true
  }

  mutating func value(depth: Int) -> JSON? {
    skipSpace()
    guard place < bytes.count, depth < 64 else { return nil }
    switch bytes[place] {
    case UInt8(ascii: "{"): return object(depth)
    case UInt8(ascii: "["): return array(depth)
    case UInt8(ascii: "\""): return string().map { .string($0) }
    case UInt8(ascii: "t"): return takes(word: "true") ? .bool(true) : nil
    case UInt8(ascii: "f"): return takes(word: "false") ? .bool(false) : nil
    case UInt8(ascii: "n"): return takes(word: "null") ? .null : nil
    default:
      let start = place
      while place < bytes.count, "+-.0123456789eE".utf8.contains(bytes[place]) { place += 1 }
      return place > start ? .number(bytes[start..<place]) : nil
    }
  }

  private mutating func object(_ depth: Int) -> JSON? {
    var values: [String: JSON] = [:]
    guard takes("{") else { return nil }
    if takes("}") { return .object(values) }
    repeat {
      skipSpace()
      guard let key = string(), takes(":"), let value = value(depth: depth + 1) else { return nil }
      values[String(decoding: key, as: UTF8.self)] = value
    } while takes(",")
    return takes("}") ? .object(values) : nil
  }

  private mutating func array(_ depth: Int) -> JSON? {
    var elements: [JSON] = []
    guard takes("[") else { return nil }
    if takes("]") { return .array(elements) }
    repeat {
      guard let element = value(depth: depth + 1) else { return nil }
      elements.append(element)
    } while takes(",")
    return takes("]") ? .array(elements) : nil
  }

  /// What is between two quotes.
  private mutating func string() -> ArraySlice<UInt8>? {
    guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else { return nil }
    let start = place + 1
    // Strings of a megabyte come here.
    let end = bytes.withUnsafeBufferPointer { bytes -> Int? in
      var place = start
      while place < bytes.count {
        if bytes[place] == UInt8(ascii: "\"") { return place }
        place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
      }
      return nil
    }
    guard let end else { return nil }
    place = end + 1
    return bytes[start..<end]
  }
}

private let base64Digits: [UInt8] = {
  var values = [UInt8](repeating: 255, count: 256)
  let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  for (value, digit) in digits.utf8.enumerated() { values[Int(digit)] = UInt8(value) }
  return values
}()

/// Decodes base 64; nil if the digits are none, or too few.
private func base64(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
  var end = digits.endIndex
  while end > digits.startIndex, digits[end - 1] == UInt8(ascii: "=") { end -= 1 }
  let count = end - digits.startIndex
  guard count % 4 != 1 else { return nil }
  var isGood = true
  let bytes = [UInt8](unsafeUninitializedCapacity: count / 4 * 3 + 3) { output, used in
    base64Digits.withUnsafeBufferPointer { values in
      digits.withUnsafeBufferPointer { digits in
        var word: UInt32 = 0
        for index in 0..<count {
          let value = values[Int(digits[index])]
          if value == 255 { isGood = false }
          word = word << 6 | UInt32(value & 63)
          guard index & 3 == 3 else { continue }
          output[used] = UInt8(truncatingIfNeeded: word >> 16)
          output[used + 1] = UInt8(truncatingIfNeeded: word >> 8)
          output[used + 2] = UInt8(truncatingIfNeeded: word)
          used += 3
        }
        switch count & 3 {
        case 2:
          output[used] = UInt8(truncatingIfNeeded: word >> 4)
          used += 1
        case 3:
          output[used] = UInt8(truncatingIfNeeded: word >> 10)
          output[used + 1] = UInt8(truncatingIfNeeded: word >> 2)
          used += 2
        default: break
        }
      }
    }
  }
  return isGood ? bytes : nil
}

#endif
