import AnnalsModel
import Foundation

// The types of Foundation that properties can have.

extension Date: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .date }

  /// Decodes a stored value; nil if it does not fit this type.
  public static func _read(_ stored: StoredCell) -> Date? {
    guard stored.cell.tag == .date else { return nil }
    return Date(Timestamp(microseconds: Int64(bitPattern: stored.cell.bits)))
  }

  /// Stored rounded to the microsecond. A date out of range is passed on as a number, which the
  /// attribute's type refuses.
  public func _withCell(_ body: (StoredCell) -> Void) {
    if let moment = Timestamp(exactly: self) {
      body(StoredCell(.date, bits: UInt64(bitPattern: moment.microseconds)))
    } else {
      body(StoredCell(.double, bits: timeIntervalSinceReferenceDate.bitPattern))
    }
  }
}

extension Decimal: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .decimal }

  /// Decodes a stored value; nil if it does not fit this type.
  public static func _read(_ stored: StoredCell) -> Decimal? {
    guard stored.cell.tag == .decimal else { return nil }
    return Decimal(RawDecimal(validBytes: stored.bytes))
  }

  /// What is not a number, or has more than 38 digits, is passed on as a double, which the
  /// attribute's type refuses.
  public func _withCell(_ body: (StoredCell) -> Void) {
    guard let number = RawDecimal(self) else {
      body(StoredCell(.double, bits: (isNaN ? Double.nan : .infinity).bitPattern))
      return
    }
    var bytes: ContiguousArray<UInt8> = []
    number.append(to: &bytes)
    bytes.withUnsafeBytes { body(StoredCell(.decimal, bytes: $0)) }
  }
}

extension CalendarDay: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .day }

  /// Decodes a stored value; nil if it does not fit this type.
  public static func _read(_ stored: StoredCell) -> CalendarDay? {
    guard stored.cell.tag == .day else { return nil }
    return CalendarDay(daysSince1970: Int64(bitPattern: stored.cell.bits))
  }

  /// Calls `body` once with the form in which the value is stored.
  public func _withCell(_ body: (StoredCell) -> Void) {
    body(StoredCell(.day, bits: UInt64(bitPattern: daysSince1970)))
  }
}

extension UUID: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .uuid }

  /// Decodes a stored value; nil if it does not fit this type.
  public static func _read(_ stored: StoredCell) -> UUID? {
    guard stored.cell.tag == .uuid else { return nil }
    return UUID(uuid: stored.bytes.loadUnaligned(as: uuid_t.self))
  }

  /// Calls `body` once with the form in which the value is stored.
  public func _withCell(_ body: (StoredCell) -> Void) {
    withUnsafeBytes(of: uuid) { body(StoredCell(.uuid, bytes: $0)) }
  }
}

extension URL: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .url }

  /// Decodes a stored value; nil if it does not fit this type.
  public static func _read(_ stored: StoredCell) -> URL? {
    guard stored.cell.tag == .url else { return nil }
    return URL(string: String(decoding: stored.bytes, as: UTF8.self))
  }

  /// Calls `body` once with the form in which the value is stored.
  public func _withCell(_ body: (StoredCell) -> Void) {
    var text = absoluteString
    text.withUTF8 { body(StoredCell(.url, bytes: UnsafeRawBufferPointer($0))) }
  }
}

extension Data: AttributeValue {
  /// The type of the attribute that holds these values.
  public static var attributeType: AttributeType { .data }

  /// Decodes a stored value; nil if it does not fit this type.
  public static func _read(_ stored: StoredCell) -> Data? {
    stored.cell.tag == .data ? Data(stored.bytes) : nil
  }

  /// Calls `body` once with the form in which the value is stored.
  public func _withCell(_ body: (StoredCell) -> Void) {
    withUnsafeBytes { body(StoredCell(.data, bytes: $0)) }
  }
}
