// Strings: escapes, surrogates, UTF-8.

import AnnalsModel

extension JSONReader {
  /// Reads the rest of a string whose opening quote has been read.
  func readString() throws(InputFault) {
    // The memory of one long string is not kept for all the short ones behind it.
    text.removeAll(keepingCapacity: text.capacity <= 4 << 20)
    while true {
      isWithinString = text.count >= partLength
      if isWithinString { return }
      guard try ensure(1) else { throw endsEarly() }
      let start = position
      var index = position
      let limit = end
      while index < limit, JSONReader.isPlain(bytes[index]) { index += 1 }
      position = index
      if index > start {
        try makeRoom(for: index - start)
        text.append(contentsOf: UnsafeBufferPointer(start: bytes + start, count: index - start))
        if index == limit { continue }
      }
      switch bytes[index] {
      case UInt8(ascii: "\""):
        position += 1
        return
      case UInt8(ascii: "\\"): try readEscape()
      case 0..<0x20:
        if bytes[index] == 0x0A, framing == .lines { throw endsEarly() }
        throw fault("a control character in a string must be escaped")
      default: try readSequence()
      }
    }
  }

  /// Replaces `text`, the part of a string that was read last, by the next one.
  func readNextPart() throws(InputFault) {
    precondition(isWithinString, "a string has no parts behind its end")
    try readString()
  }

  /// Whether a byte stands for itself in a string: ASCII, no control, quote or backslash.
  @inline(__always)
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  /// Makes room for more bytes of text: doubles the capacity; from 16 MiB on, room for the longest
  /// text at once, since copying a long one takes as much memory again, and room that is not used
  /// takes none.
  @inline(__always)
  private func makeRoom(for count: Int) throws(InputFault) {
    let needed = text.count + count
    guard needed > text.capacity || needed > limits.textLength else { return }
    guard needed <= limits.textLength else {
      throw fault("a string is longer than \(limits.textLength) bytes")
    }
    let isLong = text.capacity >= 16 << 20
    text.reserveCapacity(
      isLong ? limits.textLength : min(max(needed, 2 * text.capacity), limits.textLength))
  }

  private func readEscape() throws(InputFault) {
    guard try ensure(2) else { throw endsEarly() }
    try makeRoom(for: 1)
    switch bytes[position + 1] {
    case UInt8(ascii: "\""): text.append(UInt8(ascii: "\""))
    case UInt8(ascii: "\\"): text.append(UInt8(ascii: "\\"))
    case UInt8(ascii: "/"): text.append(UInt8(ascii: "/"))
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"):
      try readUnicodeEscape()
      return
    default: throw fault("an unknown escape in a string")
    }
    position += 2
  }

  /// Reads the four digits of a `\u` escape, and a second escape if they begin a surrogate pair.
  private func readUnicodeEscape() throws(InputFault) {
    guard try ensure(6) else { throw endsEarly() }
    let first = try hexadecimal(at: position + 2)
    var scalar = UInt32(first)
    var length = 6
    if first & 0xFC00 == 0xD800 {
      guard try ensure(12), bytes[position + 6] == UInt8(ascii: "\\"),
        bytes[position + 7] == UInt8(ascii: "u")
      else { throw fault("a surrogate escape without its pair") }
      let second = try hexadecimal(at: position + 8)
      guard second & 0xFC00 == 0xDC00 else { throw fault("a surrogate escape without its pair") }
      scalar = 0x10000 + (UInt32(first & 0x3FF) << 10 | UInt32(second & 0x3FF))
      length = 12
    }
    guard let unicode = UnicodeScalar(scalar) else {
      throw fault("a surrogate escape without its pair")
    }
    position += length
    // Always succeeds: every scalar has an encoding.
    guard let encoded = UTF8.encode(unicode) else { return }
    try makeRoom(for: encoded.count)
    text.append(contentsOf: encoded)
  }

  private func hexadecimal(at start: Int) throws(InputFault) -> UInt16 {
    var result: UInt16 = 0
    for index in start..<start + 4 {
      guard let digit = bytes[index].hexDigit else {
        throw fault("a \\u escape needs four hexadecimal digits")
      }
      result = result << 4 | UInt16(digit)
    }
    return result
  }

  /// Reads one sequence of two to four bytes; shortest forms only, no surrogates, up to U+10FFFF.
  private func readSequence() throws(InputFault) {
    let lead = bytes[position]
    var low: UInt8 = 0x80
    var high: UInt8 = 0xBF
    let count: Int
    switch lead {
    case 0xC2...0xDF: count = 2
    case 0xE0...0xEF:
      count = 3
      if lead == 0xE0 { low = 0xA0 }
      if lead == 0xED { high = 0x9F }
    case 0xF0...0xF4:
      count = 4
      if lead == 0xF0 { low = 0x90 }
      if lead == 0xF4 { high = 0x8F }
    default: throw fault("text that is not UTF-8")
    }
    guard try ensure(count) else { throw fault("text that is not UTF-8") }
    guard low...high ~= bytes[position + 1] else { throw fault("text that is not UTF-8") }
    for index in 2..<max(count, 2) where bytes[position + index] & 0xC0 != 0x80 {
      throw fault("text that is not UTF-8")
    }
    try makeRoom(for: count)
    text.append(contentsOf: UnsafeBufferPointer(start: bytes + position, count: count))
    position += count
  }
}
