/// Checks JSON text (RFC 8259) without building anything from it.
///
/// Any value may be at the top. Keys may repeat, as the RFC allows. Refuses nesting deeper than
/// `depthLimit`, so that recursive readers are safe, and escaped surrogates without their other
/// half, which are no text. Not recursive itself: the open brackets are a stack of bits.
package enum JSONText {
  /// The most brackets that may be open at once.
  package static let depthLimit = 512

  /// The offset of the first byte at which `text` is not valid JSON; nil if it is valid.
  package static func firstError(in text: String) -> Int? {
    var text = text
    return text.withUTF8 { firstError(in: UnsafeRawBufferPointer($0)) }
  }

  /// The offset of the first byte at which the UTF-8 in `bytes` is not valid JSON; nil if it is
  /// valid. Whether the bytes are valid UTF-8 is not checked.
  package static func firstError(in bytes: UnsafeRawBufferPointer) -> Int? {
    var scanner = JSONScanner(bytes: bytes)
    return scanner.scan() ? nil : min(scanner.position, bytes.count)
  }
}

private struct JSONScanner {
  let bytes: UnsafeRawBufferPointer
  var position = 0
  /// For each open bracket whether it is an object's.
  var brackets: [Bool] = []

  /// Whether the whole text is one value; if not, `position` is where it goes wrong.
  mutating func scan() -> Bool {
    while true {
      guard let opened = value() else { return false }
      if opened { continue }
      // A value has ended: close what it ends, or go on to the next one of its container.
      while true {
        skipSpace()
        guard let isObject = brackets.last else { return position == bytes.count }
        if consume(",") {
          if isObject, !key() { return false }
          break
        }
        guard consume(isObject ? "}" : "]") else { return false }
        brackets.removeLast()
      }
    }
  }

  /// Reads a scalar or an empty container (false), or the beginning of a container up to where its
  /// first value begins (true); nil on an error.
  private mutating func value() -> Bool? {
    skipSpace()
    guard position < bytes.count else { return nil }
    switch bytes[position] {
    case UInt8(ascii: "{"): return open(isObject: true)
    case UInt8(ascii: "["): return open(isObject: false)
    case UInt8(ascii: "\""): return string() ? false : nil
    case UInt8(ascii: "t"): return literal("true") ? false : nil
    case UInt8(ascii: "f"): return literal("false") ? false : nil
    case UInt8(ascii: "n"): return literal("null") ? false : nil
    default: return number() ? false : nil
    }
  }

  private mutating func open(isObject: Bool) -> Bool? {
    guard brackets.count < JSONText.depthLimit else { return nil }
    position += 1
    skipSpace()
    if consume(isObject ? "}" : "]") { return false }
    if isObject, !key() { return nil }
    brackets.append(isObject)
    return true
  }

  private mutating func key() -> Bool {
    skipSpace()
    guard position < bytes.count, bytes[position] == UInt8(ascii: "\""), string() else {
      return false
    }
    skipSpace()
    return consume(":")
  }

  private mutating func string() -> Bool {
    position += 1
    while position < bytes.count {
      let byte = bytes[position]
      if byte < 0x20 { return false }
      position += 1
      if byte == UInt8(ascii: "\"") { return true }
      if byte == UInt8(ascii: "\\"), !escape() { return false }
    }
    return false
  }

  private mutating func escape() -> Bool {
    guard position < bytes.count else { return false }
    let byte = bytes[position]
    if byte == UInt8(ascii: "u") {
      position += 1
      return unicodeEscape()
    }
    guard "\"\\/bfnrt".utf8.contains(byte) else { return false }
    position += 1
    return true
  }

  /// Reads what follows `\u`: a code unit, or a surrogate and its other half.
  private mutating func unicodeEscape() -> Bool {
    guard let unit = codeUnit() else { return false }
    guard unit & 0xF800 == 0xD800 else { return true }
    guard unit & 0x0400 == 0, consume("\\"), consume("u"), let other = codeUnit() else {
      return false
    }
    return other & 0xFC00 == 0xDC00
  }

  private mutating func codeUnit() -> UInt32? {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard position < bytes.count, let digit = bytes[position].hexDigit else { return nil }
      unit = unit << 4 | UInt32(digit)
      position += 1
    }
    return unit
  }

  private mutating func number() -> Bool {
    _ = consume("-")
    if !consume("0") {
      guard digits() else { return false }
    }
    if consume("."), !digits() { return false }
    if consume("e") || consume("E") {
      if !consume("+") { _ = consume("-") }
      return digits()
    }
    return true
  }

  private mutating func digits() -> Bool {
    let start = position
    while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
    return position > start
  }

  private mutating func literal(_ text: StaticString) -> Bool {
    let expected = UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    for byte in expected {
      guard position < bytes.count, bytes[position] == byte else { return false }
      position += 1
    }
    return true
  }

  private mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      default: return
      }
    }
  }

  private mutating func consume(_ character: Unicode.Scalar) -> Bool {
    guard position < bytes.count, UInt32(bytes[position]) == character.value else { return false }
    position += 1
    return true
  }
}
