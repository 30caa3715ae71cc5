import Annals
import AnnalsModel

/// Writes JSON without white space, always in the same form.
///
/// Strings are UTF-8. Escaped are quotes, backslashes and hidden characters (`\b \f \n \r \t`,
/// otherwise `\u202e`, in surrogate pairs beyond U+FFFF), so that any terminal can show JSON; bytes
/// that are not UTF-8 become U+FFFD. Doubles are the shortest decimal that reads back as the
/// same double, without an exponent, and always with a point. The caller calls methods in a valid
/// order (a key before each member); the writer inserts the commas.
package struct JSONWriter {
  /// What has been written.
  package var bytes: ContiguousArray<UInt8> = []
  private var needsComma = false
  /// What becomes of the characters of strings.
  let escaping: TextEscaping
  private let escapesHidden: Bool

  /// An empty writer. Without `escapingHidden` it escapes no more than JSON demands: for JSON text
  /// that is stored.
  package init(escapingHidden: Bool = true) {
    escaping = escapingHidden ? .json : .leastJSON
    escapesHidden = escapingHidden
  }

  /// Empties the writer and keeps its memory.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    needsComma = false
  }

  /// Drops the bytes written so far, even within a document.
  package mutating func removeBytes() { bytes.removeAll(keepingCapacity: true) }

  /// Whether the next member or element is the first.
  package var isAtBeginning: Bool { !needsComma }

  /// Ends the line and the document.
  package mutating func endLine() {
    bytes.append(0x0A)
    needsComma = false
  }

  package mutating func beginObject() { begin(UInt8(ascii: "{")) }
  package mutating func endObject() { end(UInt8(ascii: "}")) }
  package mutating func beginArray() { begin(UInt8(ascii: "[")) }
  package mutating func endArray() { end(UInt8(ascii: "]")) }

  /// Begins a member of an object.
  package mutating func key(_ name: String) {
    string(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Begins a member whose name is given as JSON with its colon.
  package mutating func key(quoted name: ContiguousArray<UInt8>) {
    separate()
    bytes.append(contentsOf: name)
    needsComma = false
  }

  /// Writes a member that is text.
  package mutating func member(_ name: String, _ value: String) {
    key(name)
    string(value)
  }

  /// Writes a member that is a whole number.
  package mutating func member(_ name: String, _ value: Int64) {
    key(name)
    int(value)
  }

  /// Writes a member that is true or false.
  package mutating func member(_ name: String, _ value: Bool) {
    key(name)
    bool(value)
  }

  /// Writes a member that is a value of an attribute of this type.
  package mutating func member(_ name: String, _ value: Value, as type: AttributeType) {
    key(name)
    self.value(value, as: type)
  }

  /// Begins a member that is an object.
  package mutating func beginObject(_ name: String) {
    key(name)
    beginObject()
  }

  /// Begins a member that is an array.
  package mutating func beginArray(_ name: String) {
    key(name)
    beginArray()
  }

  /// Ends the object that is the whole line.
  package mutating func endObjectLine() {
    endObject()
    endLine()
  }

  package mutating func null() { word("null") }
  package mutating func bool(_ value: Bool) { word(value ? "true" : "false") }

  package mutating func int(_ value: Int64) {
    separate()
    JSONWriter.append(value, to: &bytes)
  }

  /// Writes a finite double.
  package mutating func double(_ value: Double) {
    precondition(value.isFinite, "JSON has no infinities")
    separate()
    bytes.append(contentsOf: PlainDecimal.text(of: value).utf8)
  }

  package mutating func string(_ value: String) {
    var value = value
    value.withUTF8 { string(utf8: UnsafeRawBufferPointer($0)) }
  }

  /// Writes UTF-8 bytes as a string.
  package mutating func string(utf8: UnsafeRawBufferPointer) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    escaping.append(utf8, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes a JSON text, with its hidden characters escaped if those of strings are. The caller
  /// guarantees that it is valid.
  package mutating func json(_ text: String) {
    guard escapesHidden else { return verbatim(text.utf8) }
    separate()
    var text = text
    text.withUTF8 { TextEscaping.lines.append(UnsafeRawBufferPointer($0), to: &bytes) }
  }

  /// Writes a JSON text unchanged. The caller guarantees that it is valid.
  package mutating func verbatim(_ text: some Sequence<UInt8>) {
    separate()
    bytes.append(contentsOf: text)
  }

  private mutating func begin(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func end(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  private mutating func word(_ word: StaticString) {
    separate()
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  /// Appends a whole number in decimal.
  package static func append(_ value: Int64, to bytes: inout ContiguousArray<UInt8>) {
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    let start = bytes.count
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    bytes[start...].reverse()
  }
}
