import AnnalsModel

/// A type that a record's property can have.
///
/// These conform: `Bool`; `Int`, `Int8` to `Int64`, `UInt8` to `UInt32`; `Double` and `Float`;
/// `String`; `Date`, `CalendarDay`, `Decimal`, `UUID`, `URL` and `Data`; `Reference<R>?` and
/// `[Reference<R>]`, or `ObjectID?` and `[ObjectID]`, for relationships; `Value` for an attribute
/// of any kind; and the optional of each attribute's type, for properties that may have no value.
///
/// An enumeration, or any other type whose raw value is one of these, can conform without further
/// code:
///
///     enum Mood: String, AttributeValue { case calm, stormy }
///
/// A `Codable` type that conforms to `JSONValue` is stored as JSON. The requirements belong to the
/// engine and may change.
public protocol AttributeValue: Sendable {
  /// This type, or the wrapped type of an optional: the type of bounds and of allowed values.
  associatedtype Required: AttributeValue = Self
  /// The type of the attribute that holds these values.
  static var attributeType: AttributeType { get }
  /// Whether the type has a value for null.
  static var _isOptional: Bool { get }
  /// Decodes a stored value; nil if it does not fit this type.
  static func _read(_ stored: StoredCell) -> Self?
  /// Calls `body` once with the stored form of the value.
  func _withCell(_ body: (StoredCell) -> Void)
  /// Whether the values are object ids: the type of a relationship, not of an attribute.
  static var _isRelationship: Bool { get }
  /// The value for a relationship to these objects; nil for types of attributes.
  static func _read(_ objects: [ObjectID]) -> Self?
  /// The objects that the relationship leads to; empty for types of attributes.
  var _objects: [ObjectID] { get }

  // The rest has one implementation for all types. As requirements they are compiled once for each
  // type, which makes typed access several times faster than generic calls.

  /// Reads the next property of an object.
  static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Self
  /// Reads the next property of an object as an optional.
  static func _nextOptional(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Self?
  /// Writes the next property of an object from memory, unless the previous value has the same
  /// stored form.
  static func _put(
    _ value: UnsafeRawPointer, _ previous: UnsafeRawPointer?, _ writer: inout RecordWriter)
  /// As `_put`, for an optional in memory.
  static func _putOptional(
    _ value: UnsafeRawPointer, _ previous: UnsafeRawPointer?, _ writer: inout RecordWriter)
}

/// A value between a record and a store. Opaque.
public struct StoredCell {
  package let cell: ValueCell
  package let arena: UnsafeRawBufferPointer

  package init(_ cell: ValueCell, in arena: UnsafeRawBufferPointer) {
    self.cell = cell
    self.arena = arena
  }

  /// A cell whose bits hold the value.
  package init(_ tag: ValueTag, bits: UInt64) {
    cell = ValueCell(tag: tag, bits: bits)
    arena = UnsafeRawBufferPointer(start: nil, count: 0)
  }

  /// Null.
  package static var null: StoredCell { StoredCell(.null, bits: 0) }

  /// A cell whose value is all of `bytes`.
  ///
  /// More bytes than a cell can describe make a cell that the writer refuses because of its length.
  package init(_ tag: ValueTag, bytes: UnsafeRawBufferPointer) {
    cell = ValueCell(tag: tag, bits: 0, length: UInt32(clamping: bytes.count))
    arena = bytes
  }

  /// The bytes of a value in the arena.
  package var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: arena[cell.arenaRange])
  }
}

extension AttributeValue {
  /// Whether the type has a value for null.
  public static var _isOptional: Bool { false }
  /// Whether the values are object ids.
  public static var _isRelationship: Bool { false }
  /// The value of a relationship to these objects; nil for types of attributes.
  public static func _read(_ objects: [ObjectID]) -> Self? { nil }
  /// The objects that the relationship leads to.
  public var _objects: [ObjectID] { [] }

  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Self {
    try reader.next()
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> Self? {
    try reader.next()
  }

  /// Writes the next property of an object.
  public static func _put(
    _ value: UnsafeRawPointer, _ previous: UnsafeRawPointer?, _ writer: inout RecordWriter
  ) {
    writer.put(at: value, unless: previous, as: Self.self)
  }

  /// Writes the next property of an object, an optional.
  public static func _putOptional(
    _ value: UnsafeRawPointer, _ previous: UnsafeRawPointer?, _ writer: inout RecordWriter
  ) {
    writer.put(at: value, unless: previous, as: Self?.self)
  }
}

extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
  /// The type of the attribute that holds the raw values.
  public static var attributeType: AttributeType { RawValue.attributeType }

  /// Decodes a stored raw value; nil if it does not fit this type.
  public static func _read(_ stored: StoredCell) -> Self? {
    RawValue._read(stored).flatMap(Self.init(rawValue:))
  }

  /// Calls `body` once with the form in which the value is stored.
  public func _withCell(_ body: (StoredCell) -> Void) { rawValue._withCell(body) }

  // Inlinable, so that they are compiled where the type is known; they call the raw type's, which
  // are compiled here.

  /// Reads the next property of an object.
  @inlinable
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Self {
    guard let value = Self(rawValue: try RawValue._next(&reader)) else {
      throw reader.refuseLast(as: Self.self)
    }
    return value
  }

  /// Reads the next property of an object as an optional.
  @inlinable
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> Self? {
    guard let raw = try RawValue._nextOptional(&reader) else { return nil }
    guard let value = Self(rawValue: raw) else { throw reader.refuseLast(as: Self.self) }
    return value
  }

  /// Writes the next property of an object.
  @inlinable
  public static func _put(
    _ value: UnsafeRawPointer, _ previous: UnsafeRawPointer?, _ writer: inout RecordWriter
  ) {
    let raw = value.assumingMemoryBound(to: Self.self).pointee.rawValue
    guard let previous else {
      withUnsafePointer(to: raw) { RawValue._put(UnsafeRawPointer($0), nil, &writer) }
      return
    }
    let old = previous.assumingMemoryBound(to: Self.self).pointee.rawValue
    withUnsafePointer(to: raw) { new in
      withUnsafePointer(to: old) { old in
        RawValue._put(UnsafeRawPointer(new), UnsafeRawPointer(old), &writer)
      }
    }
  }

  /// Writes the next property of an object, an optional.
  @inlinable
  public static func _putOptional(
    _ value: UnsafeRawPointer, _ previous: UnsafeRawPointer?, _ writer: inout RecordWriter
  ) {
    let raw = value.assumingMemoryBound(to: Self?.self).pointee?.rawValue
    guard let previous else {
      withUnsafePointer(to: raw) { RawValue._putOptional(UnsafeRawPointer($0), nil, &writer) }
      return
    }
    let old = previous.assumingMemoryBound(to: Self?.self).pointee?.rawValue
    withUnsafePointer(to: raw) { new in
      withUnsafePointer(to: old) { old in
        RawValue._putOptional(UnsafeRawPointer(new), UnsafeRawPointer(old), &writer)
      }
    }
  }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
  /// The wrapped type's `Required`.
  public typealias Required = Wrapped.Required

  /// The type of the attribute that holds the wrapped values.
  public static var attributeType: AttributeType { Wrapped.attributeType }

  /// Whether the type has a value for null.
  public static var _isOptional: Bool { true }

  /// Whether the values are object ids.
  public static var _isRelationship: Bool { Wrapped._isRelationship }

  /// Decodes a stored value; nil if it does not fit this type.
  public static func _read(_ stored: StoredCell) -> Wrapped?? {
    if stored.cell.isNull { return .some(nil) }
    guard let value = Wrapped._read(stored) else { return nil }
    return .some(value)
  }

  /// Calls `body` once with the form in which the value is stored.
  public func _withCell(_ body: (StoredCell) -> Void) {
    if let self { self._withCell(body) } else { body(.null) }
  }

  /// The value of a relationship to these objects; nil for types of attributes.
  public static func _read(_ objects: [ObjectID]) -> Wrapped?? {
    if objects.isEmpty { return .some(nil) }
    guard let value = Wrapped._read(objects) else { return nil }
    return .some(value)
  }

  /// The objects that the relationship leads to.
  public var _objects: [ObjectID] { self.map { $0._objects } ?? [] }

  /// Reads the next property of an object.
  @inlinable
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Wrapped? {
    try Wrapped._nextOptional(&reader)
  }

  /// Writes the next property of an object.
  public static func _put(
    _ value: UnsafeRawPointer, _ previous: UnsafeRawPointer?, _ writer: inout RecordWriter
  ) {
    Wrapped._putOptional(value, previous, &writer)
  }
}
