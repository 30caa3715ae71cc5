import AnnalsModel

/// The parameters of a request: names with values, as in the query of an address.
package struct RequestParameters: Sendable {
  private var pairs: [(name: String, value: String)] = []

  /// A query may have so many parameters; further ones are ignored.
  private static let most = 64

  package init(_ pairs: [(String, String)] = []) {
    self.pairs = pairs.prefix(RequestParameters.most).map { (name: $0.0, value: $0.1) }
  }

  /// Reads `a=1&b=x%20y`. Nil if a percent sign is not followed by two digits, or the bytes are no
  /// UTF-8.
  package init?(query: String) {
    for part in query.utf8.split(separator: UInt8(ascii: "&")).prefix(RequestParameters.most) {
      let mark = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
      let rest = mark == part.endIndex ? part[mark...] : part[part.index(after: mark)...]
      guard let name = PercentEncoding.text(part[..<mark]), let value = PercentEncoding.text(rest)
      else { return nil }
      pairs.append((name, value))
    }
  }

  /// The value of the parameter; nil if it is missing or empty.
  package subscript(name: String) -> String? {
    pairs.last { $0.name == name && !$0.value.isEmpty }?.value
  }

  /// The values of a parameter that may be repeated.
  package func all(_ name: String) -> [String] {
    pairs.filter { $0.name == name && !$0.value.isEmpty }.map(\.value)
  }

  /// Whether a flag is set: `1` or `true`.
  package func flag(_ name: String) -> Bool { ["1", "true"].contains(self[name]) }

  /// The value of a parameter that must be there.
  package func required(_ name: String) throws(RequestFault) -> String {
    guard let value = self[name] else {
      throw RequestFault("\(name) is missing", .usage, parameter: name)
    }
    return value
  }

  /// A whole number; nil if the parameter is missing.
  package func number(_ name: String) throws(RequestFault) -> Int64? {
    guard let text = self[name] else { return nil }
    guard let number = Int64(text) else {
      throw RequestFault("\(name) is a whole number, not `\(text)`", .usage, parameter: name)
    }
    return number
  }

  /// A number within limits: a greater one is the greatest, a smaller one the least.
  package func count(
    _ name: String, default standard: Int, within range: ClosedRange<Int>
  ) throws(RequestFault) -> Int {
    guard let number = try number(name) else { return standard }
    return Int(min(max(number, Int64(range.lowerBound)), Int64(range.upperBound)))
  }
}

/// Text in addresses.
enum PercentEncoding {
  /// Decodes `x%20y` and `x+y`; nil if it is malformed.
  static func text(_ bytes: some Sequence<UInt8>) -> String? {
    var decoded: [UInt8] = []
    var high: UInt8?
    var awaits = 0
    for byte in bytes {
      if awaits > 0 {
        guard let digit = byte.hexDigit else { return nil }
        awaits -= 1
        if let first = high.take() {
          decoded.append(first << 4 | digit)
        } else {
          high = digit
        }
      } else if byte == UInt8(ascii: "%") {
        awaits = 2
      } else {
        decoded.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    guard awaits == 0 else { return nil }
    return String(validating: decoded, as: UTF8.self)
  }
}
