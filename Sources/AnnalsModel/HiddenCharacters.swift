/// The characters that no reader sees, or that act on a terminal: controls, line and paragraph
/// separators, marks and overrides of direction, zero-width characters, fillers and tags. Whatever
/// is printed escapes them, and so does JSON.
package enum HiddenCharacters {
  /// A character in UTF-8 bytes.
  package struct Scanned {
    /// The number of its bytes.
    package var length: Int
    /// Its scalar; U+FFFD for bytes that are not UTF-8.
    package var scalar: UInt32
    package var isHidden: Bool
    package var isMalformed = false

    /// Whether it must be written in another way.
    package var needsEscape: Bool { isHidden || isMalformed }
  }

  /// The character at an index. Bytes that are not UTF-8 count as U+FFFD in the same pieces as in
  /// Swift's strings.
  package static func scan(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Scanned {
    let lead = bytes[index]
    if lead < 0x80 {
      return Scanned(length: 1, scalar: UInt32(lead), isHidden: lead < 0x20 || lead == 0x7F)
    }
    let needed = lead < 0xC2 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : lead < 0xF5 ? 3 : 0
    var scalar = UInt32(lead & (0x7F >> UInt8(needed + 1)))
    var length = 1
    while length <= needed, index + length < bytes.count {
      let byte = bytes[index + length]
      // The second byte excludes overlong forms, surrogates, and what is beyond Unicode.
      let range: ClosedRange<UInt8> =
        length > 1
        ? 0x80...0xBF
        : lead == 0xE0
          ? 0xA0...0xBF
          : lead == 0xED
            ? 0x80...0x9F : lead == 0xF0 ? 0x90...0xBF : lead == 0xF4 ? 0x80...0x8F : 0x80...0xBF
      guard range.contains(byte) else { break }
      scalar = scalar << 6 | UInt32(byte & 0x3F)
      length += 1
    }
    guard needed > 0, length == needed + 1 else {
      return Scanned(length: length, scalar: 0xFFFD, isHidden: false, isMalformed: true)
    }
    var isHidden = isHidden(scalar)
    if isHidden, scalar == 0x200C || scalar == 0x200D {
      isHidden = !joins(bytes, before: index, after: index + length)
    }
    return Scanned(length: length, scalar: scalar, isHidden: isHidden)
  }

  /// The number of bytes at the end that may be the beginning of a character.
  package static func incompleteEnd(of bytes: UnsafeRawBufferPointer) -> Int {
    for length in 1...3 where length <= bytes.count {
      let byte = bytes[bytes.count - length]
      if byte < 0x80 { return 0 }
      guard byte >= 0xC0 else { continue }
      return length < (byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4) ? length : 0
    }
    return 0
  }

  /// Whether the bytes are UTF-8.
  package static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    while index < bytes.count {
      // Eight bytes of ASCII at a time.
      if index + 8 <= bytes.count,
        bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
      {
        index += 8
        continue
      }
      let next = scan(bytes, at: index)
      if next.isMalformed { return false }
      index += next.length
    }
    return true
  }

  private static func isHidden(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0..<0x20, 0x7F...0x9F, 0x34F, 0x61C, 0x115F...0x1160, 0x17B4...0x17B5, 0x180E,
      0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0x3164, 0xFEFF, 0xFFA0, 0xFFF9...0xFFFB,
      0x1D173...0x1D17A, 0xE0000...0xE00FF:
      true
    default: false
    }
  }

  /// Whether a joiner between two indices does what it is for: it joins two emoji, or stands
  /// between letters of a script that shapes them.
  private static func joins(
    _ bytes: UnsafeRawBufferPointer, before: Int, after: Int
  ) -> Bool {
    guard before > 0, after < bytes.count else { return false }
    var start = before - 1
    while start > 0, before - start < 4, bytes[start] & 0xC0 == 0x80 { start -= 1 }
    guard bytes[start] >= 0xC2, bytes[after] >= 0xC2 else { return false }
    let (previous, next) = (scan(bytes, at: start).scalar, scan(bytes, at: after).scalar)
    return isEmoji(previous) && isEmoji(next) || isShaped(previous) && isShaped(next)
  }

  /// Symbols, emoji, and what follows one: a variation selector or a skin tone.
  private static func isEmoji(_ scalar: UInt32) -> Bool {
    (0x2190...0x2BFF).contains(scalar) || scalar == 0xFE0F || (0x1F000...0x1FAFF).contains(scalar)
  }

  /// The scripts from Arabic to Mongolian.
  private static func isShaped(_ scalar: UInt32) -> Bool { (0x600...0x18AF).contains(scalar) }
}
