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

  package init(
    offset: UInt64, length: UInt64, depth: Int, name: String, value: String, isZeros: Bool = false
  ) {
    self.offset = offset
    self.length = length
    self.depth = depth
    self.name = name
    self.value = value
    self.isZeros = isZeros
  }
}

/// Reads bytes field by field and emits each with its name and meaning.
///
/// The fields follow one another without gap. When something cannot be read, `rest` emits what is
/// left.
struct FieldReader {
  private(set) var reader: ByteReader
  /// Where in the file the bytes begin.
  private let origin: UInt64
  private let bytes: UnsafeRawBufferPointer
  private let emit: (AnnotatedField, UnsafeRawBufferPointer) -> Void
  var depth: Int
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

  var remaining: Int { reader.remaining }

  /// Reads one field with `read` and emits it with its `text`.
  @discardableResult
  mutating func field<T>(
    _ name: String, _ read: (inout ByteReader) throws(DecodeFault) -> T,
    text: (T) -> String = { "\($0)" }
  ) throws(DecodeFault) -> T {
    let start = reader.offset
    // A field that cannot be read to its end leaves all its bytes to `rest`.
    var ahead = reader
    let value = try read(&ahead)
    reader = ahead
    let length = reader.offset - start
    if length > AnnotatedField.maximumLength {
      run(name, text(value), from: start, count: length)
    } else if length > 0 {
      emitField(start, length, name, text(value))
    }
    return value
  }

  // The kinds of field in records.

  @discardableResult
  mutating func varInt(_ name: String, text: (UInt64) -> String = { "\($0)" })
    throws(DecodeFault) -> UInt64
  {
    try field(name, { reader throws(DecodeFault) in try reader.readVarInt() }, text: text)
  }

  @discardableResult
  mutating func zigzag(_ name: String, text: (Int64) -> String = { "\($0)" })
    throws(DecodeFault) -> Int64
  {
    try field(name, { reader throws(DecodeFault) in try reader.readZigzag() }, text: text)
  }

  @discardableResult
  mutating func fixed<T: FixedWidthInteger & BitwiseCopyable>(
    _ name: String, _ type: T.Type, text: (T) -> String = { "\($0)" }
  ) throws(DecodeFault) -> T {
    try field(name, { reader throws(DecodeFault) in try reader.read(type) }, text: text)
  }

  @discardableResult
  mutating func byte(_ name: String, text: (UInt8) -> String = { "\($0)" })
    throws(DecodeFault) -> UInt8
  {
    try field(name, { reader throws(DecodeFault) in try reader.readUInt8() }, text: text)
  }

  /// A length and as many bytes of text, as one field.
  mutating func string(_ name: String) throws(DecodeFault) {
    try field(
      name, { reader throws(DecodeFault) in try reader.readString() },
      text: { QuotedText.short($0) })
  }

  /// The number of items that follow. It need not be trusted: reading items fails where bytes end.
  mutating func count(_ name: String) throws(DecodeFault) -> UInt64 { try varInt(name) }

  /// `count` bytes without fields of their own.
  mutating func opaque(_ name: String, _ value: String = "", count: Int) throws(DecodeFault) {
    let start = reader.offset
    _ = try reader.readBytes(count)
    run(name, value, from: start, count: count)
  }

  /// The next `count` bytes, which stay to be read.
  func peek(_ count: Int) throws(DecodeFault) -> UnsafeRawBufferPointer {
    var ahead = reader
    return try ahead.readBytes(count)
  }

  /// `count` bytes that the caller emits.
  mutating func skip(_ count: Int) throws(DecodeFault) -> UnsafeRawBufferPointer {
    try reader.readBytes(count)
  }

  /// A length, and as many bytes, which `read` explains one level deeper. A later version wrote
  /// those that it leaves.
  mutating func sized(
    _ name: String, _ read: (inout FieldReader) throws(DecodeFault) -> Void
  ) throws(DecodeFault) {
    let length = try varInt(name)
    let start = reader.offset
    let bytes = try reader.readBytes(Int(clamping: length))
    var inner = FieldReader(bytes, at: origin + UInt64(start), depth: depth + 1, emit: emit)
    do throws(DecodeFault) {
      try read(&inner)
      inner.rest("of a later version", "")
    } catch {
      inner.rest("bytes that cannot be read", "\(error)")
    }
  }

  /// Bytes that should be zeros, as one field if they are.
  mutating func zeros(_ name: String, count: Int) throws(DecodeFault) {
    let start = reader.offset
    let run = try reader.readBytes(count)
    if count == 0 { return }
    guard run.isZero else {
      self.run(name, "should be zeros", from: start, count: count)
      return
    }
    emitField(start, count, name, "zeros", isZeros: true)
  }

  /// Emits all bytes that are left; `name` and `value` say why they were not read.
  mutating func rest(_ name: String, _ value: String) {
    let start = reader.offset
    run(name, value, from: start, count: reader.remaining)
    reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[..<0]))
  }

  /// Emits a run of bytes in pieces.
  private func run(_ name: String, _ value: String, from start: Int, count: Int) {
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

  private func emitField(
    _ start: Int, _ length: Int, _ name: String, _ value: String, isZeros: Bool = false
  ) {
    let field = AnnotatedField(
      offset: origin + UInt64(start), length: UInt64(length), depth: depth, name: name,
      value: value, isZeros: isZeros)
    emit(field, UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]))
  }
}
