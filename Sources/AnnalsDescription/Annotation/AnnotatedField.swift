import AnnalsFormat
import AnnalsInspection

/// A field of the file and what it means.
package struct AnnotatedField: Hashable, Sendable {
  /// Where in the file the bytes are.
  package var offset: UInt64
  /// The number of bytes: at most `maximumLength`, unless `isZeros`.
  package var length: UInt64
  /// The depth of nesting: 0 for the fields that every frame has.
  package var depth: Int
  /// The field's name, as in FORMAT.md.
  package var name: String
  /// The meaning of the bytes; empty if the name says it all.
  package var value: String
  /// Whether all bytes are zeros, which need not be shown.
  package var isZeros = false

  /// Longer runs of bytes are split into several fields.
  package static let maximumLength = 4096
}

/// Reads bytes field by field and emits each with its name and meaning.
///
/// The fields follow one another without gap. After the first that cannot be read, nothing more is
/// read or emitted, and what is read is zero; `end` emits what is left.
struct FieldReader {
  private var reader: ByteReader
  /// Where in the file the bytes begin.
  let origin: UInt64
  private let bytes: UnsafeRawBufferPointer
  let emit: (AnnotatedField, UnsafeRawBufferPointer) -> Void
  var fault: DecodeFault?
  /// The depth of the next fields; after a fault it stays that of the fault.
  var depth: Int {
    didSet { if fault != nil { depth = oldValue } }
  }
  /// How many more bytes the columns of this payload may be inflated to for their description.
  var allowance = FormatLimits.maximumDecodedLength

  /// A reader of bytes that are at `origin` in the file; they stay valid as long as it is in use.
  init(
    _ bytes: UnsafeRawBufferPointer, at origin: UInt64, depth: Int = 0,
    emit: @escaping (AnnotatedField, UnsafeRawBufferPointer) -> Void
  ) {
    self.bytes = bytes
    self.origin = origin
    self.depth = depth
    self.emit = emit
    reader = ByteReader(bytes)
  }

  /// How many bytes are left to read; none after a fault.
  var remaining: Int { fault == nil ? reader.remaining : 0 }

  /// Whether a field could not be read.
  var hasFailed: Bool { fault != nil }

  /// Where the next field begins in the bytes.
  var offset: Int { reader.offset }

  /// Ends the reading with this fault, unless it has ended with another.
  mutating func fail(_ error: DecodeFault) {
    if fault == nil { fault = error }
  }

  /// Reads one field with `read` and emits it with its `text`; nil if it cannot be read.
  @discardableResult
  mutating func field<T>(
    _ name: String, text: (T) -> String, _ read: (inout ByteReader) throws(DecodeFault) -> T
  ) -> T? {
    let start = reader.offset
    guard let value = attempt(read) else { return nil }
    let length = reader.offset - start
    if length > AnnotatedField.maximumLength {
      run(name, text(value), from: start, count: length)
    } else if length > 0 {
      emitField(start, length, name, text(value))
    }
    return value
  }

  /// Reads something that is not emitted; nil if that fails, which leaves all its bytes to `end`.
  private mutating func attempt<T>(_ read: (inout ByteReader) throws(DecodeFault) -> T) -> T? {
    if fault != nil { return nil }
    var ahead = reader
    do throws(DecodeFault) {
      let value = try read(&ahead)
      reader = ahead
      return value
    } catch {
      fault = error
      return nil
    }
  }

  mutating func skip(_ count: Int) -> UnsafeRawBufferPointer? {
    attempt { reader throws(DecodeFault) in try reader.readBytes(count) }
  }

  /// The next `count` bytes, which stay to be read; nil if there are fewer.
  mutating func peek(_ count: Int) -> UnsafeRawBufferPointer? {
    let before = reader
    defer { reader = before }
    return skip(count)
  }

  /// Emits all bytes that are left. A reading that ended without a fault left them, and `name` and
  /// `value` say why.
  mutating func end(_ name: String, _ value: String = "") {
    if let fault {
      run("bytes that cannot be read", "\(fault)", from: reader.offset, count: reader.remaining)
    } else {
      run(name, value, from: reader.offset, count: reader.remaining)
    }
    reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[..<0]))
    fault = nil
  }

  /// Emits a run of bytes in pieces.
  func run(_ name: String, _ value: String, from start: Int, count: Int) {
    var done = 0
    while done < count {
      let length = min(count - done, AnnotatedField.maximumLength)
      let piece = UnsafeRawBufferPointer(rebasing: bytes[start + done..<start + done + length])
      let isZeros = length > 16 && piece.isZero
      let place = count > length ? "bytes \(done) to \(done + length - 1) of \(count)" : ""
      let text = done == 0 && !value.isEmpty ? [value, place] : [place]
      emitField(
        start + done, length, name, text.filter { !$0.isEmpty }.joined(separator: ", "),
        isZeros: isZeros)
      done += length
    }
  }

  func emitField(
    _ start: Int, _ length: Int, _ name: String, _ value: String, isZeros: Bool = false
  ) {
    let field = AnnotatedField(
      offset: origin + UInt64(start), length: UInt64(length), depth: depth, name: name,
      value: value, isZeros: isZeros)
    emit(field, UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]))
  }
}
