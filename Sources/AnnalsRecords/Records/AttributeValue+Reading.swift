import AnnalsModel
import AnnalsState
import Foundation

// Reading a property of each type. These are functions of their own, and not one for all types, so
// that a program that is compiled for its record's types calls them directly.

extension String {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> String {
    try reader.nextText()
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> String? {
    try reader.nextOptionalText()
  }
}

extension Double {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Double {
    try reader.next { $0.double }
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> Double? {
    try reader.nextOptional { $0.double }
  }
}

extension Float {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Float {
    try reader.next { $0.double.map(Float.init) }
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> Float? {
    try reader.nextOptional { $0.double.map(Float.init) }
  }
}

extension Bool {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Bool {
    try reader.next { $0.bool }
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> Bool? {
    try reader.nextOptional { $0.bool }
  }
}

extension Date {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Date {
    try reader.next { $0.date }
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> Date? {
    try reader.nextOptional { $0.date }
  }
}

extension Decimal {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Decimal {
    try reader.next { $0.decimal }
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> Decimal? {
    try reader.nextOptional { $0.decimal }
  }
}

extension CalendarDay {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> CalendarDay {
    try reader.next { $0.day }
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> CalendarDay? {
    try reader.nextOptional { $0.day }
  }
}

extension UUID {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> UUID {
    try reader.next { $0.uuid }
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> UUID? {
    try reader.nextOptional { $0.uuid }
  }
}

extension Int {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Int {
    try reader.next { $0.integer() }
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> Int? {
    try reader.nextOptional { $0.integer() }
  }
}

extension Int64 {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Int64 {
    try reader.next { $0.integer() }
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> Int64? {
    try reader.nextOptional { $0.integer() }
  }
}

extension Int32 {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Int32 {
    try reader.next { $0.integer() }
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> Int32? {
    try reader.nextOptional { $0.integer() }
  }
}

extension Int16 {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Int16 {
    try reader.next { $0.integer() }
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> Int16? {
    try reader.nextOptional { $0.integer() }
  }
}

extension Int8 {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Int8 {
    try reader.next { $0.integer() }
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> Int8? {
    try reader.nextOptional { $0.integer() }
  }
}

extension UInt32 {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> UInt32 {
    try reader.next { $0.integer() }
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> UInt32? {
    try reader.nextOptional { $0.integer() }
  }
}

extension UInt16 {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> UInt16 {
    try reader.next { $0.integer() }
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> UInt16? {
    try reader.nextOptional { $0.integer() }
  }
}

extension UInt8 {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> UInt8 {
    try reader.next { $0.integer() }
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> UInt8? {
    try reader.nextOptional { $0.integer() }
  }
}

extension URL {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> URL {
    try reader.next { $0.url }
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> URL? {
    try reader.nextOptional { $0.url }
  }
}

extension Data {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Data {
    try reader.next { $0.data }
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> Data? {
    try reader.nextOptional { $0.data }
  }
}

extension Value {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Value {
    try reader.next()
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> Value? {
    try reader.next()
  }
}

extension ObjectID {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> ObjectID {
    if let id = try reader.nextTarget() { return id }
    return try reader.next()
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> ObjectID? {
    if let id = try reader.nextTarget() { return id }
    return try reader.next()
  }
}

extension Reference {
  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Reference {
    if let id = try reader.nextTarget() { return Reference(id) }
    return try reader.next()
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> Reference? {
    if let id = try reader.nextTarget() { return Reference(id) }
    return try reader.next()
  }
}

extension DirectCell {
  @inline(__always)
  fileprivate func integer<V: FixedWidthInteger>() -> V? {
    isPlain(.int) ? V(exactly: Int64(bitPattern: bits)) : nil
  }

  @inline(__always)
  fileprivate var double: Double? { isPlain(.double) ? Double(bitPattern: bits) : nil }

  @inline(__always)
  fileprivate var bool: Bool? { isPlain(.bool) ? bits != 0 : nil }

  @inline(__always)
  fileprivate var date: Date? {
    isPlain(.date) ? Date(Timestamp(microseconds: Int64(bitPattern: bits))) : nil
  }

  fileprivate var decimal: Decimal? {
    isPlain(.decimal) ? Decimal(RawDecimal(validBytes: bytes)) : nil
  }

  @inline(__always)
  fileprivate var day: CalendarDay? {
    isPlain(.day) ? CalendarDay(daysSince1970: Int64(bitPattern: bits)) : nil
  }

  @inline(__always)
  fileprivate var uuid: UUID? {
    isPlain(.uuid) ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) : nil
  }

  @inline(__always)
  fileprivate var url: URL? {
    isPlain(.url) ? URL(string: String(decoding: bytes, as: UTF8.self)) : nil
  }

  @inline(__always)
  fileprivate var data: Data? { isPlain(.data) ? Data(bytes) : nil }
}
