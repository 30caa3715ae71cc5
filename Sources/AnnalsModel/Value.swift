/// A value of a property.
///
/// Equality is the engine's: the same kind and the same bytes. Strings compare as UTF-8 bytes and
/// doubles by bit pattern, so `.int(1)`, `.bool(true)` and `.string("1")` differ, and so do two
/// strings that are only canonically equivalent. A large value that was not read equals one with
/// the same kind, length and crc32, read or not. Comparing never reads the file.
public enum Value: Sendable {
  /// No value.
  case null
  /// True or false.
  case bool(Bool)
  /// An integer; int16 and int32 attributes hold it within their range.
  case int(Int64)
  /// A finite floating-point number.
  case double(Double)
  /// Text.
  case string(String)
  /// A moment.
  case date(Timestamp)
  /// A UUID.
  case uuid(RawUUID)
  /// A URL, as text.
  case url(String)
  /// Bytes.
  case data([UInt8])
  /// JSON text, valid when stored, never normalised.
  case json(String)
  /// An exact decimal number.
  indirect case decimal(RawDecimal)
  /// A day, without time or zone.
  case day(CalendarDay)
  /// The object of a to-one relationship.
  case object(ObjectReference)
  /// The objects of a to-many relationship, in their order.
  case objects([ObjectReference])
  /// A value over 4 KiB that has not been read from the file.
  indirect case large(LargeValue)
  /// A value that was erased (`Store.erase`): neither a value nor null. It equals only itself, and
  /// no condition compares it.
  case erased

  /// Whether this is null.
  @inlinable public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// Whether a value was here and was erased.
  @inlinable public var isErased: Bool {
    if case .erased = self { true } else { false }
  }
}

extension Value: Hashable {
  /// Whether both are of one kind and the same bytes.
  public static func == (a: Value, b: Value) -> Bool {
    switch (a, b) {
    case (.null, .null), (.erased, .erased): true
    case (.bool(let x), .bool(let y)): x == y
    case (.int(let x), .int(let y)): x == y
    case (.double(let x), .double(let y)): x.bitPattern == y.bitPattern
    case (.string(let x), .string(let y)), (.url(let x), .url(let y)), (.json(let x), .json(let y)):
      x.utf8.elementsEqual(y.utf8)
    case (.date(let x), .date(let y)): x == y
    case (.uuid(let x), .uuid(let y)): x == y
    case (.decimal(let x), .decimal(let y)): x == y
    case (.day(let x), .day(let y)): x == y
    case (.data(let x), .data(let y)): x == y
    case (.object(let x), .object(let y)): x == y
    case (.objects(let x), .objects(let y)): x == y
    case (.large(let x), .large(let y)): x == y
    case (.large(let large), let value), (let value, .large(let large)): large.describes(value)
    default: false
    }
  }

  /// Feeds the kind and the bytes to the hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(tag)
    switch self {
    case .null, .erased: break
    case .bool(let x): hasher.combine(x)
    case .int(let x): hasher.combine(x)
    case .double(let x): hasher.combine(x.bitPattern)
    case .string(let x), .url(let x), .json(let x): LargeValue.hash(x.utf8, into: &hasher)
    case .date(let x): hasher.combine(x)
    case .uuid(let x): hasher.combine(x)
    case .decimal(let x): hasher.combine(x)
    case .day(let x): hasher.combine(x)
    case .data(let x): LargeValue.hash(x, into: &hasher)
    case .object(let x): hasher.combine(x)
    case .objects(let x): hasher.combine(x)
    case .large(let x): x.hashBytes(into: &hasher)
    }
  }

  /// The kind of this value; a large value has the kind of its bytes.
  package var tag: ValueTag {
    switch self {
    case .null: .null
    case .bool: .bool
    case .int: .int
    case .double: .double
    case .string: .string
    case .date: .date
    case .uuid: .uuid
    case .decimal: .decimal
    case .day: .day
    case .url: .url
    case .data: .data
    case .json: .json
    case .object: .object
    case .objects: .objects
    case .large(let value): value.tag
    case .erased: .erased
    }
  }

  /// The objects that the value of a relationship refers to; none for other values.
  package var targets: [ObjectReference] {
    switch self {
    case .object(let target): [target]
    case .objects(let targets): targets
    default: []
    }
  }
}

extension Value: CustomStringConvertible {
  /// The kind and the value: `string("Fog")`, `object(entity 1, row 3)`. Bytes are counted only.
  public var description: String {
    switch self {
    case .null: "null"
    case .erased: "erased"
    case .bool, .int, .date, .uuid, .decimal, .day: "\(tag)(\(plainText))"
    case .double(let number): "double(\(number))"
    case .string(let text), .url(let text), .json(let text): "\(tag)(\(text.debugDescription))"
    case .data(let bytes): "data(\(bytes.count) bytes)"
    case .object(let object): "object(entity \(object.entity), row \(object.row))"
    case .objects(let list):
      "objects(\(list.map { "entity \($0.entity), row \($0.row)" }.joined(separator: "; ")))"
    case .large(let large): "large(\(large.tag) of \(large.length) bytes)"
    }
  }
}
