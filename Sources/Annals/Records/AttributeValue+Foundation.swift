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
