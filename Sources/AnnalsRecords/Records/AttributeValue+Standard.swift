import AnnalsModel

// The types of the standard library that properties can have. Each type refuses values that do not
// fit it. The range of the narrower integers is a rule of the Swift type, not of the store's
// schema, so that a program may widen them later.

extension Bool: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .bool }

  /// Decodes a stored value; nil if it does not fit this type.
  public static func _read(_ stored: StoredCell) -> Bool? {
    stored.cell.tag == .bool ? stored.cell.bits != 0 : nil
  }

  /// Calls `body` once with the form in which the value is stored.
  public func _withCell(_ body: (StoredCell) -> Void) {
    body(StoredCell(.bool, bits: self ? 1 : 0))
  }
}

extension AttributeValue where Self: FixedWidthInteger {
  /// Decodes a stored value; nil if it does not fit this type.
  @inline(__always)
  public static func _read(_ stored: StoredCell) -> Self? {
    guard stored.cell.tag == .int else { return nil }
    return Self(exactly: Int64(bitPattern: stored.cell.bits))
  }

  /// Calls `body` once with the form in which the value is stored.
  @inline(__always)
  public func _withCell(_ body: (StoredCell) -> Void) {
    body(StoredCell(.int, bits: UInt64(bitPattern: Int64(truncatingIfNeeded: self))))
  }
}

extension Int: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .int64 }
}

extension Int64: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .int64 }
}

extension Int32: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .int32 }
}

extension Int16: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .int16 }
}

extension Int8: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .int16 }
}

extension UInt8: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .int16 }
}

extension UInt16: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .int32 }
}

extension UInt32: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .int64 }
}

extension Double: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .double }

  /// Decodes a stored value; nil if it does not fit this type.
  public static func _read(_ stored: StoredCell) -> Double? {
    stored.cell.tag == .double ? Double(bitPattern: stored.cell.bits) : nil
  }

  /// Calls `body` once with the form in which the value is stored.
  public func _withCell(_ body: (StoredCell) -> Void) {
    body(StoredCell(.double, bits: bitPattern))
  }
}

extension Float: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .double }

  /// The nearest `Float` to the stored double.
  public static func _read(_ stored: StoredCell) -> Float? {
    Double._read(stored).map(Float.init)
  }

  /// Calls `body` once with the form in which the value is stored.
  public func _withCell(_ body: (StoredCell) -> Void) { Double(self)._withCell(body) }
}

extension String: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .string }

  /// The text, also of a json attribute.
  public static func _read(_ stored: StoredCell) -> String? {
    switch stored.cell.tag {
    case .string, .json: String(decoding: stored.bytes, as: UTF8.self)
    default: nil
    }
  }

  /// Calls `body` once with the form in which the value is stored.
  public func _withCell(_ body: (StoredCell) -> Void) {
    var text = self
    text.withUTF8 { body(StoredCell(.string, bytes: UnsafeRawBufferPointer($0))) }
  }
}

extension Value: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .any }

  /// Whether the type has a value for null.
  public static var _isOptional: Bool { true }

  /// Decodes a stored value; nil if it does not fit this type.
  public static func _read(_ stored: StoredCell) -> Value? {
    stored.cell.value(in: stored.arena)
  }

  /// Calls `body` once with the form in which the value is stored.
  public func _withCell(_ body: (StoredCell) -> Void) {
    switch self {
    case .string(let text): text._withCell(body)
    default:
      var arena: ContiguousArray<UInt8> = []
      let cell = ValueCell(self, appendingTo: &arena)
      arena.withUnsafeBytes { body(StoredCell(cell, in: $0)) }
    }
  }
}

extension ObjectID: RelationshipValue {
  /// The value of a relationship to these objects; nil for types of attributes.
  public static func _read(_ objects: [ObjectID]) -> ObjectID? { objects.first }
  /// The objects that the relationship leads to.
  public var _objects: [ObjectID] { [self] }
}
