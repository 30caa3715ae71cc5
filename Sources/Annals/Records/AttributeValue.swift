import AnnalsModel

/// A type that a record's property can have.
///
/// These do: `Bool`; `Int`, `Int8` to `Int64`, `UInt8` to `UInt32`; `Double` and `Float`; `String`;
/// `Date`, `UUID`, `URL` and `Data`; `Reference<R>?` and `[Reference<R>]`, or `ObjectID?` and
/// `[ObjectID]`, for relationships; `Value` for an attribute of any kind; and the optional of each
/// attribute's type, for properties that may have no value.
///
/// An enumeration, or any other type whose raw value is one of these, joins them by saying so:
///
///     enum Mood: String, AttributeValue { case calm, stormy }
///
/// Types of other makes are stored through a property of one of these types. The requirements are
/// the engine's own and may change.
public protocol AttributeValue: Sendable {
  /// This type, or what it is an optional of: the type of bounds and of allowed values.
  associatedtype Required: AttributeValue = Self
  /// The type of the attribute that holds these values.
  static var attributeType: AttributeType { get }
  /// Whether there is a value that stands for none.
  static var _isOptional: Bool { get }
  /// The value that was stored; nil if what was stored is not one of these values.
  static func _read(_ stored: StoredCell) -> Self?
  /// Calls `body` once with the form in which the value is stored.
  func _withCell(_ body: (StoredCell) -> Void)
  /// Whether the values are ids of objects: the type of a relationship, not of an attribute.
  static var _isRelationship: Bool { get }
  /// The value of a relationship to these objects; nil for types that are not relationships.
  static func _read(_ objects: [ObjectID]) -> Self?
  /// The objects that the relationship leads to; empty for types that are not relationships.
  var _objects: [ObjectID] { get }

  // The rest has one implementation for all types. As requirements they are compiled for each type
  // on its own, which makes typed access several times faster than generic calls would be.

  /// Reads the next property of an object.
  static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Self
  /// Reads the next property of an object as an optional.
  static func _nextOptional(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Self?
  /// Writes the next property of an object: the value in memory, unless the previous one is stored
  /// the same.
  static func _put(
    _ value: UnsafeRawPointer, _ previous: UnsafeRawPointer?, _ writer: inout RecordWriter)
  /// As `_put`, for an optional in memory.
  static func _putOptional(
    _ value: UnsafeRawPointer, _ previous: UnsafeRawPointer?, _ writer: inout RecordWriter)
}

/// A value on its way between a record and a store: opaque.
public struct StoredCell {
  package let cell: ValueCell
  package let arena: UnsafeRawBufferPointer

  package init(_ cell: ValueCell, in arena: UnsafeRawBufferPointer) {
    self.cell = cell
    self.arena = arena
  }

  /// A cell whose value is in its bits.
  package init(_ tag: ValueTag, bits: UInt64) {
    cell = ValueCell(tag: tag, bits: bits)
    arena = UnsafeRawBufferPointer(start: nil, count: 0)
  }

  /// No value.
  package static var null: StoredCell { StoredCell(.null, bits: 0) }

  /// A value that is all of `bytes`.
  ///
  /// Bytes beyond what a cell can describe make a cell that the writer refuses by their count.
  package init(_ tag: ValueTag, bytes: UnsafeRawBufferPointer) {
    cell = ValueCell(tag: tag, bits: 0, length: UInt32(clamping: bytes.count))
    arena = bytes
  }

  /// The bytes of a value that lies in the arena.
  package var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: arena[cell.arenaRange])
  }
}

extension AttributeValue {
  /// Whether there is a value that stands for none.
  public static var _isOptional: Bool { false }
  /// Whether the values are ids of objects.
  public static var _isRelationship: Bool { false }
  /// The value of a relationship to these objects; nil for types of attributes.
  public static func _read(_ objects: [ObjectID]) -> Self? { nil }
  /// The objects that the relationship leads to.
  public var _objects: [ObjectID] { [] }

  /// Reads the next property of an object.
  public static func _next(_ reader: inout RecordReader) throws(RecordReader.Stop) -> Self {
    try reader.next(Self.self)
  }

  /// Reads the next property of an object as an optional.
  public static func _nextOptional(
    _ reader: inout RecordReader
  ) throws(RecordReader.Stop) -> Self? {
    try reader.next(Self?.self)
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

  /// The value that was stored; nil if what was stored is none of these values.
  public static func _read(_ stored: StoredCell) -> Self? {
    RawValue._read(stored).flatMap(Self.init(rawValue:))
  }

  /// Calls `body` once with the form in which the value is stored.
  public func _withCell(_ body: (StoredCell) -> Void) { rawValue._withCell(body) }

  // Inlinable, so that they are compiled where the type is known; they go on to the raw type's,
  // which are compiled here.

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
  /// This type, or what it is an optional of.
  public typealias Required = Wrapped.Required

  /// The type of the attribute that holds the wrapped values.
  public static var attributeType: AttributeType { Wrapped.attributeType }

  /// Whether there is a value that stands for none.
  public static var _isOptional: Bool { true }

  /// Whether the values are ids of objects.
  public static var _isRelationship: Bool { Wrapped._isRelationship }

  /// The value that was stored; nil if what was stored is none of these values.
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
