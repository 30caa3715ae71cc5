// Numbers. With a point or an exponent a number is a double, otherwise an int64.

import AnnalsModel

extension JSONReader {
  /// Reads a number into `text` and checks its form.
  func readNumber() throws(InputFault) {
    text.removeAll(keepingCapacity: true)
    while try ensure(1) {
      let start = position
      while position < end, JSONReader.isOfNumber(bytes[position]) { position += 1 }
      guard text.count + position - start <= limits.numberLength else {
        throw fault("a number has more than \(limits.numberLength) characters")
      }
      text.append(
        contentsOf: UnsafeBufferPointer(start: bytes + start, count: position - start))
      if position < end { break }
    }
    // Nothing but a number consists of these characters.
    guard text.withUnsafeBytes(JSONText.firstError(in:)) == nil else {
      throw fault("`\(String(decoding: text.prefix(40), as: UTF8.self))` is not a number")
    }
  }

  /// Whether numbers have such a byte.
  @inline(__always)
  private static func isOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
      UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }

  /// The value of the number just read: an int64 unless its text has a point or an exponent.
  ///
  /// - Throws: `InputFault` if it is a whole number beyond 64 bits or beyond the doubles.
  package func number() throws(InputFault) -> Value {
    if let small = JSONReader.smallInteger(text) { return .int(small) }
    let characters = String(decoding: text, as: UTF8.self)
    if text.contains(where: { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }) {
      guard let value = Double(inRange: characters) else {
        throw fault("\(shortened(characters)) is beyond the range of a double")
      }
      return .double(value)
    }
    guard let value = Int64(characters) else {
      throw fault(
        "\(shortened(characters)) is beyond 64 bits; write it as a string, or with .0 as a double")
    }
    return .int(value)
  }

  private func shortened(_ text: String) -> String {
    text.utf8.count <= 40 ? text : text.prefix(40) + "…"
  }

  /// The value of up to eighteen digits with an optional sign; nil for any other text.
  private static func smallInteger(_ text: ContiguousArray<UInt8>) -> Int64? {
    guard let first = text.first, text.count <= 18 else { return nil }
    let isNegative = first == UInt8(ascii: "-")
    var result: Int64 = 0
    for byte in text[(isNegative ? 1 : 0)...] {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      result = result * 10 + Int64(byte - UInt8(ascii: "0"))
    }
    return isNegative ? -result : result
  }
}
