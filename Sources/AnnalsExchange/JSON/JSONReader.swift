// A streaming JSON reader (RFC 8259).
//
// Invariants:
// - It holds nothing but the current token, or a part of it if `partLength` says so, whatever the
//   size of the document or of its lines.
// - Nesting and the length of a token are bounded; there is no recursion.
// - Text must be UTF-8. An unpaired surrogate escape, which has no UTF-8 encoding, is refused.
// - After a fault the reader must not be used again.
//
// One thread uses a reader, and no closure runs while a property of it is changed: so those that
// each byte or token changes are not checked for that (`@exclusivity(unchecked)`), which would take
// a seventh of an import.

/// One step through a JSON text.
package enum JSONToken: Hashable, Sendable {
  case beginObject, endObject, beginArray, endArray
  /// The name of a member; `text` holds it.
  case key
  /// `text` holds it.
  case string
  /// `text` holds its characters; `number()` its value.
  case number
  case bool(Bool)
  case null
}

/// Reads tokens from a source, which holds one document, or one document per line.
package final class JSONReader {
  /// How documents are separated.
  package enum Framing: Sendable {
    /// One document, over any number of lines.
    case document
    /// One document per line (JSON Lines); blank lines are skipped.
    case lines
  }

  /// The limits of the reader.
  package struct Limits: Sendable {
    /// How deep objects and arrays may nest.
    package var nesting = 512
    /// The greatest number of bytes in a string.
    package var textLength = 256 << 20
    /// The greatest number of characters in a number.
    package var numberLength = 2048

    package init() {}
  }

  /// The current key, string or number, as UTF-8.
  @exclusivity(unchecked) package var text: ContiguousArray<UInt8> = []
  /// From how many bytes on a string is handed out in parts; set only while a value is read that
  /// may be long.
  @exclusivity(unchecked) var partLength = Int.max
  /// Whether `text` is a part of a string, and `readNextPart` reads the next.
  @exclusivity(unchecked) var isWithinString = false
  /// The line of the next byte, from 1.
  @exclusivity(unchecked) package private(set) var line = 1
  /// The objects with a single key that begins with `$` which are the form of no value, and were
  /// read as JSON text; and the first of them.
  package var untaggedObjects: (count: Int64, first: String) = (0, "")
  /// The offset in the input of the first byte of that line.
  @exclusivity(unchecked) private var lineStart: UInt64 = 0

  let framing: Framing
  let limits: Limits

  private enum Expectation { case value, firstKey, key, firstElement, separator, end }
  @exclusivity(unchecked) private var expectation = Expectation.value
  /// Whether each open bracket is an object's.
  @exclusivity(unchecked) private var open: ContiguousArray<Bool> = []

  private let source: any ByteSource
  private let owned: UnsafeMutableRawBufferPointer
  let bytes: UnsafePointer<UInt8>
  @exclusivity(unchecked) var position = 0
  @exclusivity(unchecked) var end = 0
  /// The offset in the input of `bytes[0]`.
  @exclusivity(unchecked) private var base: UInt64 = 0

  /// A reader of what `source` yields, from its beginning.
  package init(
    _ source: any ByteSource, framing: Framing, limits: Limits = Limits(), bufferSize: Int = 1 << 17
  ) {
    precondition(bufferSize >= 16)
    self.source = source
    self.framing = framing
    self.limits = limits
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: bufferSize)
    owned = UnsafeMutableRawBufferPointer(start: memory, count: bufferSize)
    bytes = UnsafePointer(memory)
  }

  deinit { bytes.deallocate() }

  /// The offset in the input of the next byte.
  package var offset: UInt64 { base + UInt64(position) }

  /// Adds what a reader of a part of this text counted.
  func add(_ others: (count: Int64, first: String)) {
    if untaggedObjects.count == 0 { untaggedObjects.first = others.first }
    untaggedObjects.count += others.count
  }

  /// How many objects and arrays are open.
  package var depth: Int { open.count }

  /// Advances to the next document; returns false if only white space is left.
  ///
  /// - Throws: `InputFault` if the document before was not read to its end.
  package func beginDocument() throws(InputFault) -> Bool {
    if offset == 0, try ensure(3), bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF {
      position = 3
    }
    while try ensure(1) {
      switch bytes[position] {
      case 0x0A:
        passLineFeed()
      case 0x20, 0x09, 0x0D: position += 1
      default:
        expectation = .value
        open.removeAll(keepingCapacity: true)
        return true
      }
    }
    return false
  }

  /// Checks that the document is complete and that nothing follows it (on its line).
  package func endDocument() throws(InputFault) {
    guard expectation == .end else { throw fault("the document is not complete") }
    while try ensure(1) {
      switch bytes[position] {
      case 0x0A:
        // The line feed is counted when the next document begins, so that a fault at the end of a
        // line names that line.
        if framing == .lines { return }
        passLineFeed()
      case 0x20, 0x09, 0x0D: position += 1
      default: throw fault("more text after the end of the document")
      }
    }
  }

  /// The next token of the document.
  package func next() throws(InputFault) -> JSONToken {
    try skipSpace()
    var byte = bytes[position]
    switch expectation {
    case .separator:
      let isObject = open[open.count - 1]
      if byte == UInt8(ascii: ",") {
        position += 1
        try skipSpace()
        byte = bytes[position]
        if isObject { return try key(byte) }
      } else {
        return try close(byte, isObject: isObject)
      }
    case .firstKey:
      if byte == UInt8(ascii: "}") { return try close(byte, isObject: true) }
      return try key(byte)
    case .key: return try key(byte)
    case .firstElement:
      if byte == UInt8(ascii: "]") { return try close(byte, isObject: false) }
    case .value: break
    case .end: throw fault("more text after the end of the document")
    }
    return try value(byte)
  }

  /// A fault at the next byte.
  package func fault(_ reason: String) -> InputFault {
    InputFault(
      offset: offset, line: line, column: Int(offset - lineStart) + 1, reason: reason)
  }

  private func passLineFeed() {
    position += 1
    line += 1
    lineStart = offset
  }

  // MARK: - Grammar

  private func value(_ byte: UInt8) throws(InputFault) -> JSONToken {
    switch byte {
    case UInt8(ascii: "\""):
      position += 1
      try readString()
      didReadValue()
      return .string
    case UInt8(ascii: "{"):
      try push(isObject: true)
      return .beginObject
    case UInt8(ascii: "["):
      try push(isObject: false)
      return .beginArray
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      try readNumber()
      didReadValue()
      return .number
    case UInt8(ascii: "t"):
      try word("true")
      return .bool(true)
    case UInt8(ascii: "f"):
      try word("false")
      return .bool(false)
    case UInt8(ascii: "n"):
      try word("null")
      return .null
    default: throw unexpected(byte, wanted: "a value")
    }
  }

  private func key(_ byte: UInt8) throws(InputFault) -> JSONToken {
    guard byte == UInt8(ascii: "\"") else { throw unexpected(byte, wanted: "a name in quotes") }
    position += 1
    try readString()
    try skipSpace()
    guard bytes[position] == UInt8(ascii: ":") else {
      throw unexpected(bytes[position], wanted: "a colon")
    }
    position += 1
    expectation = .value
    return .key
  }

  private func push(isObject: Bool) throws(InputFault) {
    guard open.count < limits.nesting else {
      throw fault("objects and arrays nest deeper than \(limits.nesting)")
    }
    position += 1
    open.append(isObject)
    expectation = isObject ? .firstKey : .firstElement
  }

  private func close(_ byte: UInt8, isObject: Bool) throws(InputFault) -> JSONToken {
    guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
      throw unexpected(byte, wanted: isObject ? "a comma or }" : "a comma or ]")
    }
    position += 1
    open.removeLast()
    didReadValue()
    return isObject ? .endObject : .endArray
  }

  private func didReadValue() { expectation = open.isEmpty ? .end : .separator }

  private func word(_ word: StaticString) throws(InputFault) {
    let count = word.utf8CodeUnitCount
    guard try ensure(count) else { throw endsEarly() }
    for index in 0..<count where bytes[position + index] != word.utf8Start[index] {
      throw unexpected(bytes[position + index], wanted: "\(word)")
    }
    position += count
    didReadValue()
  }

  /// Advances to the next byte that is not white space.
  private func skipSpace() throws(InputFault) {
    while true {
      while position < end {
        switch bytes[position] {
        case 0x20, 0x09, 0x0D: position += 1
        case 0x0A:
          if framing == .lines { throw endsEarly() }
          passLineFeed()
        default: return
        }
      }
      guard try ensure(1) else { throw endsEarly() }
    }
  }

  func unexpected(_ byte: UInt8, wanted: String) -> InputFault {
    let found =
      byte > 0x20 && byte < 0x7F
      ? "`\(Character(UnicodeScalar(byte)))`" : "byte 0x\(String(byte, radix: 16))"
    return fault("found \(found) where \(wanted) should be")
  }

  func endsEarly() -> InputFault {
    fault(framing == .lines ? "the line ends inside the document" : "the text ends too early")
  }

  /// Reads ahead until `count` bytes are contiguous; returns false if there are fewer.
  @inline(__always)
  func ensure(_ count: Int) throws(InputFault) -> Bool {
    if end - position >= count { return true }
    return try refill(count)
  }

  private func refill(_ count: Int) throws(InputFault) -> Bool {
    precondition(count <= owned.count)
    if position > 0 {
      let kept = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(owned)[position..<end])
      owned.copyMemory(from: kept)
      base += UInt64(position)
      end -= position
      position = 0
    }
    while end < count {
      let read = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: owned[end...]))
      if read == 0 { return false }
      end += read
    }
    return true
  }
}
