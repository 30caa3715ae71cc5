/// Many short texts in one buffer: makes a string only when one is asked for.
package struct TextColumn: Sendable {
  private var bytes: ContiguousArray<UInt8> = []
  /// Where each text ends.
  private var ends: ContiguousArray<Int> = []

  package init() {}

  /// Appends a text, of which at most `limit` bytes are kept, whole scalars.
  package mutating func append(_ text: UnsafeRawBufferPointer, limit: Int = .max) {
    var end = text.count
    if end > limit {
      end = limit
      while end > 0, text[end] & 0xC0 == 0x80 { end -= 1 }
    }
    bytes.append(contentsOf: text[..<end])
    ends.append(bytes.count)
  }

  /// Appends a text, of which at most `limit` bytes are kept.
  package mutating func append(_ text: String, limit: Int = .max) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0), limit: limit) }
  }

  /// The text at a place; empty behind the last.
  package subscript(index: Int) -> String {
    guard index < ends.count else { return "" }
    let start = index > 0 ? ends[index - 1] : 0
    return String(decoding: bytes[start..<ends[index]], as: UTF8.self)
  }
}
